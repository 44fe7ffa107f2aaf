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
from urllib.parse import quote

import pytest
from websockets.sync.client import ClientConnection, connect

from tests.e2e.test_up import Up, run_manage
from tests.homes import PATIENCE_SECONDS, eventually, pids, throw_away
from tests.prepared_home import prepare

pytestmark = pytest.mark.xdist_group("up")
LOW = {"content": "The API rate limit is 1000 requests per second.", "scope": "auth"}
HIGH = {"content": "The API rate limit is 5000 requests per second.", "scope": "infra"}
QUESTION = {"query": "what is the rate limit of the API?"}


class Service:
    """A running product and a key to it."""

    def __init__(self, up: Up, tokens: dict[str, str]):
        self.up = up
        self.tokens = tokens

    def call(
        self, role: str, path: str, body: Any = None, *, method: str | None = None
    ) -> tuple[int, Any]:
        """Call the API; return the status and the parsed answer.

        A 500 fails the test with what the service printed, its traceback among it.
        """
        request = urllib.request.Request(
            f"{self.up.url}/api/v1/{path}",
            data=None if body is None else json.dumps(body).encode(),
            headers={
                "Authorization": f"Bearer {self.tokens[role]}",
                "Content-Type": "application/json",
            },
            method=method,
        )
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                status, problem = error.code, json.load(error)
        assert status != 500, "\n".join([str(problem), *self.up.lines[-80:]])
        return status, problem

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


def wait_for(live: ClientConnection, type_: str) -> dict[str, Any]:
    """Read the live stream until an event of the type comes."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while (left := deadline - time.monotonic()) > 0:
        event: dict[str, Any] = json.loads(live.recv(timeout=left))
        if event["type"] == type_:
            return event
    raise AssertionError(f"no {type_} within {PATIENCE_SECONDS} s")


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    home = Path(tmp_path_factory.mktemp("spine")) / "a home"
    with throw_away(home):
        up = Up(prepare(home))
        try:
            up.wait_until_ready()
            run_manage(home, "create_workspace", "acme")
            tokens = {
                role: run_manage(home, "create_key", "--workspace", "acme", "--role", role)
                for role in ("agent", "reviewer", "admin")
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
    assert eventually(lambda: any("gate" in c["question"] for c in service.open_cards()))


def test_a_commit_while_the_worker_is_dead_is_read_later(service: Service) -> None:
    home = service.up.home
    for pid in pids(home, r"celery.*worker"):
        os.kill(pid, signal.SIGKILL)
    for content in ("The kiln heats to 900 degrees.", "The kiln heats to 1200 degrees."):
        assert service.call("agent", "memories", {"content": content, "scope": "kiln"})[0] == 201
    assert eventually(lambda: any("kiln" in c["question"] for c in service.open_cards()))


def test_a_dead_database_is_a_503_and_nothing_is_half_written(service: Service) -> None:
    home = service.up.home
    _, before = service.call("agent", "memories?limit=200")
    for pid in pids(home, r"bin/postgres -D"):
        os.kill(pid, signal.SIGKILL)
    statuses = []
    deadline = time.monotonic() + PATIENCE_SECONDS
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


FACTS = {
    "kiln": "The kiln in the pottery studio fires at 1240 degrees for nine hours.",
    "glaze": "Celadon glaze is mixed from feldspar, silica and a little iron oxide.",
    "wheel": "The potter's wheel needs its drive belt tightened every third month.",
    "orchard": "The apple orchard is pruned in February, before the sap rises.",
    "bees": "The beehives beside the orchard are inspected on dry Sunday mornings.",
    "cider": "Cider ferments in oak barrels until the middle of March.",
    "harbour": "The lighthouse lamp is replaced by the harbour master each autumn.",
    "tide": "Spring tides flood the lower quay up to the second iron ring.",
    "rope": "Mooring ropes thicker than forty millimetres are stored in the dry loft.",
    "library": "Overdue library books cost twenty cents a day after one free week.",
    "archive": "The newspaper archive of the library lives on microfilm in the cellar.",
    "reading": "Reading evenings for children begin at half past five on Thursdays.",
}
TOPICS = (("kiln", "glaze", "wheel"), ("orchard", "bees", "cider"), ("harbour", "tide", "rope"))


def work(service: Service, number: int) -> str:
    """Hold one session about a topic, from its start to its end; return its key."""
    topic = TOPICS[number % len(TOPICS)]
    key = f"shift {number}/{topic[0]}"
    address = quote(key, safe="")
    context = f"A day of work: {FACTS[topic[0]]}"
    status, started = service.call(
        "agent", "sessions", {"session_key": key, "context": context, "k": 3}
    )
    assert status == 201
    assert len(started["memories"]) == 3
    service.call("agent", f"sessions/{address}/prompts", {"prompt": FACTS[topic[1]]})
    said = [f"User: tell me more.\nAgent: {FACTS[name]}" for name in topic]
    said += [
        "User: thank you. I have to prepare the visitors' tour of next weekend, write a list,",
        "call three neighbours about borrowed ladders, answer an invoice, mend the broken window.",
        "Agent: the list is ready; flour, nails, lamp oil, two brushes and a padlock are on it.",
        "User: perfect, print it twice and remind me tomorrow after breakfast.",
    ]
    status, _ = service.call("agent", f"sessions/{address}/end", {"transcript": "\n".join(said)})
    assert status == 202
    return key


def test_a_predictor_learns_from_sessions_and_takes_part_in_the_next(service: Service) -> None:
    changed = {
        "predictor_mode": "on",
        "min_training_sessions": 6,
        "train_interval_sessions": 6,
        "score_timeout_ms": 10_000,  # a busy machine is another matter
    }
    assert service.call("admin", "workspace/settings", changed, method="PATCH")[0] == 200
    drafts = [{"content": text} for text in FACTS.values()]
    assert service.call("agent", "memories/batch", {"memories": drafts})[0] == 201
    with service.watch() as live:
        keys = [work(service, number) for number in range(9)]
        trained = wait_for(live, "training.finished")
    assert trained["data"]["status"] == "promoted"

    def stands() -> dict[str, Any]:
        found: dict[str, Any] = service.call("agent", "predictor/status")[1]
        return found

    assert eventually(lambda: stands()["scored_sessions"] == 9), stands()
    assert (stands()["phase"], stands()["alpha"]) == ("warming", 1.0)

    latest = work(service, 9)
    _, rows = service.call("agent", "predictor/comparisons?limit=50")
    assert eventually(
        lambda: service.call("agent", "predictor/comparisons?limit=50")[1]["count"] == 10
    ), rows
    _, audit = service.call("reviewer", f"predictor/audit/{quote(latest, safe='')}")
    assert audit["session"]["model_version"] == 1
    assert audit["comparison"]["winner"] in {"predictor", "baseline", "tie"}
    ranks = {row["predictor_rank"] for row in audit["memories"]}
    assert ranks == set(range(1, len(audit["memories"]) + 1))
    assert max(row["final"] for row in audit["memories"]) > 0.5
    _, trainings = service.call("agent", "predictor/training")
    assert [row["status"] for row in trainings["results"]][-1] == "promoted"
    status, again = service.call(
        "agent", "sessions", {"session_key": latest, "context": "", "k": 3}
    )
    assert status in {200, 201}
    assert again["status_line"].startswith("[predictor: warming | success_rate=")
    assert len(set(keys)) == 9
