"""`manage.py mcp`: the Model Context Protocol on standard input and output."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from argparse import ArgumentParser
from contextlib import suppress
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone
from mcp.server.stdio import stdio_server

from engram.console.demo import demo_file
from engram.console.mcp.calls import Api, InProcessApi
from engram.console.mcp.remote import RemoteApi
from engram.console.mcp.server import make_server
from engram.kernel import heartbeat, keys
from engram.kernel.body_limit import BodyLimit
from engram.kernel.embedding import EmbeddingUnavailableError, embed
from engram.kernel.request_threads import ThreadHandler
from engram.supervisor.snippets import lines_of

NO_KEY = (
    "no key: give --key, set ENGRAM_KEY, or let `make up` make the demo; "
    "`manage.py create_key --workspace W --role agent` makes one"
)


class Command(BaseCommand):
    """`manage.py mcp [--url URL] [--key KEY] [--snippets]`."""

    help = (
        "Speak the Model Context Protocol on standard input and output, for a client that starts "
        "it. Without --url (or ENGRAM_URL) it works on this copy's own database, whether or not "
        "`make up` runs; background work then waits for the next `make up`."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the options."""
        parser.add_argument("--url", help="call a running Engram, such as http://127.0.0.1:8000")
        parser.add_argument("--key", help="the key (better in ENGRAM_KEY; else the demo's agent)")
        parser.add_argument(
            "--snippets",
            action="store_true",
            help="only print the settings with which clients connect by HTTP",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Serve until standard input ends."""
        url = str(options["url"] or os.environ.get("ENGRAM_URL") or "").rstrip("/")
        if url and (urlsplit(url).scheme not in {"http", "https"} or not urlsplit(url).netloc):
            raise CommandError(f"{url!r} is no address such as http://127.0.0.1:8000")
        demo = _read_demo()
        key = options["key"] or os.environ.get("ENGRAM_KEY") or ""
        if not key and url in {"", demo.get("url")}:  # its key is sent nowhere else
            key = demo.get("agent_key", "")
        if options["snippets"]:
            address = url or demo.get("url") or f"http://127.0.0.1:{settings.ENGRAM_PORT}"
            self.stdout.write("\n".join(lines_of(address, key or "egr_…")))
            return
        if not key:
            raise CommandError(NO_KEY)
        with suppress(KeyboardInterrupt):
            if url:
                asyncio.run(_serve_remote(url, key))
            else:
                _serve_here(key)


def _read_demo() -> dict[str, str]:
    try:
        found = json.loads(demo_file().read_text())
    except (OSError, ValueError):
        return {}
    return {str(name): str(value) for name, value in found.items()}


async def _serve_remote(url: str, key: str) -> None:
    api = RemoteApi(url, key)
    try:
        await _serve(api)
    finally:
        await api.close()


def _serve_here(key: str) -> None:
    """Serve this copy's own database, by the same handler as the web process."""
    found = keys.find(key)
    if found is None or not found.is_usable(timezone.now()):
        raise CommandError("the key is unknown, revoked or expired")
    heartbeat.begin("mcp")
    Thread(target=_warm_up, daemon=True).start()
    try:
        asyncio.run(_serve(InProcessApi(BodyLimit(ThreadHandler()), _outer_request(key))))
    finally:
        heartbeat.end()


def _warm_up() -> None:
    """Load the embedding model before a call waits for it."""
    with suppress(EmbeddingUnavailableError):  # reported by the calls that need it
        embed(["ready"])


def _outer_request(key: str) -> dict[str, Any]:
    """Return the request that calls of this process seem to come with."""
    named = [host for host in settings.ALLOWED_HOSTS if not host.startswith(("*", "."))]
    host = named[0] if named else "localhost"
    scheme, port = ("https", "") if settings.IS_PRODUCTION else ("http", f":{settings.ENGRAM_PORT}")
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "scheme": scheme,
        "root_path": "",
        "client": ("127.0.0.1", 0),
        "server": (host, settings.ENGRAM_PORT),
        "headers": [
            (b"host", f"{host}{port}".encode()),
            (b"authorization", f"Bearer {key}".encode()),
        ],
    }


async def _serve(api: Api) -> None:
    """Answer frames until standard input ends; other output goes to standard error meanwhile."""
    server = make_server(lambda _context: api)
    async with stdio_server() as (frames, answers):
        await server.run(frames, answers, server.create_initialization_options())
    sys.stdout.flush()
