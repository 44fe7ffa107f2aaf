"""Helpers for pages of signed-in members: workspace, roles, return links."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.http import url_has_allowed_host_and_scheme

from engram.kernel.middleware import StaffWorkspace
from engram.kernel.models import Role

View = Callable[..., HttpResponse]


def staff_of(request: HttpRequest) -> StaffWorkspace:
    """Return the member's workspace and actor; only within a `member_page`."""
    staff: StaffWorkspace = request.staff_workspace  # type: ignore[attr-defined]
    return staff


def staff_or_none(request: HttpRequest) -> StaffWorkspace | None:
    """Return the member's workspace and actor on any page; None for people without a workspace."""
    staff: StaffWorkspace | None = getattr(request, "staff_workspace", None)
    return staff


def has_role(request: HttpRequest, role: Role) -> bool:
    """Return whether the signed-in member's role includes `role`."""
    staff = staff_or_none(request)
    return staff is not None and staff.actor.role.includes(role)


def member_page(
    *, reads: Role = Role.READER, writes: Role = Role.REVIEWER
) -> Callable[[View], View]:
    """Require a sign-in and a member with the role `reads`, for unsafe methods also `writes`."""

    def decorate(view: View) -> View:
        @wraps(view)
        def run(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            if not request.user.is_authenticated:
                return redirect_to_login(request.get_full_path())
            if staff_or_none(request) is None:
                return redirect("console:no-workspace")
            needed = (reads,) if request.method in {"GET", "HEAD"} else (writes, reads)
            for role in needed:
                if not has_role(request, role):
                    raise PermissionDenied(f"This needs the role {role.value}.")
            return view(request, *args, **kwargs)

        return run

    return decorate


def form_target(page: str) -> Callable[[View], View]:
    """Accept only POST; redirect others (a reload, a sign-in in between) to a page of the same row.

    Parameters
    ----------
    page : the name of a page with the parameters of the view.
    """

    def decorate(view: View) -> View:
        @wraps(view)
        def run(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            if request.method == "POST":
                return view(request, *args, **kwargs)
            led: HttpResponse = redirect(page, *args, **kwargs)
            return led

        return run

    return decorate


def name_done(address: str, done: str) -> str:
    """Return an address of ours that names what was done, so that its page can undo it.

    It stands in the address to be there after a reload, too; "" leaves it out.
    """
    parts = urlsplit(address)
    query = dict(parse_qsl(parts.query)) | {"done": done}
    return parts._replace(query=urlencode({k: v for k, v in query.items() if v})).geturl()


def return_address(request: HttpRequest, default: str, *, field: str = "back") -> str:
    """Return the `back` address of a form if it is of this site, else `default`."""
    address = request.POST.get(field, "")
    is_ours = url_has_allowed_host_and_scheme(address, allowed_hosts=None)
    return address if is_ours and urlsplit(address).path.startswith("/") else default
