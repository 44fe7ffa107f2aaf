"""Clients of the HTTP API: threads of this process, each with a connection of its own.

A client waits for each response before its next request, so the load is as high as the service
answers. The threads only send, wait and parse a little; their processor time is reported, because
they share the processors with what they measure.
"""

from __future__ import annotations

import http.client
import json
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

import numpy as np

PERCENT = {"recall": 60, "commit": 25, "session start": 10, "others": 5}
OTHERS = ("list", "read", "prompt", "feedback")


@dataclass(slots=True)
class Texts:
    """What the clients send; iterators that threads share, because their `next` is in C."""

    questions: Iterator[str]
    statements: Iterator[str]
    numbers: Iterator[int]


@dataclass(slots=True)
class Measured:
    """Latencies in seconds by kind of call, and statuses of failed calls."""

    seconds: dict[str, list[float]] = field(default_factory=lambda: {kind: [] for kind in PERCENT})
    failed: Counter[str] = field(default_factory=Counter)
    elapsed: float = 0.0
    own_cpu: float = 0.0

    def add(self, other: Measured) -> None:
        """Add what another client measured."""
        for kind, values in other.seconds.items():
            self.seconds[kind] += values
        self.failed += other.failed

    def table(self) -> dict[str, dict[str, float]]:
        """Return a row for each kind of call, and one for all of them."""
        every = [value for values in self.seconds.values() for value in values]
        return {
            kind: _row(values, self.elapsed)
            for kind, values in {**self.seconds, "all": every}.items()
            if values
        }


def _row(seconds: list[float], elapsed: float) -> dict[str, float]:
    p50, p95, p99 = np.percentile(seconds, [50, 95, 99]) * 1000
    return {
        "calls": len(seconds),
        "a_second": round(len(seconds) / elapsed, 1),
        "p50_ms": round(float(p50), 1),
        "p95_ms": round(float(p95), 1),
        "p99_ms": round(float(p99), 1),
    }


class Client:
    """One agent: a connection, its session, and a memory that it knows."""

    def __init__(self, address: str, token: str, texts: Texts, seed: int) -> None:
        self._connection = http.client.HTTPConnection(address, timeout=120)
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        self._texts = texts
        self._rng = random.Random(seed)
        self._session = ""
        self._given: list[str] = []
        self.measured = Measured()

    def run(self, is_over: Callable[[], bool]) -> None:
        """Call until it is over."""
        kinds, weights = list(PERCENT), list(PERCENT.values())
        self._count("session start")
        while not is_over():
            self._count(self._rng.choices(kinds, weights)[0])
        self._connection.close()

    def _count(self, kind: str) -> None:
        start = time.perf_counter()
        try:
            status = self._call(kind)
        except (OSError, http.client.HTTPException) as error:
            self._connection.close()  # the next request opens it again
            status = type(error).__name__
        if status:
            self.measured.failed[f"{kind}: {status}"] += 1
        else:
            self.measured.seconds[kind].append(time.perf_counter() - start)

    def _call(self, kind: str) -> str:
        """Make one call; return the status if it failed."""
        if kind == "recall":
            return self._send("memories/recall", {"query": next(self._texts.questions)})[0]
        if kind == "commit":
            return self._send("memories", {"content": next(self._texts.statements)})[0]
        if kind == "session start":
            self._session = f"load-{next(self._texts.numbers)}"
            body = {"session_key": self._session, "context": next(self._texts.questions)}
            failed, answer = self._send("sessions", body)
            self._given = [] if failed else [row["id"] for row in answer["memories"]]
            return failed
        return self._call_other(self._rng.choice(OTHERS))

    def _call_other(self, kind: str) -> str:
        session = f"sessions/{quote(self._session, safe='')}"
        if kind == "read" and self._given:
            return self._send(f"memories/{self._given[0]}")[0]
        if kind == "prompt":
            return self._send(f"{session}/prompts", {"prompt": next(self._texts.questions)})[0]
        if kind == "feedback" and self._given:
            return self._send(f"{session}/feedback", {"memory_id": self._given[0], "value": 1})[0]
        return self._send("memories?limit=20")[0]

    def _send(self, path: str, body: dict[str, Any] | None = None) -> tuple[str, Any]:
        """Send a request; return the status if it is no success, and the parsed answer."""
        self._connection.request(
            "GET" if body is None else "POST",
            f"/api/v1/{path}",
            None if body is None else json.dumps(body),
            self._headers,
        )
        response = self._connection.getresponse()
        received = response.read()
        return ("" if response.status < 300 else str(response.status)), json.loads(received or "{}")


def run_clients(
    count: int, address: str, token: str, texts: Texts, is_over: Callable[[], bool]
) -> Measured:
    """Run so many clients until it is over."""
    clients = [Client(address, token, texts, seed) for seed in range(count)]
    threads = [threading.Thread(target=client.run, args=[is_over]) for client in clients]
    together = Measured()
    start, own = time.perf_counter(), time.process_time()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    together.elapsed = time.perf_counter() - start
    together.own_cpu = time.process_time() - own
    for client in clients:
        together.add(client.measured)
    return together
