"""Sign deliveries by the scheme of Standard Webhooks (standardwebhooks.com), version 1.

The signature is HMAC-SHA256 over `id.timestamp.body`, with the bytes that the part of the secret
behind `whsec_` encodes in base64.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from collections.abc import Sequence
from typing import Final

PREFIX: Final = "whsec_"
SECRET_BYTES: Final = 32


def new_secret() -> str:
    """Return a new secret of 256 random bits."""
    return PREFIX + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def headers_of(
    secrets_in_force: Sequence[str], message_id: str, timestamp: int, body: bytes
) -> dict[str, str]:
    """Return the headers that sign a body with each secret; `timestamp`: of sending, in seconds."""
    signatures = [signature(one, message_id, timestamp, body) for one in secrets_in_force]
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": " ".join(signatures),
    }


def signature(secret: str, message_id: str, timestamp: int, body: bytes) -> str:
    """Return the signature of a body with its version."""
    key = base64.b64decode(secret.removeprefix(PREFIX))
    signed = b".".join([message_id.encode(), str(timestamp).encode(), body])
    return "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
