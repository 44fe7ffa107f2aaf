"""The main job with everything running for real: a worker, a broker, a websocket, a decision."""

from __future__ import annotations

import os
import signal
import time
from typing import Any
from urllib.parse import quote

from tests.e2e.service import FACTS, Service, wait_for, work
from tests.homes import PATIENCE_SECONDS, eventually, pids

LOW = {"content": "The API rate limit is 1000 requests per second.", "scope": "auth"}
HIGH = {"content": "The API rate limit is 5000 requests per second.", "scope": "infra"}
QUESTION = {"query": "what is the rate limit of the API?"}


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


def test_a_flood_of_bulk_work_does_not_hold_up_detection(service: Service) -> None:
    """Bulk work that never ends: the processes that do it are stopped, and a note waits for one."""
    home = service.up.home
    stopped = pids(home, r"celery.*worker.*--queues=bulk")
    for pid in stopped:
        os.kill(pid, signal.SIGSTOP)
    try:
        body = {"content": "The orchard is harvested in September."}
        assert service.call("agent", "notes/harvest.md", body, method="PUT")[0] in {200, 201}
        for content in ("The orchard has 40 trees.", "The orchard has 70 trees."):
            place = {"content": content, "scope": "orchard"}
            assert service.call("agent", "memories", place)[0] == 201
        assert eventually(lambda: any("orchard" in c["question"] for c in service.open_cards()))
    finally:
        for pid in stopped:
            os.kill(pid, signal.SIGCONT)
    assert len(stopped) >= 2  # a worker and its process


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
