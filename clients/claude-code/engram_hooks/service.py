"""Calls of Engram's API over one connection."""

from __future__ import annotations

import http.client
import json
from typing import Any
from urllib.parse import quote, urlsplit

ANSWER_MAX_BYTES = 2_000_000


class NotReachedError(Exception):
    """The service was not reached, or did not answer in full."""


class RefusedError(Exception):
    """The service refused a call; `cause` is the last part of the problem's type."""

    def __init__(self, status: int, cause: str, retry_after: float):
        super().__init__(f"{status} {cause}")
        self.status, self.cause, self.retry_after = status, cause, retry_after

    @property
    def is_passing(self) -> bool:
        """Whether the same call can succeed later."""
        passing = self.status in {401, 403, 404, 408, 425, 429} or self.status >= 500
        return passing or self.cause == "written-meanwhile" or 300 <= self.status < 400


class Service:
    """A connection with one key; redirects and proxies are not followed."""

    def __init__(self, url: str, key: str, seconds: float):
        parts = urlsplit(url)
        kind = (
            http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        )
        try:
            self._connection = kind(parts.hostname or "", parts.port, timeout=seconds)
        except (ValueError, http.client.HTTPException) as error:
            raise NotReachedError(type(error).__name__) from None
        self._base = parts.path.rstrip("/")
        if self._base.endswith("/api/v1"):
            self._base = self._base[: -len("/api/v1")]
        self._headers = {
            "Authorization": f"Bearer {key}",
            "Content-Type": "application/json",
            "Accept": "application/json",
            "User-Agent": "engram-claude-code/1",
        }

    def call(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return the answer to a call; raise `NotReachedError` or `RefusedError`."""
        sent = None if body is None else json.dumps(clean(body)).encode("ascii")
        try:
            self._connection.request(method, f"{self._base}/api/v1{path}", sent, self._headers)
            response = self._connection.getresponse()
            read = response.read(ANSWER_MAX_BYTES + 1)
        except (OSError, ValueError, http.client.HTTPException) as error:
            self.close()
            # Without the error's text: a refused header would be quoted there.
            raise NotReachedError(type(error).__name__) from None
        answer = _parsed(read)
        if not 200 <= response.status < 300:
            self.close()
            cause = str(answer.get("type") or "").rpartition("/")[2][:60]
            raise RefusedError(response.status, cause, _seconds(response.headers["Retry-After"]))
        return answer

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def start(self, key: str, **fields: Any) -> dict[str, Any]:
        """Start a session, or return what was injected into the one of this key."""
        return self.call("POST", "/sessions", {"session_key": key, **fields})

    def prompt(self, key: str, prompt: str) -> dict[str, Any]:
        """Count a prompt, and return the memories that it matches."""
        return self.call("POST", f"/sessions/{quote(key, safe='')}/prompts", {"prompt": prompt})

    def recall(self, key: str, query: str, k: int) -> dict[str, Any]:
        """Return the memories that are likely to be of use for a query."""
        body = {"query": query, "k": k, "session_key": key}
        return self.call("POST", "/memories/recall", body)

    def end(self, key: str, transcript: str, *, extract: bool) -> dict[str, Any]:
        """End a session; the same call again changes nothing."""
        body = {"transcript": transcript, "extract": extract}
        return self.call("POST", f"/sessions/{quote(key, safe='')}/end", body)


def clean(value: Any) -> Any:
    """Return JSON data without what the API refuses in texts: NUL and lone surrogates."""
    if isinstance(value, str):
        return value.replace("\0", "").encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, dict):
        return {name: clean(item) for name, item in value.items()}
    return value


def _parsed(read: bytes) -> dict[str, Any]:
    if len(read) > ANSWER_MAX_BYTES:
        return {}
    try:
        answer = json.loads(read)
    except (ValueError, RecursionError):
        return {}
    return answer if isinstance(answer, dict) else {}


def _seconds(header: str | None) -> float:
    """Return the seconds of a Retry-After header; 0 for none and for a date."""
    said = (header or "").strip()[:9]
    return float(said) if said.isascii() and said.isdigit() else 0.0
