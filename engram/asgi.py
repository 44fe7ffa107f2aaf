"""The ASGI application: HTTP by Django, websockets by Channels, bodies bounded on arrival."""

import asyncio
import gc
import os
import sys
from contextlib import suppress
from threading import Thread
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "engram.settings")

import django
from channels.routing import ProtocolTypeRouter

django.setup(set_prefix=False)  # loads the apps, which the imports below need

from django.conf import settings  # noqa: E402
from django.urls import get_resolver  # noqa: E402

from engram.console.mcp.door import McpDoor  # noqa: E402
from engram.console.routing import websocket_application  # noqa: E402
from engram.kernel import heartbeat  # noqa: E402
from engram.kernel.alive import Alive  # noqa: E402
from engram.kernel.body_limit import BodyLimit  # noqa: E402
from engram.kernel.embedding import (  # noqa: E402
    EmbeddingUnavailableError,
    embed,
    has_token_states,
    model_name,
)
from engram.kernel.proxies import TrustedProxies  # noqa: E402
from engram.kernel.request_threads import ThreadHandler  # noqa: E402


async def lifespan(scope: Any, receive: Any, send: Any) -> None:
    """Serve when everything is loaded; report the process from then on, and its end.

    Connections wait in the queue of the socket meanwhile, so that the first request is as fast as
    later ones, and no process reports that it is ready before. Not earlier: the server handles
    signals from here on, and no `atexit` runs when one ends it.
    """
    async with mcp.running():
        while (await receive())["type"] != "lifespan.shutdown":
            await asyncio.to_thread(loading.join)
            heartbeat.begin("web")
            await send({"type": "lifespan.startup.complete"})
    await asyncio.to_thread(heartbeat.end)
    await send({"type": "lifespan.shutdown.complete"})


def load() -> None:
    """Have the routes and the local embedding model in memory before anybody waits for them.

    What was loaded stays: without looking at it again, each full collection of garbage takes a
    tenth of a second less, within which no other thread runs.
    """
    get_resolver().url_patterns  # noqa: B018  imports them
    if has_token_states(model_name()):  # an endpoint needs no loading
        with suppress(EmbeddingUnavailableError):  # reported by the requests that need it
            embed(["ready"])
    gc.collect()
    gc.freeze()
    # A recall makes some thousand objects, and few cycles: looking for them at every 700 took a
    # twentieth of its time.
    gc.set_threshold(50_000, 20, 50)


mcp = McpDoor(BodyLimit(ThreadHandler()))
protocols: Any = ProtocolTypeRouter(
    {
        "lifespan": lifespan,
        "http": Alive(mcp),
        "websocket": websocket_application,
    }
)
application = TrustedProxies(protocols, trusted=settings.ENGRAM_TRUSTED_PROXIES)

# A thread that computes gives way this often: the event loop waits for one turn of each of them.
sys.setswitchinterval(0.001)
loading = Thread(target=load, name="model", daemon=True)
loading.start()
