"""Secrets are no memories: what obviously is one is refused, what only speaks of one is not."""

from __future__ import annotations

import pytest

from engram.kernel.credentials import credential_in
from tests.conftest import Tenant


@pytest.mark.parametrize(
    "text",
    [
        "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "token=9aB3kLmN0pQrStUvWxYz1234567890ab",
        "The AWS_SECRET_ACCESS_KEY=9aB3kLmN0pQrStUvWxYz is set",
        "DB_PASSWORD=hunter2hunter2hunter",
        "the password is Tr0ub4dor&3xyz",
        "postgres://user:p4ssw0rd@db/prod",
        "passwd: hunter2",
        "DB pw = Tr0ub4dor",
        "The root password's hunter2.",
    ],
)
def test_an_obvious_credential_is_refused(tenant: Tenant, text: str) -> None:
    answer = tenant.agent.post("memories", {"content": text})
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "content")


@pytest.mark.parametrize(
    "text",
    [
        "secret: 12 rounds of bcrypt",
        "The password's reset link expires after a day.",
        "pw: see the vault",
        "API key rotation happens every 90 days.",
        "Token: we use JWT for 20 minutes",
        "The secret is rotated every 30 days.",
        "session token: lives 30 minutes in redis",
        "The tokenizer=sentencepiece model has 32000 pieces.",
    ],
)
def test_speaking_of_credentials_is_no_credential(text: str) -> None:
    assert credential_in(text) is None
