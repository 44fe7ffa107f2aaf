"""Who may call `/mcp`, from where, at what rate, and with which bodies."""

from __future__ import annotations

import math

from django.conf import settings
from django.db import close_old_connections
from django.http.request import split_domain_port, validate_host
from django.utils import timezone
from mcp import types
from rest_framework.exceptions import ParseError

from engram.kernel import keys
from engram.kernel.authentication import CLOSED
from engram.kernel.body_limit import BODY_VALUES
from engram.kernel.causes import WORKSPACE_CLOSED
from engram.kernel.parsing import holds_more_values, parse_json
from engram.kernel.throttling import seconds_to_wait

REFUSED = -32001  # of the codes that the protocol leaves to servers
Headers = dict[bytes, bytes]


class NotAdmittedError(Exception):
    """A request is refused before the protocol is served: HTTP status and JSON-RPC code."""

    def __init__(
        self, status: int, detail: str, *headers: tuple[bytes, bytes], code: int = REFUSED
    ):
        super().__init__(detail)
        self.status, self.detail, self.headers, self.code = status, detail, headers, code


def check_origin(headers: Headers) -> None:
    """Refuse a host that is not served here, and pages of other origins.

    A page whose name was made to lead to this address (DNS rebinding) sends its own name as the
    host. Behind a proxy the scheme and port of a page differ from those that arrive here, so that
    names are compared; other origins are listed in `ENGRAM_TRUSTED_ORIGINS`.
    """
    host = split_domain_port(headers.get(b"host", b"").decode("latin-1"))[0]
    if not host or not validate_host(host, settings.ALLOWED_HOSTS):
        raise NotAdmittedError(400, "This host is not served here: ENGRAM_ALLOWED_HOSTS.")
    origin = headers.get(b"origin", b"").decode("latin-1")
    if not origin or origin in settings.CSRF_TRUSTED_ORIGINS:
        return
    scheme, _, authority = origin.partition("://")
    name = split_domain_port(authority)[0]
    # A host of any name allows no page of any name.
    hosts = [allowed for allowed in settings.ALLOWED_HOSTS if allowed != "*"]
    if scheme not in {"http", "https"} or not name or not validate_host(name, hosts):
        raise NotAdmittedError(
            403, "Pages of this origin may not call; see ENGRAM_TRUSTED_ORIGINS."
        )


def check_caller(authorization: str) -> None:
    """Count a request as one read of its key; refuse an invalid key, and too many requests."""
    try:
        scheme, _, token = authorization.partition(" ")
        found = keys.find_with_workspace(token.strip()) if scheme.lower() == "bearer" else None
        if found is None or not found[0].is_valid(timezone.now()):
            realm = b"www-authenticate", b'Bearer realm="engram"'
            raise NotAdmittedError(
                401, "A valid key is needed: Authorization: Bearer <key>.", realm
            )
        key, workspace = found
        if key.is_closed:
            raise NotAdmittedError(WORKSPACE_CLOSED.status, CLOSED)
        if key.is_exempt_from_throttle:
            return
        seconds = seconds_to_wait(workspace, key.actor, is_read=True)
        if seconds is not None:
            again = str(max(math.ceil(seconds), 1))
            header = b"retry-after", again.encode()
            raise NotAdmittedError(429, f"Too many calls; try again in {again} s.", header)
    finally:
        close_old_connections()


def check_body(body: bytes) -> None:
    """Refuse a body that is not one JSON object within the limits of the API."""
    if holds_more_values(body, BODY_VALUES):
        detail = f"The body holds more than {BODY_VALUES} values."
        raise NotAdmittedError(413, detail, code=types.INVALID_REQUEST)
    try:
        frame = parse_json(body)
    except ParseError as error:
        raise NotAdmittedError(400, str(error.detail), code=types.PARSE_ERROR) from None
    if not isinstance(frame, dict):
        detail = "A body is one JSON-RPC object; there are no batches."
        raise NotAdmittedError(400, detail, code=types.INVALID_REQUEST)
