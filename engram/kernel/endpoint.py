"""The endpoint of a language model: one client an address, and what its server does not know."""

from __future__ import annotations

import json
import math
import threading
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final

from django.conf import settings

CONNECT_SECONDS: Final = 5.0
MAX_ANSWER_BYTES: Final = 1_000_000
LONGEST_RETRY_AFTER_SECONDS: Final = 86_400.0


class Endpoint:
    """A client, and what its server turned out not to know."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        from openai import OpenAI  # half a second that processes without a model can spare

        self._client = OpenAI(
            base_url=options.get("base_url"),
            api_key=options.get("api_key") or "none",  # local servers want no key
            max_retries=0,
        )
        self._unknown: dict[str, set[str]] = {}

    def unknown_parameters(self, model: str) -> frozenset[str]:
        """Return the parameters that the server does not know for a model."""
        return frozenset(self._unknown.get(model, ()))

    def note_unknown(self, model: str, parameter: str) -> None:
        """Do not send a parameter any more."""
        self._unknown.setdefault(model, set()).add(parameter)

    def post(self, body: Mapping[str, Any], *, seconds: float) -> Any:
        """Return the JSON of an answer that came whole within the time, however it trickles."""
        import httpx2

        ends_at = time.monotonic() + seconds
        limits = httpx2.Timeout(seconds, connect=min(CONNECT_SECONDS, seconds))
        raw = self._client.chat.completions.with_streaming_response
        received = bytearray()
        with raw.create(**body, timeout=limits) as response:
            for chunk in response.iter_bytes():
                received += chunk
                if time.monotonic() > ends_at:
                    raise TimeoutError
                if len(received) > MAX_ANSWER_BYTES:
                    raise ValueError("too long")
        return json.loads(received)


def never_sent(error: BaseException) -> bool:
    """Tell whether a call failed before the endpoint could read it: no connection was made."""
    import httpx2

    found: BaseException | None = error
    while found is not None:
        if isinstance(
            found,
            httpx2.ConnectError
            | httpx2.ConnectTimeout
            | httpx2.PoolTimeout
            | httpx2.ProxyError
            | httpx2.UnsupportedProtocol,
        ):
            return True
        found = found.__cause__
    return False


_lock = threading.Lock()
_endpoints: dict[tuple[Any, Any], Endpoint] = {}


def endpoint() -> Endpoint:
    """Return the endpoint that the settings name."""
    options = settings.ENGRAM_LLM
    key = (options.get("base_url"), options.get("api_key"))
    with _lock:
        if key not in _endpoints:
            _endpoints[key] = Endpoint(options)
        return _endpoints[key]


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that an endpoint asks to wait, given as seconds or as a date.

    A day at most; None when it says nothing that can be understood.
    """
    said = headers.get("retry-after", "").strip()
    try:
        seconds = float(said)
    except ValueError:
        try:
            at = parsedate_to_datetime(said)
            at = at if at.tzinfo else at.replace(tzinfo=UTC)
            seconds = (at - datetime.now(UTC)).total_seconds()
        except (ValueError, TypeError, ArithmeticError):  # "+99999999" is an offset to nowhere
            return None
    if not math.isfinite(seconds):
        return None
    return min(max(0.0, seconds), LONGEST_RETRY_AFTER_SECONDS)
