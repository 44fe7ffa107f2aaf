"""A local HTTP server that speaks the protocol of OpenAI-compatible model providers.

Tests of provider code talk to it over a real socket; nothing is replaced inside the client.

    with ModelServer() as server:
        server.answer_embeddings(lambda texts: [[1.0, 0.0] for _ in texts])
        ... base_url=server.base_url ...
    assert server.requests[0].body["input"] == ["text"]
"""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.local_server import serve, stop


@dataclass(frozen=True)
class Request:
    """What a client sent."""

    path: str
    headers: dict[str, str]  # names in lower case
    body: dict[str, Any]


@dataclass(frozen=True)
class Answer:
    """What the server sends back; text is sent as it is, anything else as JSON."""

    body: Any
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    is_cut: bool = False  # hang up in the middle of the body
    trickle_seconds: float = 0.0  # between two bytes of the body


def completion(content: str | None, **message: Any) -> Answer:
    """Return the answer of a chat model that says `content`."""
    finish = message.pop("finish_reason", "stop")
    return Answer(
        {
            "id": "chat-1",
            "object": "chat.completion",
            "model": "stand-in",
            "choices": [
                {
                    "index": 0,
                    "finish_reason": finish,
                    "message": {"role": "assistant", "content": content, **message},
                }
            ],
            "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
        }
    )


Responder = Callable[[Request], Answer]


class ModelServer:
    """Answers POST requests by path, and remembers them."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self._responders: dict[str, Responder] = {}
        self._is_over = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> ModelServer:
        self._thread = serve(self._server)
        return self

    def stall(self, seconds: float) -> bool:
        """Wait within a responder, but not beyond the end of the test."""
        return self._is_over.wait(seconds)

    def __exit__(self, *exc: object) -> None:
        self._is_over.set()
        stop(self._server, self._thread)

    def answer(self, path: str, responder: Responder) -> None:
        """Answer POST ``/v1{path}`` with what the responder returns."""
        self._responders[f"/v1{path}"] = responder

    def answer_embeddings(self, vectors_of: Callable[[list[str]], Sequence[Any]]) -> None:
        """Answer ``/embeddings`` with one vector a text."""

        def respond(request: Request) -> Answer:
            vectors = vectors_of(request.body["input"])
            rows = [
                {"object": "embedding", "index": i, "embedding": vector}
                for i, vector in enumerate(vectors)
            ]
            return Answer({"object": "list", "model": request.body["model"], "data": rows})

        self.answer("/embeddings", respond)

    def answer_chat(self, *answers: Answer | Callable[[Request], Answer]) -> None:
        """Answer ``/chat/completions`` with each in turn, the last one for good."""
        waiting = list(answers)
        lock = threading.Lock()

        def respond(request: Request) -> Answer:
            with lock:
                answer = waiting.pop(0) if len(waiting) > 1 else waiting[0]
            return answer(request) if callable(answer) else answer

        self.answer("/chat/completions", respond)

    def _send(self, handler: BaseHTTPRequestHandler, answer: Answer, sent: bytes) -> None:
        if answer.is_cut:
            handler.wfile.write(sent[: len(sent) // 2])
            handler.wfile.flush()
            handler.connection.shutdown(socket.SHUT_RDWR)
            return
        if not answer.trickle_seconds:
            handler.wfile.write(sent)
            return
        for byte in sent:
            if self._is_over.wait(answer.trickle_seconds):
                return
            handler.wfile.write(bytes([byte]))
            handler.wfile.flush()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                length = int(self.headers.get("Content-Length", 0))
                headers = {name.lower(): value for name, value in self.headers.items()}
                body = json.loads(self.rfile.read(length) or b"{}")
                request = Request(self.path, headers, body)
                owner.requests.append(request)
                responder = owner._responders.get(self.path)
                answer = responder(request) if responder else Answer({"error": "path"}, 404)
                is_text = isinstance(answer.body, str)
                sent = (answer.body if is_text else json.dumps(answer.body)).encode()
                self.send_response(answer.status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(sent)))
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                with suppress(OSError):  # a client that waited long enough has hung up
                    owner._send(self, answer, sent)

            def handle(self) -> None:
                with suppress(ConnectionError):
                    super().handle()

            def log_message(self, *args: object) -> None:
                """Keep test output quiet."""

        return Handler
