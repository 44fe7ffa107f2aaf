"""Read forwarded headers, only from the proxies that the settings trust."""

from __future__ import annotations

from ipaddress import IPv6Address, ip_address
from typing import Any, cast

from django.http import HttpRequest
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from engram.kernel.asgi_messages import Application, Receive, Send

FORWARDED_HEADERS = frozenset(
    {
        b"forwarded",
        b"x-forwarded-for",
        b"x-forwarded-host",
        b"x-forwarded-port",
        b"x-forwarded-prefix",
        b"x-forwarded-proto",
        b"x-forwarded-server",
        b"x-forwarded-ssl",
        b"x-real-ip",
    }
)
_WAS_FORWARDED, _PEER = "engram.was_forwarded", "engram.peer"


class TrustedProxies:
    """ASGI middleware: sets the client's address and the scheme from what trusted proxies forward.

    The client is the right-most address of `X-Forwarded-For` that is not a trusted proxy. Forwarded
    headers are always removed, so that nothing reads them by mistake.
    """

    def __init__(self, application: Application, *, trusted: list[str]):
        self.application = application
        self._believing = ProxyHeadersMiddleware(cast(Any, self._serve), trusted)

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        """Serve the request or the websocket with the address and scheme of its client."""
        if scope["type"] not in {"http", "websocket"}:
            await self.application(scope, receive, send)
            return
        peer = scope.get("client")
        if peer:
            peer = (_plain(peer[0]), peer[1])
        scope = {**scope, "client": peer, _PEER: peer}
        await self._believing(cast(Any, scope), cast(Any, receive), cast(Any, send))

    async def _serve(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        """Remove the headers, and a client address that is not an IP, such as `unknown`."""
        headers = [pair for pair in scope["headers"] if pair[0] not in FORWARDED_HEADERS]
        scope[_WAS_FORWARDED] = len(headers) < len(scope["headers"])
        scope["headers"] = headers
        peer, client = scope.pop(_PEER), scope.get("client")
        if client is not None and client != peer:
            address = _plain(client[0])
            scope["client"] = (address, client[1]) if _is_address(address) else peer
        await self.application(scope, receive, send)


def was_forwarded(request: HttpRequest) -> bool:
    """Return whether the request had forwarded headers."""
    return bool(getattr(request, "scope", {}).get(_WAS_FORWARDED))


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def _plain(host: str) -> str:
    """Return an IPv4-mapped IPv6 address as IPv4."""
    try:
        address = ip_address(host)
    except ValueError:
        return host
    if isinstance(address, IPv6Address) and address.ipv4_mapped:
        return str(address.ipv4_mapped)
    return host
