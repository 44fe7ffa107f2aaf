"""`manage.py mcp`: the Model Context Protocol on standard input and output."""

from __future__ import annotations

import asyncio
from argparse import ArgumentParser
from contextlib import suppress
from threading import Thread
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from engram.console.mcp import process
from engram.console.mcp.calls import InProcessApi
from engram.kernel import heartbeat, keys
from engram.kernel.body_limit import BodyLimit
from engram.kernel.embedding import EmbeddingUnavailableError, embed
from engram.kernel.request_threads import ThreadHandler


class Command(BaseCommand):
    """`manage.py mcp [--key KEY]`; with `--url` or `--snippets`, `manage.py` loads no Django."""

    help = (
        "Speak the Model Context Protocol on standard input and output, for a client that starts "
        "it. Without --url (or ENGRAM_URL) it works on this copy's own database, whether or not "
        "`make up` runs; background work then waits for the next `make up`."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the options."""
        process.add_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        """Serve this copy's own database until standard input ends."""
        if options["url"] or options["snippets"]:
            raise CommandError("run `python manage.py mcp` from a shell")
        key = process.target_of(None, options["key"]).key
        if not key:
            raise CommandError(process.NO_KEY)
        found = keys.find(key)
        if found is None or not found.is_usable(timezone.now()):
            raise CommandError("the key is unknown, revoked or expired")
        heartbeat.begin("mcp")
        Thread(target=_warm_up, daemon=True).start()
        api = InProcessApi(BodyLimit(ThreadHandler()), outer_request(key))
        try:
            with suppress(KeyboardInterrupt):
                asyncio.run(process.serve(api))
        finally:
            heartbeat.end()


def _warm_up() -> None:
    """Load the embedding model before a call waits for it."""
    with suppress(EmbeddingUnavailableError):  # reported by the calls that need it
        embed(["ready"])


def outer_request(key: str) -> dict[str, Any]:
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
