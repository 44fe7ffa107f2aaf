"""Issue, find, revoke and count uses of API keys; only their digests are stored."""

from __future__ import annotations

import hashlib
import secrets
import threading
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from uuid import UUID

from django.db import connection
from django.db.models import F
from django.db.models.functions import Greatest

from engram.kernel.actors import Actor, Claims
from engram.kernel.binary import prepared_cursor
from engram.kernel.credentials import refuse_credentials
from engram.kernel.history import event, record, send
from engram.kernel.inserting import insert
from engram.kernel.models import ApiKey, Provenance, Role, Workspace
from engram.kernel.plain_sql import columns_of, from_row
from engram.kernel.refusals import InvalidError
from engram.kernel.tenancy import in_workspace

PREFIX = "egr_"
KEY_COLUMNS = 11  # of what `engram_find_key` returns
KEY_BARE_COLUMNS = 7  # of these without the claims
TOLD = ("name", "role", *(field.name for field in fields(Claims)))  # of an issued key


@dataclass(frozen=True, slots=True)
class FoundKey:
    """A presented key with its workspace, role and claims."""

    id: UUID
    workspace_id: UUID
    name: str
    role: Role
    expires_at: datetime | None
    revoked_at: datetime | None
    is_exempt_from_throttle: bool
    claims: Claims
    is_closed: bool = False  # its workspace is being deleted

    @property
    def actor(self) -> Actor:
        """Return the key as the author of changes."""
        return Actor(
            kind="key", id=str(self.id), label=self.name, role=self.role, claims=self.claims
        )

    def is_usable(self, now: datetime) -> bool:
        """Return whether the key is valid and its workspace open."""
        return self.is_valid(now) and not self.is_closed

    def is_valid(self, now: datetime) -> bool:
        """Return whether the key is neither revoked nor expired."""
        return self.revoked_at is None and (self.expires_at is None or self.expires_at > now)


