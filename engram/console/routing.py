"""Websocket routes. The origin is checked where a session is accepted: keys need no browser."""

from __future__ import annotations

from channels.auth import AuthMiddlewareStack
from channels.routing import URLRouter
from django.urls import path, re_path

from engram.console.consumers import LiveConsumer, NoSuchSocket

websocket_urlpatterns = [
    path("ws/live/", LiveConsumer.as_asgi()),
    re_path("", NoSuchSocket.as_asgi()),
]
websocket_application = AuthMiddlewareStack(URLRouter(websocket_urlpatterns))
