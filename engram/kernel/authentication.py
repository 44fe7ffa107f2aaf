"""Authenticate API callers (key or signed-in member) and check their roles."""

from __future__ import annotations

from typing import Any

from django.utils import timezone
from rest_framework import authentication, exceptions, permissions
from rest_framework.request import Request

from engram.kernel import keys
from engram.kernel.actors import Actor
from engram.kernel.middleware import StaffWorkspace
from engram.kernel.models import Workspace
from engram.kernel.refusals import ClosedError

CLOSED = "This workspace is being deleted; nothing in it can be read or written any more."


class Caller:
    """The caller of the API; the value of `request.user`."""

    is_authenticated = True
    is_active = True
    pk = None

    def __init__(self, workspace: Workspace, actor: Actor, *, is_exempt: bool = False):
        self.workspace = workspace
        self.actor = actor
        self.is_exempt_from_throttle = is_exempt


class KeyAuthentication(authentication.BaseAuthentication):
    """`Authorization: Bearer egr_…`."""

    def authenticate(self, request: Request) -> tuple[Caller, keys.FoundKey] | None:
        """Return the caller of the presented key; raise if the key is not usable."""
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            return None
        now = timezone.now()
        found = keys.find_with_workspace(token.strip())
        if found is None or not found[0].is_valid(now):
            raise exceptions.AuthenticationFailed("The key is unknown, revoked or expired.")
        key, workspace = found
        keys.uses.count(key, now)
        return Caller(workspace, key.actor, is_exempt=key.is_exempt_from_throttle), key

    def authenticate_header(self, request: Request) -> str:
        """Return the header that makes REST framework answer 401 for a missing or wrong key."""
        return 'Bearer realm="engram"'


class StaffSessionAuthentication(authentication.SessionAuthentication):
    """A signed-in member's browser session; unsafe methods need the CSRF token."""

    def authenticate(self, request: Request) -> tuple[Caller, None] | None:
        """Return the signed-in person as a caller of the workspace chosen in their session."""
        staff: StaffWorkspace | None = getattr(request._request, "staff_workspace", None)
        if staff is None:
            return None
        self.enforce_csrf(request)
        return Caller(staff.workspace, staff.actor), None


class HasRole(permissions.BasePermission):
    """Checks the caller's role against the one that the view requires for the method.

    Refuses closed workspaces, except for the views that tell about the deletion.
    """

    def has_permission(self, request: Request, view: Any) -> bool:
        """Return whether the caller's role includes the required one."""
        if not isinstance(request.user, Caller):
            raise exceptions.NotAuthenticated("A key is needed: Authorization: Bearer <key>.")
        if request.user.workspace.closed_at is not None and not view.serves_closed:
            raise ClosedError(CLOSED)
        needed = view.role_for(request.method)
        if not request.user.actor.role.includes(needed):
            raise exceptions.PermissionDenied(
                f"This needs the role {needed.value}; yours is {request.user.actor.role.value}."
            )
        return True
