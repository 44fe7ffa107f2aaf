"""Guessing passwords: who fails too often waits, told how long; counted in the database.

django-axes counts failures by name and address and refuses; what is here says by what it counts,
how often, and what is answered.
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

# Failures within the time of `AXES_COOLOFF_TIME`. One name from one address is settled by
# `AXES_FAILURE_LIMIT`; these bound many names from one address, and one name from many.
ADDRESS_LIMIT: Final = 30
NAME_LIMIT: Final = 50
# Addresses that an account is known from, and for how long since it signed in there last.
KNOWN_ADDRESSES: Final = 10
KNOWN_FOR: Final = timedelta(days=90)
IPV6_SITE_BITS: Final = 64  # what one customer has


class Handler(AxesDatabaseHandler):  # type: ignore[misc]
    """Also refuses an address that tries many names, and a name that is tried from everywhere.

    Who is tried from everywhere can still sign in from where that account has signed in before:
    strangers cannot keep a person out.
    """

    def is_locked(self, request: HttpRequest, credentials: Any = None) -> bool:
        """Tell whether no password is looked at any more."""
        return bool(super().is_locked(request, credentials)) or self._is_flooded(
            request, credentials
        )

    def user_logged_in(self, sender: Any, request: HttpRequest, user: User, **more: Any) -> None:
        """Forget the failures of the name from this address, and remember the address."""
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
    """Note that an account has signed in from an address; the oldest beyond a few are deleted."""
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
    """Tell whether an account has signed in from an address lately."""
    user = User.objects.filter(username=name).first()
    if user is None or address is None:
        return False
    recent = KnownAddress.objects.filter(user=user, used_on__gte=(now - KNOWN_FOR).date())
    return recent.filter(digest=_digest(user, address)).exists()


def _digest(user: User, address: str) -> str:
    typed = f"{user.pk} {address}"
    return salted_hmac("engram.known_address", typed, algorithm="sha256").hexdigest()


def address_of(request: HttpRequest) -> str | None:
    """Return the client's address; of IPv6 the network, for one customer has 2^64 addresses.

    It is the connection's, or what a trusted proxy says (`engram/kernel/proxies.py`).
    """
    try:
        address = ip_address(request.META.get("REMOTE_ADDR") or "")
    except ValueError:  # a unix socket has none
        return None
    if address.version == 4:
        return str(address)
    return str(ip_network((address, IPV6_SITE_BITS), strict=False).network_address)


def name_of(request: HttpRequest, credentials: Any = None) -> str:
    """Return the name that is tried; of one that is nobody's only a mark.

    People type their password into the wrong field: what is no account's name is not kept.
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
    """Answer somebody who failed too often: the sign-in page, and how long to wait.

    The answer is the same whether there is such an account or not.
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
    """Return after how many seconds none of the failures counts any more."""
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
