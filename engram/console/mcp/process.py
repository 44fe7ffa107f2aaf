"""`manage.py mcp`: the protocol on standard input and output; loads no Django for a URL."""

from __future__ import annotations

import asyncio
import os
import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from mcp.server.stdio import stdio_server

from engram.console.mcp.calls import Api
from engram.console.mcp.remote import RemoteApi
from engram.console.mcp.server import make_server
from engram.embedded import home_folder
from engram.supervisor.snippets import lines_of
from engram.supervisor.terminal import read_demo

NO_KEY = (
    "no key: give --key, set ENGRAM_KEY, or let `make up` make the demo; "
    "`manage.py create_key --workspace W --role agent` makes one"
)


class CannotServeError(Exception):
    """The options name no key or no address to serve with."""


@dataclass(frozen=True, slots=True)
class Target:
    """What to serve: the Engram at a URL, or this copy's own database; and as whom."""

    url: str
    key: str


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--url", help="call a running Engram, such as http://127.0.0.1:8000")
    parser.add_argument("--key", help="the key (better in ENGRAM_KEY; else the demo's agent)")
    parser.add_argument(
        "--snippets",
        action="store_true",
        help="only print the settings with which clients connect by HTTP",
    )


def target_of(url: str | None, key: str | None) -> Target:
    """Return what the options, the environment and the demo name; the key may be missing."""
    url = (url or os.environ.get("ENGRAM_URL") or "").rstrip("/")
    if url and (urlsplit(url).scheme not in {"http", "https"} or not urlsplit(url).netloc):
        raise CannotServeError(f"{url!r} is no address such as http://127.0.0.1:8000")
    demo = read_demo(home_folder())
    key = key or os.environ.get("ENGRAM_KEY") or ""
    if not key and url in {"", demo.get("url")}:  # its key is sent nowhere else
        key = demo.get("agent_key", "")
    return Target(url, key)


def settings_of_clients(target: Target) -> str:
    """Return the settings with which clients connect by HTTP."""
    here = f"http://127.0.0.1:{os.environ.get('ENGRAM_PORT', '8000')}"
    url = target.url or read_demo(home_folder()).get("url") or here
    return "\n".join(lines_of(url, target.key or "egr_…"))


async def serve(api: Api) -> None:
    """Answer frames until standard input ends; other output goes to standard error meanwhile."""
    server = make_server(lambda _context: api)
    async with stdio_server() as (frames, answers):
        await server.run(frames, answers, server.create_initialization_options())


async def _serve_url(target: Target) -> None:
    api = RemoteApi(target.url, target.key)
    try:
        await serve(api)
    finally:
        await api.close()


def main(arguments: Sequence[str]) -> int:
    """Serve the Engram at a URL, or print the settings of clients; return the exit status."""
    parser = ArgumentParser(prog="manage.py mcp")
    add_arguments(parser)
    options: Any = parser.parse_args(arguments)
    try:
        target = target_of(options.url, options.key)
        if options.snippets:
            sys.stdout.write(f"{settings_of_clients(target)}\n")
            return 0
        if not target.key:
            raise CannotServeError(NO_KEY)
    except CannotServeError as error:
        sys.stderr.write(f"engram: {error}\n")
        return 1
    with suppress(KeyboardInterrupt):
        asyncio.run(_serve_url(target))
    return 0
