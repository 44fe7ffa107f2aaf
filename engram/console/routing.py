"""Websocket routes. The origin is checked where a session is accepted: keys need no browser."""

from __future__ import annotations

from typing import Any

from channels.auth import AuthMiddlewareStack
from channels.routing import URLRouter
from django.urls import path, re_path

from engram.console.consumers import LiveConsumer, NoSuchSocket

# Django's stubs know views only, not ASGI applications.
websocket_urlpatterns: list[Any] = [
    path("ws/live/", LiveConsumer.as_asgi()),  # type: ignore[arg-type]
    re_path("", NoSuchSocket.as_asgi()),  # type: ignore[arg-type]
]
websocket_application = AuthMiddlewareStack(URLRouter(websocket_urlpatterns))
