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
the PIN of the alarm panel is 4711
remember that the wifi code of the guest network is Tulpe-88-Bach
Wi-Fi code: Tulpe88Bach
The access code for the north gate is 90210.
The recovery code is q7f2-99ab-x1
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
The PIN of the alarm panel is changed in 2027 by Ole
The wifi code is printed on the router
The access code is changed weekly
The country code of the office is DE-49
The product code is AB-1234-X
The exit code of the job is 1370
The wifi code of the guests comes from Ole
The code is written in Python3.12
The access code for the gate is sent by mail on 2026-05-04
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
    "sk-" + "8b0e71c3" * 4,  # lower case alone
    "sk-" + "ldqbwzb90xya" * 3,
    "sk-" + "Q7ZK" * 8,
    "sk-proj-" + "aB3_d-" * 20,
    "sk-svcacct-" + "aB3_d-" * 14,
    "sk-admin-" + "x9_Y" * 12,
    "sk-ant-" + "api03-" + "aB3_d-" * 15 + "AA",
    "sk-or-" + "v1-" + "8b0e71c3" * 8,
    "sk-lf-" + "8f1b2c3d-1a2b-4c3d-9e8f-0a1b2c3d4e5f",
    "sk_" + "live_" + "aB3d" * 6,
    "rk_" + "live_" + "aB3d" * 6,
    "whsec_" + "aB3d" * 8,
    "ghp_" + "aB3d" * 9,
    "ghs_" + "aB3d" * 9,
    "github_pat_" + "aB3d" * 5 + "aB_" + "aB3d" * 14,
    "glpat-" + "xqYqabcdef" * 2,  # without a digit
    "glft-" + "x7Yq" * 5,
    "glagent-" + "x7Yq" * 12,
    "glrt-" + "t1_" + "x7Yq" * 5,
    "xoxb-" + "123456789012-" * 2 + "aB3d" * 6,
    "xoxp-" + "123456789012-" * 3 + "8b0e71c3" * 4,
    "xoxe-1-" + "aB3d" * 10,
    "xapp-1-" + "A01B2C3D4E5-" + "1234567890123-" + "8b0e71c3" * 8,
    "hooks.slack.com/services/" + "T01B2C3D4/" + "B05E6F7G8/" + "aB3d" * 6,
    "discord.com/api/webhooks/" + "123456789012345678/" + "aB3_d-" * 11,
    "AKIA" + "Q7ZK" * 4,
    "ASIA" + "Q7ZK" * 4,
    "ya29." + "aB3_d-" * 20,
    "GOCSPX-" + "aB3_d-z" * 4,
    "pypi-AgE" + "IcHlwaS5vcmc" + "aB3_d-" * 25,
    "hvs." + "CAESI" + "aB3_d-" * 15,
    "dop_v1_" + "8b0e71c3" * 8,
    "shpat_" + "8b0e71c3" * 4,
    "dapi" + "8b0e71c3" * 4,
    "lin_api_" + "aB3d" * 10,
    "ntn_" + "aB3d" * 11,
    "ATATT3x" + "FfGF0" + "aB3_d-" * 28 + "=1A2B3C4D",
    "PMAK-" + "8b0e71c3" * 3 + "-" + "8b" * 17,
    "glsa_" + "aB3d" * 8 + "_8b0e71c3",
    "sbp_" + "8b0e71c3" * 5,
    "figd_" + "aB3_d-" * 7,
    "r8_" + "aB3d" * 9 + "x",
    "gsk_" + "aB3d" * 13,
    "xai-" + "aB3d" * 20,
    "pplx-" + "aB3d" * 12,
    "tvly-dev-" + "aB3d" * 8,
    "lsv2_pt_" + "8b0e71c3" * 4 + "_8b0e71c3aa",
    "dckr_pat_" + "aB3_d-z" * 4,
    "NRAK-" + "Q7ZK" * 6 + "ABC",
    "AGE-SECRET-KEY-1" + "Q7ZK" * 14 + "QP",
    "1234567890:AA" + "aB3" * 11,  # Telegram
    "AccountKey=" + "aB3/" * 21 + "aB==",
    "SharedAccessKey=" + "aB3+" * 10 + "aB3=",
    "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxMjM0In0." + "aB3_" * 10,
    "Authorization: Basic " + "dXNlcjpwYXNzdzByZA==",
    "postgres://app:" + "p@ssw0rd@db.internal/prod",
    "mongodb+srv://ana:" + "pw123@cluster.example.net/shop",
    "-----BEGIN PGP PRIVATE " + "KEY BLOCK-----\n\nlQOYB\n-----END PGP PRIVATE KEY BLOCK-----",
    "-----BEGIN OPENSSH PRIVATE " + "KEY-----\nb3Blbn\n-----END OPENSSH PRIVATE KEY-----",
]
SHA1, SHA256 = "3f2a9b7c" * 5, "9e107d9d372bb682" * 4
NOT_TOKENS = [
    "The branch is called sk-refactor-of-the-billing-service.",
    "Slug: sk-2026-11-quarterly-report-of-sales",
    "The npm_package_version is read by the build.",
    "The branch is sk-test-driven-development-of-notes.",
    "The module is sk_live_reload_of_the_templates.",
    f"Fixed in commit {SHA1}; the one before was {SHA1[:7]}.",
    f"The image is pinned to sha256:{SHA256}.",
    f"The archive's checksum is {SHA256}.",
    f"task-{SHA1[:32]} failed twice.",
    f"Cache entries are called key-{SHA1[:32]}.",
    "integrity: sha384-oqVuAfXRKap7fdgcCY5uykM6+R9GqQ8K/uxy9rx7HNQlGYl1kPzQho1wx4JwY8wC",
    "The run 550e8400-e29b-41d4-a716-446655440000 was cancelled.",
    "sk-550e8400-e29b-41d4-a716-446655440000 is the slot's id.",
    "Summaries are written by xai-grok-4-fast-reasoning-latest.",
    "pplx-70b-online-with-web-search answers slowly.",
    "scikit-learn is imported as sklearn, never as sk-learn.",
    "The hook posts to hooks.slack.com/services and retries twice.",
    "Discord's webhooks live under discord.com/api/webhooks/.",
    "Authorization: Basic authentication is refused since May.",
    "Authorization: Basic HTTP-Authentication",
    "The request has authorization: bearer and no cookie.",
    "AccountKey=<from the vault>",
    "The public key begins with -----BEGIN PUBLIC KEY-----.",
    "Tickets are called AKIA-12 and ASIA-7.",
    "eyJ is how every JSON web token begins.",
    "She opens at 10:15 and closes 1234567890:AA.",
    "The dapi endpoint and the figd_ prefix are documented.",
    "npm_config_registry is set in the image.",
    "xoxo-with-love-from-the-team was the subject.",
    "See http://localhost:8080/path and mail ana@example.com.",
    "git clone ssh://git@example.com:2222/team/app.git",
    "Version 01J9ZQ4T8Y7W6V5U4T3S2R1Q0P of the schema is live.",
]


