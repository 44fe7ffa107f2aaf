"""The ASGI application: HTTP by Django, websockets by Channels, bodies bounded before they are read."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "engram.settings")

from channels.routing import ProtocolTypeRouter
from django.core.asgi import get_asgi_application

django_application = get_asgi_application()

from django.conf import settings

from engram.console.routing import websocket_application
from engram.kernel.body_limit import BodyLimit

application = ProtocolTypeRouter(
    {
        "http": BodyLimit(django_application, max_bytes=settings.MAX_BODY_BYTES),
        "websocket": websocket_application,
    }
)
