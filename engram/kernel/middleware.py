"""Middleware: request ids, Content-Security-Policy, the workspace of signed-in members."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import tzinfo
from zoneinfo import ZoneInfo

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.cache import add_never_cache_headers

from engram.kernel.actors import Actor
from engram.kernel.configuration import known_zones
from engram.kernel.models import Membership, Role, Workspace
from engram.kernel.tenancy import in_workspace

GetResponse = Callable[[HttpRequest], HttpResponse]
SESSION_SLOT = "engram_workspace"
ZONE_COOKIE = "zone"
SERVICES = ("/api/", "/healthz", "/readyz", "/metrics", "/static/")
INVITATION = "/invitation/"  # of a workspace that need not be the member's
DOCS = "/api/docs/"


class RequestIdMiddleware:
    """Adds `X-Request-ID` to every response: the caller's own if it is valid."""

    def __init__(self, get_response: GetResponse):
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Handle the request and add the id."""
        sent_id = request.headers.get("X-Request-ID", "")
        is_sane = (
            0 < len(sent_id) <= 64 and sent_id.isascii() and sent_id.replace("-", "").isalnum()
        )
        request.request_id = sent_id if is_sane else uuid.uuid4().hex  # type: ignore[attr-defined]
        response = self.get_response(request)
        response["X-Request-ID"] = request.request_id  # type: ignore[attr-defined]
        return response


class ContentSecurityPolicyMiddleware:
    """Strict policy; the admin's theme needs `unsafe-eval` (Alpine) and inline styles.

    The theme has inline style attributes, which no nonce can allow, but no inline scripts.
    """

    BASE = (
        "default-src 'none'; img-src 'self' data:; font-src 'self'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; manifest-src 'self'; "
    )

    def __init__(self, get_response: GetResponse):
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Handle the request and add the policy."""
        response = self.get_response(request)
        if response.has_header("Content-Security-Policy"):
            return response
        if request.path.startswith("/admin/"):
            rest = "script-src 'self' 'unsafe-eval'; style-src 'self' 'unsafe-inline'"
        elif request.path.startswith(DOCS):
            rest = "script-src 'self'; style-src 'self' 'unsafe-inline'"
        else:
            rest = "script-src 'self'; style-src 'self'"
        response["Content-Security-Policy"] = self.BASE + rest
        return response


@dataclass(frozen=True, slots=True)
class StaffWorkspace:
    """The chosen workspace of a signed-in member, and the member as actor."""

    workspace: Workspace
    actor: Actor
    choices: tuple[Workspace, ...]


def staff_workspace(request: HttpRequest) -> StaffWorkspace | None:
    """Return the member's chosen workspace, or the one of their oldest membership.

    None for people without a membership.
    """
    user = request.user
    if not user.is_authenticated or not user.is_active:
        return None
    of_user = Membership.objects.filter(user_id=user.pk, workspace__closed_at=None)
    memberships = list(of_user.select_related("workspace"))
    if not memberships:
        return None
    chosen_id = request.session.get(SESSION_SLOT)
    oldest = min(memberships, key=lambda one: (one.created_at, one.pk))
    chosen = next((m for m in memberships if str(m.workspace_id) == chosen_id), oldest)
    actor = Actor(kind="user", id=str(user.pk), label=user.get_username(), role=Role(chosen.role))
    return StaffWorkspace(chosen.workspace, actor, tuple(m.workspace for m in memberships))


def zone_of(workspace: Workspace) -> tzinfo:
    """Return the time zone of a workspace's people."""
    return ZoneInfo(workspace.config.time_zone)


def reader_zone(request: HttpRequest, workspace: Workspace) -> tzinfo:
    """Return the time zone that the reader's browser told (`zone.js`), or the workspace's."""
    name = request.COOKIES.get(ZONE_COOKIE, "")
    return ZoneInfo(name) if name in known_zones() else zone_of(workspace)


class StaffWorkspaceMiddleware:
    """Finds a signed-in member's workspace and runs pages within it."""

    def __init__(self, get_response: GetResponse):
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Handle the request; pages run in the member's workspace, error pages too."""
        is_outside = request.path.startswith((*SERVICES, INVITATION))
        is_page = request.path.startswith(DOCS) or not is_outside
        is_api = request.path.startswith("/api/") and "Authorization" not in request.headers
        if not (is_page or is_api):
            return self.get_response(request)
        staff = staff_workspace(request)
        request.staff_workspace = staff  # type: ignore[attr-defined]
        if staff is None or not is_page:
            return self.get_response(request)
        zone = reader_zone(request, staff.workspace)
        with in_workspace(staff.workspace), timezone.override(zone):
            response = self.get_response(request)
            if hasattr(response, "render") and not getattr(response, "is_rendered", True):
                response.render()
        # Not cached, so that the next user of the browser cannot go back to the page.
        add_never_cache_headers(response)
        return response
