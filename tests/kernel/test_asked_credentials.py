"""A question and its answer together: what gives a secret away, and what only speaks of one."""

from __future__ import annotations

import pytest

from engram.kernel.asked_credentials import read_together
from engram.kernel.credentials import credential_in

SECRETS = """
What is the password of the staging database? | hunter2-x9Q
What is the password of the staging database? | It is hunter2-x9Q.
What's the root password? | bluewhale
What is the staging database's password? | Tr0ub4dor&3
Which password does the staging database use? | kettle-88x
With which wi-fi password do guests log in? | bluewhale
On staging, what is the password? | hunter2-x9Q
What was the API key of the mail service? | 7f3a9bc2
Password of the staging database? | hunter2-x9Q
Staging password? | Sommer2024!
What is the PIN of the door? | 4711
What is the recovery phrase? | the cat sat on the mat
What is the passphrase of the backup? | correct horse battery staple
Wie lautet das Passwort der Datenbank? | Fahrrad!77
Welches Passwort hat der Router? | Blumenkohl9
Quel est le mot de passe du serveur ? | Baguette42
¿Cuál es la contraseña del servidor? | perro123
What is the pass\u200bword of staging? | hunter2-x9Q
Ｗｈａｔ ｉｓ ｔｈｅ ｐａｓｓｗｏｒｄ？ | hunter2-x9Q
The staging password is? | hunter2-x9Q
DB_PASSWORD= | swordfish
What is the staging password now? | hunter2
What is the staging password today? | hunter2
What is the staging password since May? | hunter2
What's the root password after the rotation? | hunter2
What is the password we use on staging? | hunter2
What is the password the team uses? | bluewhale
What was the staging password changed to? | hunter2
What is the password used by the guests? | bluewhale
What is the password we log in with? | bluewhale
What is the PIN that visitors sign on with? | 4711
Staging password since May? | bluewhale
Wie lautet das Passwort seit Mai? | Fahrrad!77
What are the credentials of staging? | hunter2
What are the credentials of staging? | admin:hunter2
What are the credentials of staging? | admin / bluewhale
What are the staging credentials now? | admin: bluewhale
""".strip().splitlines()

ABOUT_SECRETS = """
What is the password policy? | 12 characters with a digit
What is the length of the password? | sixteen
Who knows the password of staging? | Mireille
Wer kennt das Passwort? | Friedrich
Where is the password of staging kept? | vaultwarden
Which service stores the password? | vaultwarden
What protects the password? | vaultwarden
Which vault holds the API key? | kv-engram2
How often is the root password rotated? | monthly
When did the staging password change? | 2026-05-04
Is the password of the staging database shared? | no
What is the password of staging used for? | deployments
What is the password of staging encrypted with? | argon2id
What is the password hashed with? | argon2id
Which password manager does the team use? | Bitwarden
What is the password of the staging database? | unknown
What is the password of the staging database? | stored in the vault
What is the password of the staging database? | the same as last year
What is the secret of good coffee? | water
What is the API key of staging called? | STAGING_API_KEY
How long is the access token valid? | 30m
How does one log in with the password? | fingerprint
How does one log in with the password? | over the VPN
When was the password changed? | in May
When was the password changed? | yesterday
What is the password used for? | deployments
What was the password changed for? | compliance
What is the staging password now? | unknown
What is the password we use on staging? | stored in the vault
What is the password rotation since May? | monthly
What are the credentials of staging? | vault:staging
What are the credentials of staging? | kv/engram
What are the credentials of staging? | in the vault
What are the credentials of staging? | read-only
Who has the credentials of staging? | Mireille
What are the credentials used for? | deployments
Who approves refunds? | the support lead
""".strip().splitlines()


def is_secret(line: str) -> bool:
    question, answer = line.split(" | ")
    return any(credential_in(text) for text in read_together(question, answer))


@pytest.mark.parametrize("line", SECRETS)
def test_a_secret_is_found_in_a_question_and_its_answer(line: str) -> None:
    assert is_secret(line)


@pytest.mark.parametrize("line", ABOUT_SECRETS)
def test_an_answer_about_a_secret_is_none(line: str) -> None:
    assert not is_secret(line)
