"""Sends calls, blocking and not; both do the same by `Attempts`."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx

from engram_client._attempts import Attempts, Retry
from engram_client._calls import Call
from engram_client._version import __version__

T = TypeVar("T")
USER_AGENT = f"engram-client/{__version__}"
TIMEOUT = httpx.Timeout(60.0, connect=5.0)


class _Address:
    """Where the service is, and how this caller is known."""

    def __init__(self, url: str | None, key: str | None):
        url = url if url is not None else os.environ.get("ENGRAM_URL", "")
        key = (key if key is not None else os.environ.get("ENGRAM_KEY", "")).strip()
        if not url.startswith(("http://", "https://")):
            raise ValueError("url (or ENGRAM_URL) must begin with http:// or https://")
        if not key:
            raise ValueError("key (or ENGRAM_KEY) is missing")
        if not (key.isascii() and key.isprintable()) or " " in key:
            # Sent, it would be refused with a message that quotes it.
            raise ValueError("key (or ENGRAM_KEY) must be visible ASCII characters")
        self._base = url.rstrip("/").removesuffix("/api/v1") + "/api/v1"
        self._headers = {
            "Authorization": f"Bearer {key}",
            "Accept": "application/json",
            "User-Agent": USER_AGENT,
        }

    def request(self, call: Call[Any]) -> Mapping[str, Any]:
        """Return what httpx is called with."""
        keyed = {"Idempotency-Key": call.idempotency_key} if call.idempotency_key else {}
        return {
            "method": call.method,
            "url": self._base + call.path,
            "params": call.query or None,
            "json": call.body,
            "headers": self._headers | keyed,
        }


class Transport:
    """Sends calls, blocking."""

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        timeout: float | httpx.Timeout = TIMEOUT,
        retry: Retry | None = None,
        http: httpx.Client | None = None,
    ):
        self._address = _Address(url, key)
        self._retry = retry or Retry()
        self._http = http or httpx.Client(timeout=timeout)
        self._owns_http = http is None

    def send(self, call: Call[T]) -> T:
        """Send a call, again where that is safe, and return its answer."""
        attempts = Attempts(call, self._retry)
        while True:
            wait: float | None
            try:
                response = self._http.request(**self._address.request(call))
            except httpx.RequestError as error:
                wait = attempts.after_error(error)
            else:
                wait = attempts.after(response)
                if wait is None:
                    return attempts.answer(response)
            time.sleep(wait)

    def close(self) -> None:
        """Close the connections, unless they were handed in."""
        if self._owns_http:
            self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class AsyncTransport:
    """Sends calls without blocking the event loop."""

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        timeout: float | httpx.Timeout = TIMEOUT,
        retry: Retry | None = None,
        http: httpx.AsyncClient | None = None,
    ):
        self._address = _Address(url, key)
        self._retry = retry or Retry()
        self._http = http or httpx.AsyncClient(timeout=timeout)
        self._owns_http = http is None

    async def send(self, call: Call[T]) -> T:
        """Send a call, again where that is safe, and return its answer."""
        attempts = Attempts(call, self._retry)
        while True:
            wait: float | None
            try:
                response = await self._http.request(**self._address.request(call))
            except httpx.RequestError as error:
                wait = attempts.after_error(error)
            else:
                wait = attempts.after(response)
                if wait is None:
                    return attempts.answer(response)
            await asyncio.sleep(wait)

    async def close(self) -> None:
        """Close the connections, unless they were handed in."""
        if self._owns_http:
            await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()
