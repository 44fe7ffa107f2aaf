"""The view of `/metrics` and its access control."""

from __future__ import annotations

import hmac

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_GET
from prometheus_client import CONTENT_TYPE_LATEST

from engram.console.metrics import exposition
from engram.kernel.proxies import was_forwarded

LOOPBACK = {"127.0.0.1", "::1"}


@require_GET
def metrics(request: HttpRequest) -> HttpResponse:
    """Return the metrics in Prometheus's text format."""
    if not may_read(request):
        message = "Send ENGRAM_METRICS_TOKEN as a bearer token.\n"
        refused = HttpResponse(message, status=401, content_type="text/plain; charset=utf-8")
        refused["WWW-Authenticate"] = 'Bearer realm="engram metrics"'
        return refused
    answer = HttpResponse(exposition(timezone.now()), content_type=CONTENT_TYPE_LATEST)
    answer["Cache-Control"] = "no-store"
    return answer


def may_read(request: HttpRequest) -> bool:
    """Allow the token, superusers, and without a configured token this machine.

    In production only the first two: behind a proxy every request comes from this machine.
    """
    if settings.ENGRAM_METRICS_TOKEN:
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        wanted = settings.ENGRAM_METRICS_TOKEN.encode()
        if scheme.lower() == "bearer" and hmac.compare_digest(
            token.encode("utf-8", "surrogatepass"), wanted
        ):
            return True
    if request.user.is_active and getattr(request.user, "is_superuser", False):
        return True
    is_direct = request.META.get("REMOTE_ADDR") in LOOPBACK and not was_forwarded(request)
    return is_direct and not settings.ENGRAM_METRICS_TOKEN and not settings.IS_PRODUCTION
