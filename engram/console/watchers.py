"""Who may watch a workspace live: a key, or a signed-in member whose browser shows our page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from django.conf import settings
from django.http.request import split_domain_port, validate_host

from engram.kernel import keys
from engram.kernel.middleware import staff_workspace
from engram.kernel.models import ApiKey, Membership
from engram.kernel.tenancy import in_workspace

Scope = Mapping[str, Any]
DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Watcher:
    """An admitted connection: its workspace, and what must stay true for it to go on."""

    workspace_id: UUID
    key_id: UUID | None = None
    user_id: int | None = None
    session: Any = None

    def may_stay(self, now: datetime) -> bool:
        """Tell whether the key, or the session and the membership, are still good."""
        if self.key_id is not None:
            with in_workspace(self.workspace_id):
                key = ApiKey.objects.filter(pk=self.key_id, revoked_at=None).first()
                return key is not None and (key.expires_at is None or key.expires_at > now)
        is_member = Membership.objects.filter(
            workspace=self.workspace_id, user=self.user_id, user__is_active=True
        ).exists()
        return is_member and self.session.exists(self.session.session_key)


def by_key(token: str, now: datetime) -> Watcher | None:
    """Return who a presented key lets in."""
    key = keys.find(token)
    if key is None or not key.is_usable(now):
        return None
    keys.uses.count(key, now)
    return Watcher(key.workspace_id, key_id=key.id)


def by_session(scope: Scope) -> Watcher | None:
    """Return the signed-in member whose browser connects, if the page that asked is ours.

    Browsers send cookies along whoever wrote the page: only the origin tells.
    """
    user = scope.get("user")
    if user is None or not user.is_authenticated or not _is_own_origin(scope):
        return None
    staff = staff_workspace(SimpleNamespace(user=user, session=scope["session"]))  # type: ignore[arg-type]
    if staff is None:
        return None
    return Watcher(staff.workspace.pk, user_id=user.pk, session=scope["session"])


def header(scope: Scope, name: bytes) -> str:
    """Return a header of the handshake, empty when there is none."""
    values = [value for key, value in scope.get("headers", []) if key == name]
    return values[0].decode("latin-1") if values else ""


def bearer(scope: Scope) -> str | None:
    """Return the key of the Authorization header; None when there is no such header."""
    sent = header(scope, b"authorization")
    if not sent:
        return None
    scheme, _, token = sent.partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def _is_own_origin(scope: Scope) -> bool:
    """Tell whether the page is of the host and port that were asked, or of a trusted origin.

    Another port of the same machine is another site: cookies do not tell ports apart.
    """
    origin = header(scope, b"origin").lower()
    if origin in {trusted.lower() for trusted in settings.CSRF_TRUSTED_ORIGINS}:
        return True
    host = header(scope, b"host").lower()
    allowed = settings.ALLOWED_HOSTS or ["localhost", "127.0.0.1", "[::1]"]
    if not validate_host(split_domain_port(host)[0], allowed):
        return False
    try:
        asked, page = urlsplit(f"//{host}"), urlsplit(origin)
        default = DEFAULT_PORTS.get(page.scheme)
        if default is None:
            return False
        return (page.hostname, page.port or default) == (asked.hostname, asked.port or default)
    except ValueError:
        return False