@pytest.mark.parametrize("token", TOKENS)
def test_tokens_of_well_known_services_are_credentials(token: str) -> None:
    assert credential_in(f"Use {token} for the nightly job.") is not None
    assert token not in without_credentials(f"Use {token} for the nightly job.")[0]


def test_an_encrypted_key_is_taken_out_whole() -> None:
    key = (
        "-----BEGIN RSA PRIVATE " + "KEY-----\nProc-Type: 4,ENCRYPTED\n"
        "DEK-Info: AES-128-CBC,9E10\n\nMIIEow\n-----END RSA PRIVATE KEY-----"
    )
    assert without_credentials(f"Kept: {key} since May.") == (
        "Kept: [removed: a private key] since May.",
        1,
    )


@pytest.mark.parametrize(
    "token",
    [
        "sk-or-" + "v1-" + "8b0e71c3" * 8,
        "sk-svcacct-" + "aB3_d-" * 14,
        "hvs." + "aB3_d-" * 15 + "x",
    ],
)
def test_a_token_is_taken_out_whole(token: str) -> None:
    assert without_credentials(f"Use {token}.")[0].startswith("Use [removed: a ")
    assert len(without_credentials(f"Use {token}.")[0]) < 40


@pytest.mark.parametrize("text", NOT_TOKENS)
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
