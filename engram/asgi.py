"""The ASGI application: HTTP by Django, websockets by Channels, bodies bounded on arrival."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "engram.settings")

from channels.routing import ProtocolTypeRouter
from django.core.asgi import get_asgi_application

django_application = get_asgi_application()  # loads the apps, which the imports below need

from django.conf import settings  # noqa: E402

from engram.console.routing import websocket_application  # noqa: E402
from engram.kernel import pulse  # noqa: E402
from engram.kernel.body_limit import BodyLimit  # noqa: E402

application = ProtocolTypeRouter(
    {
        "http": BodyLimit(django_application, max_bytes=settings.MAX_BODY_BYTES),
        "websocket": websocket_application,
    }
)

pulse.begin("web")
