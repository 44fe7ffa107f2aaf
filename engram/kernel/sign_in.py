"""Limit sign-in attempts, and show the remaining time; failures are counted in the database.

django-axes counts failures by name and address and refuses; this module configures the limits and
the response.
"""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from ipaddress import ip_address, ip_network
from math import ceil
from typing import Any, Final

from axes.handlers.database import AxesDatabaseHandler
from axes.models import AccessAttempt
from django.conf import settings
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.models import User
from django.db.models import Max, Q, Sum
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.crypto import salted_hmac

from engram.kernel.models import KnownAddress

log = logging.getLogger(__name__)

# Failures within `AXES_COOLOFF_TIME`. `AXES_FAILURE_LIMIT` limits one name from one address; these
# limit many names from one address, and one name from many addresses.
ADDRESS_LIMIT: Final = 30
NAME_LIMIT: Final = 50
# The number of known addresses of an account, and how long they are remembered.
KNOWN_ADDRESSES: Final = 10
KNOWN_FOR: Final = timedelta(days=90)
IPV6_SITE_BITS: Final = 64  # the network of one customer


class Handler(AxesDatabaseHandler):  # type: ignore[misc]
    """Also refuses an address that tries many names, and a name tried from many addresses.

    The account can still sign in from known addresses, so that attackers cannot lock a person out.
    """

    def is_locked(self, request: HttpRequest, credentials: Any = None) -> bool:
        """Return whether the attempt is refused without checking the password."""
        return bool(super().is_locked(request, credentials)) or self._is_flooded(
            request, credentials
        )

    def user_logged_in(self, sender: Any, request: HttpRequest, user: User, **more: Any) -> None:
        """Delete the failures of the name from this address, and store the address as known."""
        super().user_logged_in(sender, request, user, **more)
        remember_address(user, request.axes_ip_address, timezone.now())  # type: ignore[attr-defined]

    def _is_flooded(self, request: HttpRequest, credentials: Any) -> bool:
        came_from = request.axes_ip_address  # type: ignore[attr-defined]
        tried = name_of(request, credentials)
        address, name = Q(ip_address=came_from), Q(username=tried)
        recent = AccessAttempt.objects.filter(address | name, attempt_time__gt=_since())
        found = recent.aggregate(
            address=Sum("failures_since_start", filter=address),
            name=Sum("failures_since_start", filter=name),
        )
        if (found["address"] or 0) >= ADDRESS_LIMIT:
            return True
        is_name_flooded = (found["name"] or 0) >= NAME_LIMIT
        return is_name_flooded and not is_known(tried, came_from, timezone.now())


def remember_address(user: User, address: str | None, now: datetime) -> None:
    """Store a known address of an account; delete the oldest beyond KNOWN_ADDRESSES."""
    if address is None:
        return
    known = KnownAddress.objects.filter(user=user)
    KnownAddress.objects.bulk_create(
        [KnownAddress(user=user, digest=_digest(user, address), used_on=now.date())],
        update_conflicts=True,
        unique_fields=["user", "digest"],
        update_fields=["used_on"],
    )
    newest = known.order_by("-used_on", "-pk").values_list("pk", flat=True)[:KNOWN_ADDRESSES]
    known.exclude(pk__in=list(newest)).delete()
    known.filter(used_on__lt=(now - KNOWN_FOR).date()).delete()


def is_known(name: str, address: str | None, now: datetime) -> bool:
    """Return whether an account has signed in from an address within KNOWN_FOR."""
    user = User.objects.filter(username=name).first()
    if user is None or address is None:
        return False
    recent = KnownAddress.objects.filter(user=user, used_on__gte=(now - KNOWN_FOR).date())
    return recent.filter(digest=_digest(user, address)).exists()


def _digest(user: User, address: str) -> str:
    typed = f"{user.pk} {address}"
    return salted_hmac("engram.known_address", typed, algorithm="sha256").hexdigest()


def address_of(request: HttpRequest) -> str | None:
    """Return the client's address; for IPv6 the /64 network.

    It is the address of the connection, or from a trusted proxy (`engram/kernel/proxies.py`).
    """
    try:
        address = ip_address(request.META.get("REMOTE_ADDR") or "")
    except ValueError:  # a unix socket has no address
        return None
    if address.version == 4:
        return str(address)
    return str(ip_network((address, IPV6_SITE_BITS), strict=False).network_address)


def name_of(request: HttpRequest, credentials: Any = None) -> str:
    """Return the attempted name; a marker if there is no such account.

    People type their password into the wrong field, so unknown names are not stored.
    """
    typed = (credentials or {}).get("username") or request.POST.get("username") or ""
    typed = str(typed).replace("\0", "")[:150]
    if User.objects.filter(username=typed).exists():
        return typed
    mark = salted_hmac("engram.sign_in", typed, algorithm="sha256").hexdigest()
    return f"unknown {mark[:16]}"


def answer_lockout(
    request: HttpRequest, original_response: Any = None, credentials: Any = None
) -> HttpResponse:
    """Return the sign-in page with the time to wait, after too many failures.

    The response is the same whether the account exists or not.
    """
    seconds = seconds_to_wait(request, credentials)
    log.warning("sign-in: refused for %d s from %s", seconds, address_of(request))
    context = {
        "form": AuthenticationForm(request, initial={"username": request.POST.get("username", "")}),
        "app_path": request.get_full_path(),
        "next": request.POST.get("next") or request.GET.get("next") or "/",
        "minutes_to_wait": ceil(seconds / 60),
    }
    response = render(request, "admin/login.html", context, status=429)
    response["Retry-After"] = str(seconds)
    response["Cache-Control"] = "no-store"
    return response


def seconds_to_wait(request: HttpRequest, credentials: Any = None) -> int:
    """Return the seconds until the failures expire."""
    own = Q(ip_address=address_of(request)) | Q(username=name_of(request, credentials))
    last = AccessAttempt.objects.filter(own).aggregate(at=Max("attempt_time"))["at"]
    if last is None:
        return 1
    left: timedelta = last + _cool_off() - timezone.now()
    return max(ceil(left.total_seconds()), 1)


def _cool_off() -> timedelta:
    cool_off: timedelta = settings.AXES_COOLOFF_TIME
    return cool_off


def _since() -> Any:
    return timezone.now() - _cool_off()
