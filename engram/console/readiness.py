"""`/readyz`: readiness for everybody, details for operators."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from time import monotonic

from django.db import Error
from django.http import HttpRequest, JsonResponse
from django.utils import timezone
from psycopg_pool import PoolTimeout

from engram.console.health import Check, readiness
from engram.console.metrics_api import may_read
from engram.kernel import keys
from engram.kernel.models import Role

log = logging.getLogger(__name__)

LOG_SECONDS = 10.0
_logged_at = float("-inf")


def readyz(request: HttpRequest) -> JsonResponse:
    """Return whether database, broker and migrations are ready.

    Details contain addresses and roles: they are logged, and shown to callers who may read the
    metrics and to keys of the role admin.
    """
    checks = readiness()
    is_ready = all(check["ok"] for check in checks)
    if not is_ready:
        _log([check for check in checks if not check["ok"]])
    shown = checks if _may_see_details(request) else [_bare(check) for check in checks]
    body = {"status": "ready" if is_ready else "not ready", "checks": shown}
    response = JsonResponse(body, status=200 if is_ready else 503)
    response["Cache-Control"] = "no-store"
    return response


def _bare(check: Check) -> dict[str, str | bool]:
    return {"name": check["name"], "ok": check["ok"]}


def _log(failed: Sequence[Check]) -> None:
    """Log the failed checks, at most every ten seconds."""
    global _logged_at  # noqa: PLW0603  of this process
    if monotonic() - _logged_at < LOG_SECONDS:
        return
    _logged_at = monotonic()
    for check in failed:
        log.warning("not ready: %s: %s", check["name"], check["detail"])


def _may_see_details(request: HttpRequest) -> bool:
    """Return whether the caller may see details; without a database only a token can prove it."""
    try:
        return may_read(request) or _is_admin_key(request)
    except (Error, PoolTimeout):
        return False


def _is_admin_key(request: HttpRequest) -> bool:
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    key = keys.find(token.strip()) if scheme.lower() == "bearer" else None
    return key is not None and key.is_usable(timezone.now()) and key.role.includes(Role.ADMIN)
