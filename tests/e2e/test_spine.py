"""The main job with everything running for real: a worker, a broker, a websocket, a decision."""

from __future__ import annotations

import json
import os
import signal
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from websockets.sync.client import ClientConnection, connect

from tests.e2e.test_up import Up, run_manage
from tests.homes import eventually, pids, throw_away

pytestmark = pytest.mark.xdist_group("up")
LOW = {"content": "The API rate limit is 1000 requests per second.", "scope": "auth"}
HIGH = {"content": "The API rate limit is 5000 requests per second.", "scope": "infra"}
QUESTION = {"query": "what is the rate limit of the API?"}


class Service:
    """A running product and a key to it."""

    def __init__(self, up: Up, tokens: dict[str, str]):
        self.up = up
        self.tokens = tokens

    def call(self, role: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Call the API; return the status and the parsed answer."""
        request = urllib.request.Request(
            f"{self.up.url}/api/v1/{path}",
            data=None if body is None else json.dumps(body).encode(),
            headers={
                "Authorization": f"Bearer {self.tokens[role]}",
                "Content-Type": "application/json",
            },
        )
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.load(error)

    def watch(self) -> ClientConnection:
        """Open the live stream."""
        return connect(
            f"{self.up.url.replace('http', 'ws')}/ws/live/",
            additional_headers={"Authorization": f"Bearer {self.tokens['agent']}"},
        )

    def open_cards(self) -> list[Any]:
        """Return the cards that wait."""
        found: list[Any] = self.call("agent", "conflicts?status=open")[1]["results"]
        return found


def wait_for(live: ClientConnection, type_: str, seconds: float = 30) -> dict[str, Any]:
    """Read the live stream until an event of the type comes."""
    deadline = time.monotonic() + seconds
    while (left := deadline - time.monotonic()) > 0:
        event: dict[str, Any] = json.loads(live.recv(timeout=left))
        if event["type"] == type_:
            return event
    raise AssertionError(f"no {type_} within {seconds} s")


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    home = Path(tmp_path_factory.mktemp("spine")) / "a home"
    with throw_away(home):
        up = Up(home)
        try:
            up.wait_until_ready()
            run_manage(home, "create_workspace", "acme")
            tokens = {
                role: run_manage(home, "create_key", "--workspace", "acme", "--role", role)
                for role in ("agent", "reviewer")
            }
            yield Service(up, {role: made.stdout.strip() for role, made in tokens.items()})
        finally:
            up.end_with(signal.SIGTERM)


def test_a_contradiction_goes_all_the_way(service: Service) -> None:
    with service.watch() as live:
        status, first = service.call("agent", "memories", LOW)
        assert status == 201
        committed = wait_for(live, "memory.committed")
        assert committed["data"]["object"] == first["memory"]["id"]
        _, second = service.call("agent", "memories", HIGH)
        opened = wait_for(live, "conflict.opened")
        card_id = opened["data"]["object"]
        _, card = service.call("agent", f"conflicts/{card_id}")
        members = [memory["id"] for memory in card["memories"]]
        assert members == [first["memory"]["id"], second["memory"]["id"]]
        _, before = service.call("agent", "memories/recall", QUESTION)
        assert {r["memory"]["id"] for r in before["results"]} == set(members)
        assert {r["disputed"] for r in before["results"]} == {True}
        status, _ = service.call(
            "reviewer",
            f"conflicts/{card_id}/resolve",
            {"verdict": "keep", "keep": members[1:], "version": card["version"]},
        )
        assert status == 200
        resolved = wait_for(live, "conflict.resolved")
        assert resolved["data"]["object"] == card_id
        assert resolved["seq"] > opened["seq"] > committed["seq"]
        _, after = service.call("agent", "memories/recall", QUESTION)
        assert [r["memory"]["id"] for r in after["results"]] == members[1:]
        assert after["results"][0]["disputed"] is False


def test_a_commit_while_the_broker_hangs_is_answered_and_read_later(service: Service) -> None:
    home = service.up.home
    redis = pids(home, r"redis-server")
    assert len(redis) == 1
    for pid in redis:
        os.kill(pid, signal.SIGSTOP)
    try:
        for content in ("The gate closes at 21:00.", "The gate closes at 23:00."):
            status, _ = service.call("agent", "memories", {"content": content, "scope": "gate"})
            assert status == 201
    finally:
        for pid in redis:
            os.kill(pid, signal.SIGCONT)
    assert eventually(lambda: any("gate" in c["question"] for c in service.open_cards()), 60)


def test_a_commit_while_the_worker_is_dead_is_read_later(service: Service) -> None:
    home = service.up.home
    for pid in pids(home, r"celery.*worker"):
        os.kill(pid, signal.SIGKILL)
    for content in ("The kiln heats to 900 degrees.", "The kiln heats to 1200 degrees."):
        assert service.call("agent", "memories", {"content": content, "scope": "kiln"})[0] == 201
    assert eventually(lambda: any("kiln" in c["question"] for c in service.open_cards()), 60)


def test_a_dead_database_is_a_503_and_nothing_is_half_written(service: Service) -> None:
    home = service.up.home
    _, before = service.call("agent", "memories?limit=200")
    for pid in pids(home, r"bin/postgres -D"):
        os.kill(pid, signal.SIGKILL)
    statuses = []
    deadline = time.monotonic() + 60
    number = 0
    while time.monotonic() < deadline and not (statuses and statuses[-1] == 201):
        number += 1
        status, body = service.call("agent", "memories", {"content": f"Lamp {number} is lit."})
        statuses.append(status)
        if status != 201:
            assert (status, body["title"]) == (503, "Service Unavailable")
            time.sleep(0.2)
    assert statuses[-1] == 201
    _, after = service.call("agent", "memories?limit=200")
    assert len(after["results"]) == len(before["results"]) + statuses.count(201)
