"""Two web processes, two workers, real servers: run by `make test-external` alone."""

from __future__ import annotations

import json
import os
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
import redis
from websockets.sync.client import connect

from tests.external.product import kill_worker

PATIENCE_SECONDS = 120
WEBS = os.environ.get("ENGRAM_EXTERNAL_WEBS", "").split()


def call(
    web: int, method: str, path: str, body: Any = None, *, role: str = "agent", **headers: str
) -> tuple[int, Any]:
    """Return the status and the answer of a call of one of the web processes."""
    request = urllib.request.Request(
        f"{WEBS[web]}/api/v1/{path}",
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={
            "Authorization": f"Bearer {os.environ[f'ENGRAM_EXTERNAL_{role.upper()}']}",
            "Content-Type": "application/json",
            **headers,
        },
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, json.loads(answer.read() or b"null")
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read() or b"null")


def eventually(found: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        if one := found():
            return one
        time.sleep(0.2)
    raise AssertionError("it did not come")


def contradict(subject: str) -> None:
    """Commit, by each web process, one of two statements that disagree."""
    for web, limit in enumerate((1000, 5000)):
        content = f"The {subject} rate limit is {limit} requests per second."
        assert call(web, "POST", "memories", {"content": content, "scope": subject})[0] == 201


def card_about(web: int, subject: str) -> Any:
    cards = call(web, "GET", "conflicts?status=open")[1]["results"]
    return next((card for card in cards if subject in card["question"]), None)


def test_there_are_two_web_processes_and_two_workers() -> None:
    def processes() -> Any:
        found = call(0, "GET", "pipeline/status", role="admin")[1]["workers"]
        kinds = [one["kind"] for one in found]
        return found if kinds.count("web") >= 2 and kinds.count("worker") >= 2 else None

    assert eventually(processes)
    assert len(set(WEBS)) == 2


def test_tasks_go_through_the_broker_that_is_named() -> None:
    with redis.Redis.from_url(os.environ["ENGRAM_EXTERNAL_REDIS"]) as client:
        has_queues = bool(client.keys("_kombu.*"))  # what Celery writes down on a Redis broker
    assert has_queues is (os.environ["ENGRAM_EXTERNAL_BROKER"] == "redis")


def test_what_one_commits_the_other_recalls_and_a_worker_reads() -> None:
    contradict("gateway")
    for web in (0, 1):
        answer = call(web, "POST", "memories/recall", {"query": "gateway rate limit", "k": 2})[1]
        assert len(answer["results"]) == 2
    card = eventually(lambda: card_about(1, "gateway"))
    verdict = {"verdict": "yes", "version": card["version"]}
    path = f"conflicts/{card['id']}/resolve"
    assert call(1, "POST", path, verdict, role="reviewer")[0] == 200
    status, again = call(0, "POST", path, verdict, role="reviewer")
    assert (status, again["status"]) == (409, 409)


def test_live_events_cross_processes() -> None:
    key = os.environ["ENGRAM_EXTERNAL_AGENT"]
    address = WEBS[1].replace("http", "ws") + "/ws/live/"
    with connect(address, additional_headers={"Authorization": f"Bearer {key}"}) as live:
        contradict("ledger")
        deadline = time.monotonic() + PATIENCE_SECONDS
        types: set[str] = set()
        while "conflict.opened" not in types:
            types.add(json.loads(live.recv(timeout=deadline - time.monotonic()))["type"])
    assert "memory.committed" in types


def test_an_idempotency_key_counts_in_both_processes() -> None:
    body, key = {"content": f"The mailer is {uuid4()}."}, str(uuid4())
    first = call(0, "POST", "memories", body, **{"Idempotency-Key": key})
    assert call(1, "POST", "memories", body, **{"Idempotency-Key": key}) == first


def test_without_one_worker_the_other_goes_on() -> None:
    kill_worker(0)
    contradict("scheduler")
    assert eventually(lambda: card_about(0, "scheduler"))


if not WEBS:
    pytest.skip("run by `make test-external`", allow_module_level=True)
