"""The HTTP client of a language model endpoint, with the parameters its server rejects."""

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
    """A client, and the parameters that its server rejected."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        from openai import OpenAI  # imported late: half a second

        self._client = OpenAI(
            base_url=options.get("base_url"),
            api_key=options.get("api_key") or "none",  # local servers want no key
            max_retries=0,
        )
        self._unknown: dict[str, set[str]] = {}

    def unknown_parameters(self, model: str) -> frozenset[str]:
        """Return the parameters that the server rejects for a model."""
        return frozenset(self._unknown.get(model, ()))

    def note_unknown(self, model: str, parameter: str) -> None:
        """Remember that the server rejects a parameter for a model."""
        self._unknown.setdefault(model, set()).add(parameter)

    def post(self, body: Mapping[str, Any], *, seconds: float) -> Any:
        """Return the JSON of a response; raise if it is not complete within `seconds`."""
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
    """Return whether a call failed before a connection was made."""
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
    """Return the configured endpoint."""
    options = settings.ENGRAM_LLM
    key = (options.get("base_url"), options.get("api_key"))
    with _lock:
        if key not in _endpoints:
            _endpoints[key] = Endpoint(options)
        return _endpoints[key]


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds of a `Retry-After` header, given as seconds or as a date.

    At most a day; None when there is no valid value.
    """
    value = headers.get("retry-after", "").strip()
    try:
        seconds = float(value)
    except ValueError:
        try:
            at = parsedate_to_datetime(value)
            at = at if at.tzinfo else at.replace(tzinfo=UTC)
            seconds = (at - datetime.now(UTC)).total_seconds()
        except (ValueError, TypeError, ArithmeticError):  # for example the offset "+99999999"
            return None
    if not math.isfinite(seconds):
        return None
    return min(max(0.0, seconds), LONGEST_RETRY_AFTER_SECONDS)
