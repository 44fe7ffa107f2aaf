"""Passwords in words: what is one, and what only speaks of one."""

from __future__ import annotations

import pytest

from engram.kernel.credentials import credential_in, without_credentials

POSITIVE = """
password: hunter2
pwd=letmein
Password = Sommer2024!
DB_PASSWORD=swordfish
export PGPASSWORD=tiger7
MYSQL_ROOT_PASSWORD: "orchid"
the api key is 7f3a9bc2
API key: zx81-spectrum-48
apikey=plover
The passwort is Blumenkohl9
Das Passwort lautet Fahrrad!77
Kennwort: Gartenzaun5
le mot de passe est Baguette42
contraseña: perro123
Contraseña = gato+negro
Wi-Fi password: bluewhale
The password for the router is zebra#9
password of the staging box is kettle-88x
set the password to Mango!Tree
passphrase: "correct horse battery staple"
passwd: q1w2e3r4
client_secret=abcd9876
clientSecret: "pearl-of-orient"
{"password": "tangerine"}
{'api_key': 'ab12cd34'}
password => 'plum9'
ACCESS_TOKEN=f00dbabe
access token is 9a8b7c6d5e
auth-token: 4d5e6f7a
secret: 9Zk!pQ
SECRET_KEY=dj4ng0-insecure
My password was Elephant99 until May
password is now Walrus_31
Passcode: 774411
PIN: 4711
The PIN is 90210.
redis://:s3cr3t@cache:6379/0
mysql://root:toor@10.0.0.3/shop
https://deploy:gl0ry@git.example.com/x.git
amqp://guest:guest@mq:5672/
dbPassword=marmalade
pass\u200bword: hunter2
ｐａｓｓｗｏｒｄ：hunter2
pass\u00adword: hunter2
pass\ufe0fword: hunter2
contrasen\u200b\u0303a: perro123
password: correcthorse and more
Passwort: gartenzaun und mehr
passphrase: correct horse battery staple
The passphrase: correct horse battery staple. It is new.
recovery phrase = the cat sat on the mat
Authorization: Bearer abcdefghij0123456789klmn
""".strip().splitlines()

NEGATIVE = """
The password policy is 12 characters
password: required
rotate the password weekly
The password is required.
The password is 12 characters long.
Passwords are hashed with argon2id
password hashing: bcrypt
password: bcrypt
The password is stored in 1Password
password=$DB_PASSWORD
password: ${DB_PASSWORD}
PASSWORD=<your password>
DB_PASSWORD=os.environ["DB_PASSWORD"]
password: ********
password: [redacted]
The API key is rotated every 90 days
The api key is kept in Vault under kv/engram
api key: https://console.example.com/settings
The secret is 32 bytes long
secret: 12 rounds of bcrypt
The access token is valid for 15 minutes
access token: 30m
The password reset link is sent by mail
Forgot password: see the wiki page
Password expired
password is wrong
password: unknown
The password field is a string
password: string
The password is the same as last year
Ask Ana for the password
Das Passwort ist erforderlich
Das Passwort ist seit Montag abgelaufen
Passwort: vergessen
The secret to good coffee is water
secret ingredient: cinnamon
The PIN is printed on the letter
PIN 7 is connected to 3V3
The api key is SHA-256 hashed
postgres://engram@localhost/engram
postgres://user:$PASSWORD@db/prod
The password is changed on 2026-05-04
api_key: str
password: None
pwd prints the working directory
The password is needed for step 2
Change the password to a longer one
password: letters and digits
password: hashing and salting
Password: managed by the vault
passphrase: required
passphrase: stored in the vault by Ana
passphrase: six random words
passphrase: minimum twelve characters
passphrase: $PASSPHRASE of the host
The passphrase is correct in every test
""".strip().splitlines()


TOKENS = [  # put together here: whole ones would be taken for real by who scans the source
    "sk-" + "a1B2" * 5 + "T3BlbkFJ" + "c3D4" * 5,
    "sk-" + "a1B2" * 12,
    "sk-" + "9Zx" * 8,
    "glpat-" + "x7Yq" * 5,
    "AIza" + "SyD3f" * 7,
    "hf_" + "aBcD1" * 7,
    "npm_" + "aB3d" * 9,
    "SG." + "aB3d" * 6 + "." + "xY9_" * 10,
]


@pytest.mark.parametrize("token", TOKENS)
def test_tokens_of_well_known_services_are_credentials(token: str) -> None:
    assert credential_in(f"Use {token} for the nightly job.") is not None
    assert token not in without_credentials(f"Use {token} for the nightly job.")[0]


@pytest.mark.parametrize(
    "text",
    [
        "The branch is called sk-refactor-of-the-billing-service.",
        "Slug: sk-2026-11-quarterly-report-of-sales",
        "The npm_package_version is read by the build.",
    ],
)
def test_names_that_begin_like_a_token_are_none(text: str) -> None:
    assert credential_in(text) is None


def test_there_are_forty_of_each() -> None:
    assert (len(POSITIVE) >= 40, len(NEGATIVE) >= 40) == (True, True)


@pytest.mark.parametrize("text", POSITIVE)
def test_credential_is_found_alone_and_in_a_story(text: str) -> None:
    assert credential_in(text) is not None
    story = f"Noted on Monday.\n{text}\nThe crane was greased."
    assert credential_in(story) is not None
    told, count = without_credentials(story)
    assert count == 1
    assert told.startswith("Noted on Monday.\n")
    assert told.endswith("\nThe crane was greased.")
    assert credential_in(told) is None


@pytest.mark.parametrize("text", NEGATIVE)
def test_words_about_credentials_are_none(text: str) -> None:
    assert credential_in(text) is None
    assert credential_in(f"Noted on Monday.\n{text}\nThe crane was greased.") is None


def test_credentials_are_taken_out_of_a_story_and_nothing_else_is() -> None:
    story = (
        "User: the password is hunter2x. And redis://:s3cr3t@cache is up.\nAgent: noted, hunter."
    )
    told, count = without_credentials(story)
    assert (told, count) == (
        "User: the password is [removed: a password]. And "
        "[removed: a password in a URL]cache is up.\nAgent: noted, hunter.",
        2,
    )
    assert without_credentials("\n".join(NEGATIVE)) == ("\n".join(NEGATIVE), 0)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("é pass\u200bword: hun\u00adter2, ﬁne", "é pass\u200bword: [removed: a password], ﬁne"),
        ("ｐａｓｓｗｏｒｄ：ｈｕｎｔｅｒ２ ö", "ｐａｓｓｗｏｒｄ：[removed: a password] ö"),
        ("passwort: gru\u0308n7ﬁ.", "passwort: [removed: a password]."),
        ("passphrase: correct horse battery staple. é", "passphrase: [removed: a password]. é"),
        ("password: correcthorse and more", "password: [removed: a password] and more"),
    ],
)
def test_what_is_hidden_is_taken_out_where_it_stands(text: str, told: str) -> None:
    assert without_credentials(text) == (told, 1)


def test_credentials_that_overlap_are_taken_out_as_a_whole() -> None:
    told, count = without_credentials("token=abc1defghij0123456789klmn://u:pw-of-mine@host")
    assert "pw-of-mine" not in told
    assert count == 1
