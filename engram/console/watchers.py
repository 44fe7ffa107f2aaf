"""Authenticate watchers of live events: a key, or a signed-in member on a page of this site."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from django.conf import settings
from django.contrib.auth import HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.base_user import AbstractBaseUser
from django.http.request import split_domain_port, validate_host
from django.utils.crypto import constant_time_compare

from engram.kernel import keys
from engram.kernel.middleware import staff_workspace
from engram.kernel.models import ApiKey, Membership, Role
from engram.kernel.tenancy import in_workspace

Scope = Mapping[str, Any]
Identity = tuple[UUID, Role, UUID | None, int | None, str | None]
DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Watcher:
    """An accepted connection: its workspace and credentials, which are checked repeatedly."""

    workspace_id: UUID
    role: Role
    key_id: UUID | None = None
    user_id: int | None = None
    session: Any = None

    @property
    def identity(self) -> Identity:
        """Return the key by which sockets share their checks."""
        session = self.session.session_key if self.session is not None else None
        return (self.workspace_id, self.role, self.key_id, self.user_id, session)

    @property
    def name(self) -> str:
        """Return the name of the watching key or user."""
        return f"key:{self.key_id}" if self.key_id is not None else f"user:{self.user_id}"

    def may_stay(self, now: datetime) -> bool:
        """Return whether the key, or the session and the membership, are still valid."""
        if self.key_id is not None:
            return self._has_key(self.key_id, now)
        return self._has_membership()

    def _has_key(self, key_id: UUID, now: datetime) -> bool:
        with in_workspace(self.workspace_id):
            opening = ApiKey.objects.filter(revoked_at=None, workspace__closed_at=None)
            key = opening.filter(pk=key_id).first()
        if key is None or (key.expires_at is not None and key.expires_at <= now):
            return False
        return Role(key.role).includes(self.role)

    def _has_membership(self) -> bool:
        """Return whether the membership and the session are still valid.

        A change of the password ends the session, as in Django.
        """
        member = (
            Membership.objects.filter(
                workspace=self.workspace_id,
                workspace__closed_at=None,
                user=self.user_id,
                user__is_active=True,
            )
            .select_related("user")
            .first()
        )
        if member is None or not Role(member.role).includes(self.role):
            return False
        kept = self.session.__class__(
            self.session.session_key
        ).load()  # empty if deleted or expired
        if kept.get(SESSION_KEY) != str(self.user_id):
            return False
        return _is_of_password(kept.get(HASH_SESSION_KEY, ""), member.user)


def _is_of_password(digest: str, user: AbstractBaseUser) -> bool:
    """Return whether a session's digest is of the account's present password."""
    wanted = (user.get_session_auth_hash(), *user.get_session_auth_fallback_hash())
    return any(constant_time_compare(digest, one) for one in wanted)


def by_key(token: str, now: datetime) -> Watcher | None:
    """Return the watcher of a presented key."""
    key = keys.find(token)
    if key is None or not key.is_usable(now):
        return None
    keys.uses.count(key, now)
    return Watcher(key.workspace_id, key.role, key_id=key.id)


def by_session(scope: Scope) -> Watcher | None:
    """Return the watcher of a signed-in member, if the connecting page is of this site.

    Browsers send cookies for pages of any site, so the origin is checked.
    """
    user = scope.get("user")
    if user is None or not user.is_authenticated or not _is_own_origin(scope):
        return None
    staff = staff_workspace(SimpleNamespace(user=user, session=scope["session"]))  # type: ignore[arg-type]
    if staff is None:
        return None
    session = scope["session"]
    return Watcher(staff.workspace.pk, staff.actor.role, user_id=user.pk, session=session)


def header(scope: Scope, name: bytes) -> str:
    """Return a header of the handshake, or ""."""
    values = [value for key, value in scope.get("headers", []) if key == name]
    return values[0].decode("latin-1") if values else ""


def bearer(scope: Scope) -> str | None:
    """Return the key of the Authorization header, or None."""
    sent = header(scope, b"authorization")
    if not sent:
        return None
    scheme, _, token = sent.partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def _is_own_origin(scope: Scope) -> bool:
    """Return whether the page's origin is the requested host and port, or a trusted origin.

    Another port of the same machine is another site, but cookies are sent to all ports.
    """
    origin = header(scope, b"origin").lower()
    if origin in {trusted.lower() for trusted in settings.CSRF_TRUSTED_ORIGINS}:
        return True
    host = header(scope, b"host").lower()
    allowed = settings.ALLOWED_HOSTS or ["localhost", "127.0.0.1", "[::1]"]
    if not validate_host(split_domain_port(host)[0], allowed):
        return False
    try:
        requested, page = urlsplit(f"//{host}"), urlsplit(origin)
        default = DEFAULT_PORTS.get(page.scheme)
        if default is None:
            return False
        return (page.hostname, page.port or default) == (
            requested.hostname,
            requested.port or default,
        )
    except ValueError:
        return False
