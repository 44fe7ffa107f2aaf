"""Forwarded headers count from proxies that the settings name, for HTTP and for websockets."""

from __future__ import annotations

import asyncio
import http.client
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from engram.kernel.proxies import TrustedProxies
from tests.homes import ENVIRONMENT, PATIENCE_SECONDS, SOURCE

PROXY, CLIENT = "10.0.0.1", "203.0.113.9"


def seen(
    peer: str | None, trusted: str = PROXY, kind: str = "http", **headers: str
) -> dict[str, Any]:
    """Return the scope that the application gets for a request of this peer."""
    scopes = []

    async def application(scope: dict[str, Any], _receive: Any, _send: Any) -> None:
        scopes.append(scope)

    pairs = [(name.replace("_", "-").encode(), text.encode()) for name, text in headers.items()]
    scope = {
        "type": kind,
        "scheme": "http" if kind == "http" else "ws",
        "client": (peer, 4000) if peer else None,
        "headers": [(b"host", b"engram.example.com"), *pairs],
    }
    middleware = TrustedProxies(application, trusted=[t for t in trusted.split(",") if t])
    asyncio.run(middleware(scope, None, None))  # type: ignore[arg-type]
    assert scopes[0]["headers"] == [(b"host", b"engram.example.com")]
    return scopes[0]


def address(scope: dict[str, Any]) -> str:
    return str(scope["client"][0])


@pytest.mark.parametrize("kind", ["http", "websocket"])
def test_trusted_proxy_says_who_asks_and_how(kind: str) -> None:
    scope = seen(PROXY, kind=kind, x_forwarded_for=CLIENT, x_forwarded_proto="https")
    assert (address(scope), scope["scheme"]) == (
        CLIENT,
        {"http": "https", "websocket": "wss"}[kind],
    )


@pytest.mark.parametrize("kind", ["http", "websocket"])
@pytest.mark.parametrize(("peer", "trusted"), [("127.0.0.1", ""), (CLIENT, PROXY), ("::1", PROXY)])
def test_nobody_else_does(peer: str, trusted: str, kind: str) -> None:
    scope = seen(
        peer,
        trusted,
        kind,
        x_forwarded_for="198.51.100.7",
        x_forwarded_proto="https",
        x_forwarded_host="evil.example.com",
        x_real_ip="198.51.100.7",
        forwarded="for=198.51.100.7;proto=https",
    )
    assert (address(scope), scope["scheme"]) == (peer, "http" if kind == "http" else "ws")


@pytest.mark.parametrize(
    ("forwarded", "expected"),
    [
        (CLIENT, CLIENT),
        (f"198.51.100.7, {CLIENT}", CLIENT),  # the left one is what the client claims
        (f"{CLIENT}, 10.0.0.2", CLIENT),  # two proxies
        (f"{CLIENT}:51234", CLIENT),
        ("[2001:db8::7]:443", "2001:db8::7"),
        (f"::ffff:{CLIENT}", CLIENT),
        ("unknown", PROXY),
        ("<script>", PROXY),
        ("", PROXY),
        (f"{CLIENT}, unknown", PROXY),
    ],
)
def test_client_is_the_right_most_hop_that_is_no_proxy(forwarded: str, expected: str) -> None:
    assert address(seen(PROXY, "10.0.0.0/8", x_forwarded_for=forwarded)) == expected


def test_ipv4_peer_of_a_socket_that_speaks_both_is_named_as_ipv4() -> None:
    scope = seen(f"::ffff:{PROXY}", x_forwarded_for=CLIENT)
    assert address(scope) == CLIENT
    assert address(seen(f"::ffff:{CLIENT}")) == CLIENT


def test_peer_without_an_address_is_nobody_to_believe() -> None:
    assert seen(None, x_forwarded_for=CLIENT)["client"] is None


@pytest.fixture
def web() -> Iterator[Callable[[str], int]]:
    """Return a function that runs a web process of a production and returns its port."""
    running = []

    def start(trusted: str) -> int:
        listener = socket.create_server(("127.0.0.1", 0))
        listener.set_inheritable(True)
        process = subprocess.Popen(
            [sys.executable, "-m", "engram.supervisor.web", str(listener.fileno())],
            cwd=SOURCE,
            env={
                **ENVIRONMENT,
                "ENGRAM_ENV": "production",
                "ENGRAM_SECRET_KEY": "of-a-test-" * 8,
                "ENGRAM_ALLOWED_HOSTS": "engram.example.com",
                "DATABASE_URL": "postgres://engram@127.0.0.1:1/none",
                "BROKER_URL": "redis://127.0.0.1:1/0",
                "ENGRAM_TRUSTED_PROXIES": trusted,
                "ENGRAM_HOME": os.environ["ENGRAM_HOME"],
            },
            pass_fds=[listener.fileno()],
            stderr=subprocess.DEVNULL,
        )
        running.append((process, listener))
        return int(listener.getsockname()[1])

    yield start
    for process, listener in running:
        process.kill()  # at a stop it would wait for its database, which there is none of
        process.wait(timeout=PATIENCE_SECONDS)
        listener.close()


def location(port: int, **headers: str) -> str:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_SECONDS)
    connection.request("GET", "/", headers={"Host": "engram.example.com", **headers})
    try:
        return str(connection.getresponse().getheader("Location"))
    finally:
        connection.close()


def test_https_in_production_is_what_a_named_proxy_calls_so(web: Callable[[str], int]) -> None:
    forwarded = {"X-Forwarded-Proto": "https"}
    unnamed, named = web(""), web("127.0.0.1")
    assert location(unnamed, **forwarded) == "https://engram.example.com/"
    assert location(named) == "https://engram.example.com/"
    assert location(named, **forwarded) == "/admin/login/?next=/"


def test_mistyped_proxy_stops_the_process() -> None:
    for trusted in ("10.0.0.1/8", "nginx", "*"):
        done = subprocess.run(
            [sys.executable, "-c", "import engram.settings"],
            cwd=SOURCE,
            env={**ENVIRONMENT, "ENGRAM_TRUSTED_PROXIES": trusted},
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            check=False,
        )
        assert done.returncode == 1
        assert f"ENGRAM_TRUSTED_PROXIES holds {trusted!r}" in done.stderr
