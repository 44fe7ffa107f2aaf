"""Keys: made once, shown once, found by digest, revoked for good."""

from __future__ import annotations

import hashlib
import secrets
import threading
from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db import connection, transaction
from django.db.models import F

from engram.kernel.actors import Actor
from engram.kernel.history import record
from engram.kernel.models import ApiKey, Role, Workspace
from engram.kernel.tenancy import in_workspace

PREFIX = "egr_"
USE_FLUSH_INTERVAL = timedelta(seconds=30)


@dataclass(frozen=True, slots=True)
class FoundKey:
    """What a presented key opens."""

    id: UUID
    workspace_id: UUID
    name: str
    role: Role
    expires_at: datetime | None
    revoked_at: datetime | None
    is_exempt_from_throttle: bool

    def is_usable(self, now: datetime) -> bool:
        """Tell whether the key is neither revoked nor expired."""
        return self.revoked_at is None and (self.expires_at is None or self.expires_at > now)


def digest_of(token: str) -> str:
    """Return the stored form of a key. Keys carry 256 random bits, so a plain hash suffices."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def issue(
    workspace: Workspace,
    *,
    name: str,
    role: Role,
    actor: Actor,
    now: datetime,
    expires_at: datetime | None = None,
    is_exempt_from_throttle: bool = False,
) -> tuple[ApiKey, str]:
    """Create a key and return it with its token, which is never shown again."""
    token = PREFIX + secrets.token_urlsafe(32)
    with in_workspace(workspace):
        key = ApiKey.objects.create(
            workspace=workspace,
            name=name,
            role=role,
            prefix=token[:12],
            digest=digest_of(token),
            expires_at=expires_at,
            is_exempt_from_throttle=is_exempt_from_throttle,
        )
        record(
            "key.issued",
            of=("key", key.id),
            actor=actor,
            now=now,
            data={"name": name, "role": role},
        )
    return key, token


def revoke(key: ApiKey, *, actor: Actor, now: datetime) -> bool:
    """Revoke a key for good; tell whether it was still valid."""
    with in_workspace(key.workspace_id):
        revoked = ApiKey.objects.filter(pk=key.pk, revoked_at=None).update(revoked_at=now)
        if revoked:
            record("key.revoked", of=("key", key.id), actor=actor, now=now, data={"name": key.name})
    return bool(revoked)


def find(token: str) -> FoundKey | None:
    """Look a presented key up, across workspaces, through the one function that may do so."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT * FROM engram_find_key(%s)", [digest_of(token)])
        row = cursor.fetchone()
    if row is None:
        return None
    key_id, workspace_id, name, role, expires_at, revoked_at, is_exempt = row
    return FoundKey(key_id, workspace_id, name, Role(role), expires_at, revoked_at, is_exempt)


class UseCounter:
    """Counts requests per key in memory and writes them at most once an interval.

    A write per request would double the cost of a recall; a crash loses at most one interval.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: Counter[UUID] = Counter()
        self._flushed_at: dict[UUID, datetime] = {}

    def count(self, key: FoundKey, now: datetime) -> None:
        """Count one request, and write the sum when the interval has passed."""
        with self._lock:
            self._counts[key.id] += 1
            flushed_at = self._flushed_at.get(key.id)
            if flushed_at is not None and now - flushed_at < USE_FLUSH_INTERVAL:
                return
            uses = self._counts.pop(key.id)
            self._flushed_at[key.id] = now
        with in_workspace(key.workspace_id):
            ApiKey.objects.filter(pk=key.id).update(
                last_used_at=now, use_count=F("use_count") + uses
            )


uses = UseCounter()
