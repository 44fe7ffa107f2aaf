"""HTTP requests on threads that last."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.signals import request_finished, request_started
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.urls import path
from django.views.decorators.csrf import csrf_exempt

from engram.kernel.request_threads import ThreadHandler

barrier = threading.Barrier(2, timeout=10)
may_end = threading.Event()


def say(request: HttpRequest) -> HttpResponse:
    response = HttpResponse(request.body or request.GET.get("text", "nothing"), status=201)
    response.set_cookie("seen", "1")
    return response


def stream(request: HttpRequest) -> StreamingHttpResponse:
    return StreamingHttpResponse((b"a", b"b"))


def meet(request: HttpRequest) -> HttpResponse:
    barrier.wait()
    return HttpResponse(threading.current_thread().name)


def wait(request: HttpRequest) -> HttpResponse:
    assert may_end.wait(10)
    return HttpResponse("waited")


def fail(request: HttpRequest) -> HttpResponse:
    raise ValueError("no")


urlpatterns = [path(view.__name__, csrf_exempt(view)) for view in (say, stream, meet, wait, fail)]

BODY = {"type": "http.request", "body": b""}
LEFT = {"type": "http.disconnect"}
Answer = tuple[int, dict[bytes, bytes], bytes]


class Server:
    """Sends requests to a handler; answers are (status, headers, body), status 0 for none."""

    def __init__(self, **limits: int) -> None:
        self.handler = ThreadHandler(**limits)

    async def send(
        self, name: str, *received: dict[str, Any], query: bytes = b"", method: str = "POST"
    ) -> Answer:
        """Send a request whose client stays, unless it leaves after what is received."""
        waiting, sent = list(received or [BODY]), []

        async def receive() -> dict[str, Any]:
            if not waiting:
                await asyncio.Event().wait()
            return waiting.pop(0)

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)

        headers = [(b"host", b"localhost")]
        scope = {"type": "http", "method": method, "path": f"/{name}", "query_string": query,
                 "headers": headers}  # fmt: skip
        await self.handler(scope, receive, send)
        if not sent:
            return 0, {}, b""
        body = b"".join(message.get("body", b"") for message in sent[1:])
        return sent[0]["status"], dict(sent[0]["headers"]), body

    def call(self, name: str, *received: dict[str, Any], **more: Any) -> Answer:
        """Send one request and return its answer."""
        return asyncio.run(self.send(name, *received, **more))

    async def until(self, requests: int) -> None:
        """Wait until so many requests are served or wait."""
        async with asyncio.timeout(10):
            while self.handler._requests != requests:
                await asyncio.sleep(0.001)


@pytest.fixture(autouse=True)
def _routes(settings: Any) -> Iterator[None]:
    settings.ROOT_URLCONF = __name__
    may_end.clear()
    yield
    may_end.set()


@pytest.fixture
def signals() -> Iterator[list[str]]:
    """Collect the signals of requests with the threads that sent them."""
    seen: list[str] = []

    def started(**_: Any) -> None:
        seen.append(f"started in {threading.current_thread().name}")

    def finished(**_: Any) -> None:
        seen.append(f"finished in {threading.current_thread().name}")

    request_started.connect(started)
    request_finished.connect(finished)
    yield seen
    request_started.disconnect(started)
    request_finished.disconnect(finished)


def test_a_body_in_parts_arrives_whole_and_cookies_leave() -> None:
    parts = [
        {"type": "http.request", "body": b"a memory ", "more_body": True},
        {"type": "http.request", "body": b"in two parts"},
    ]
    status, headers, body = Server().call("say", *parts)
    assert (status, body) == (201, b"a memory in two parts")
    assert headers[b"Set-Cookie"].startswith(b"seen=1")


@pytest.mark.parametrize(("view", "status"), [("say", 201), ("fail", 500)])
def test_the_signals_of_a_request_are_sent_in_its_thread(
    view: str, status: int, signals: list[str]
) -> None:
    """Django frees the connection to the database of the thread that sends them."""
    assert Server().call(view)[0] == status
    assert signals == ["started in request_0", "finished in request_0"]


def test_an_error_after_a_request_leaves_its_answer() -> None:
    def break_down(**_: Any) -> None:
        raise ValueError("after the answer")

    request_finished.connect(break_down)
    try:
        assert Server().call("say")[0] == 201
    finally:
        request_finished.disconnect(break_down)


def test_a_request_without_its_body_is_dropped(signals: list[str]) -> None:
    assert Server().call("say", LEFT)[0] == 0
    assert signals == []


def test_a_query_in_no_known_encoding_is_read_as_it_is() -> None:
    assert Server().call("say", query=b"text=%ff")[0] == 201


def test_requests_are_served_at_the_same_time_by_threads_that_last() -> None:
    server = Server(most_threads=2)

    async def pairs() -> list[Answer]:
        first = await asyncio.gather(server.send("meet"), server.send("meet"))
        return [*first, *await asyncio.gather(server.send("meet"), server.send("meet"))]

    names = [body for _, _, body in asyncio.run(pairs())]
    assert set(names) == {b"request_0", b"request_1"}


def test_a_request_whose_client_leaves_while_it_waits_is_never_served(signals: list[str]) -> None:
    server = Server(most_threads=1)

    async def leave() -> tuple[Answer, Answer]:
        served = asyncio.ensure_future(server.send("wait"))
        await server.until(1)
        gone = await server.send("say", BODY, LEFT)
        may_end.set()
        return await served, gone

    served, gone = asyncio.run(leave())
    assert (served[2], gone[0]) == (b"waited", 0)
    assert len(signals) == 2


def test_more_requests_than_may_wait_are_refused_until_one_is_served() -> None:
    server = Server(most_threads=1, most_requests=2)

    async def crowd() -> list[int]:
        accepted = [asyncio.ensure_future(server.send(name)) for name in ("wait", "say")]
        await server.until(2)
        refused, headers, body = await server.send("say")
        assert headers[b"retry-after"] == b"1"
        assert json.loads(body)["type"] == "/problems/service-unavailable"
        may_end.set()
        return [refused, *[(await one)[0] for one in accepted], (await server.send("say"))[0]]

    assert asyncio.run(crowd()) == [503, 200, 201, 201]


def test_a_response_that_is_not_whole_is_refused() -> None:
    with pytest.raises(TypeError, match="whole"):
        Server().call("stream")