def digest_of(token: str) -> str:
    """Return the digest of a key. Keys have 256 random bits, so a plain hash suffices."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def claims_of(
    role: Role,
    *,
    provenance_ceiling: str | None = None,
    may_relay: bool | None = None,
    may_pin: bool | None = None,
    agent: str = "",
) -> Claims:
    """Return the claims of a key of a role; None means the role's default.

    Raise `InvalidError` for a reader with claims, and for a limited reviewer, which could accept
    its own requests.
    """
    is_reviewer = role.includes(Role.REVIEWER)
    highest = Provenance.USER_STATED if is_reviewer else Provenance.ASSISTANT_DERIVED
    claims = Claims(
        Provenance(provenance_ceiling or highest),
        may_relay=bool(may_relay),
        may_pin=is_reviewer if may_pin is None else may_pin,
        agent=agent,
    )
    if is_reviewer and claims.provenance_ceiling != highest:
        raise InvalidError("provenance_ceiling", f"A key of the role {role} may claim every class.")
    if is_reviewer and not claims.may_pin:
        raise InvalidError("may_pin", f"A key of the role {role} may always pin.")
    if not role.includes(Role.AGENT):
        for name in ("provenance_ceiling", "may_relay", "may_pin", "agent"):
            if getattr(claims, name) != getattr(Claims(), name):
                field = name.removeprefix("may_") if name == "may_relay" else name
                raise InvalidError(field, "A reader writes nothing; leave this out.")
    return claims


def actor_of(key: ApiKey) -> Actor:
    """Return a stored key as the author of changes."""
    claims = Claims(Provenance(key.provenance_ceiling), key.may_relay, key.may_pin, key.agent)
    return Actor(kind="key", id=str(key.pk), label=key.name, role=Role(key.role), claims=claims)


def issue(
    workspace: Workspace,
    *,
    name: str,
    role: Role,
    actor: Actor,
    now: datetime,
    expires_at: datetime | None = None,
    is_exempt_from_throttle: bool = False,
    claims: Claims | None = None,
) -> tuple[ApiKey, str]:
    """Create a key and return it with its token, which is never shown again.

    `claims` as `claims_of` returns them; None: the role's defaults.
    """
    claims = claims or claims_of(role)
    refuse_credentials({"agent": claims.agent, "name": name})
    key, token = draft(workspace, name, role, claims)
    key.expires_at, key.is_exempt_from_throttle = expires_at, is_exempt_from_throttle
    write([key], actor=actor, now=now)
    return key, token


def draft(workspace: Workspace, name: str, role: Role, claims: Claims) -> tuple[ApiKey, str]:
    """Return a new key that is not stored yet, and its token."""
    token = PREFIX + secrets.token_urlsafe(32)
    key = ApiKey(
        workspace=workspace,
        name=name,
        role=role,
        prefix=token[:12],
        digest=digest_of(token),
        **asdict(claims),
    )
    return key, token


def write(drafts: Sequence[ApiKey], *, actor: Actor, now: datetime) -> None:
    """Store new keys of one workspace with their events, in one round trip."""
    events = [
        event(
            "key.issued",
            of=("key", key.id),
            actor=actor,
            now=now,
            data={name: getattr(key, name) for name in TOLD},
        )
        for key in drafts
    ]
    with in_workspace(drafts[0].workspace_id):
        insert([*drafts, *events])
        for written in events:
            send(written)


def revoke(key: ApiKey, *, actor: Actor, now: datetime) -> bool:
    """Revoke a key permanently; return whether it was valid."""
    with in_workspace(key.workspace_id):
        revoked = ApiKey.objects.filter(pk=key.pk, revoked_at=None).update(revoked_at=now)
        if revoked:
            record("key.revoked", of=("key", key.id), actor=actor, now=now, data={"name": key.name})
    return bool(revoked)


def find(token: str) -> FoundKey | None:
    """Find a presented key in all workspaces, through the database function that may do so."""
    found = find_with_workspace(token)
    return found[0] if found else None


def find_with_workspace(token: str) -> tuple[FoundKey, Workspace] | None:
    """Find a presented key with its workspace."""
    workspaces = connection.ops.quote_name(Workspace._meta.db_table)
    with prepared_cursor() as cursor:
        cursor.execute(
            f"""
            SELECT key.*, {columns_of(Workspace, "opened")} FROM engram_find_key(%s) AS key
            CROSS JOIN LATERAL (
                SELECT * FROM {workspaces} WHERE id = key.workspace_id LIMIT 1
            ) AS opened
            """,  # noqa: S608  names only
            [digest_of(token)],
        )
        row = cursor.fetchone()
    if row is None:
        return None
    key_id, workspace_id, name, role, expires_at, revoked_at, is_exempt = row[:KEY_BARE_COLUMNS]
    ceiling, may_relay, may_pin, agent = row[KEY_BARE_COLUMNS:KEY_COLUMNS]
    workspace = from_row(Workspace, row[KEY_COLUMNS:])
    key = FoundKey(
        key_id,
        workspace_id,
        name,
        Role(role),
        expires_at,
        revoked_at,
        is_exempt,
        Claims(Provenance(ceiling), may_relay, may_pin, agent),
        is_closed=workspace.closed_at is not None,
    )
    return key, workspace


@dataclass(slots=True)
class _Uses:
    """The requests of one key that are not written yet."""

    workspace_id: UUID
    count: int
    last_at: datetime


class UseCounter:
    """Counts requests per key in memory, to be written by the process's heartbeat.

    A write per request would double the cost of a recall; a crash loses at most one interval of the
    heartbeat. What shows the counts writes those of its own process first.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: dict[UUID, _Uses] = {}

    def count(self, key: FoundKey, now: datetime) -> None:
        """Count one request."""
        with self._lock:
            self._add(key.id, _Uses(key.workspace_id, 1, now))

    def write(self, workspace: UUID | None = None) -> None:
        """Add the counts of this process to the keys, of one workspace if given."""
        with self._lock:
            due = {
                key_id: uses
                for key_id, uses in sorted(self._waiting.items())
                if workspace in (None, uses.workspace_id)
            }
            for key_id in due:
                del self._waiting[key_id]
        while due:
            key_id, uses = next(iter(due.items()))
            try:
                with in_workspace(uses.workspace_id):
                    ApiKey.objects.filter(pk=key_id).update(
                        last_used_at=Greatest("last_used_at", uses.last_at),
                        use_count=F("use_count") + uses.count,
                    )
            except Exception:
                with self._lock:
                    for left_id, left in due.items():
                        self._add(left_id, left)
                raise
            del due[key_id]

    def _add(self, key_id: UUID, more: _Uses) -> None:
        uses = self._waiting.setdefault(key_id, _Uses(more.workspace_id, 0, more.last_at))
        uses.count += more.count
        uses.last_at = max(uses.last_at, more.last_at)


uses = UseCounter()
