"""Calls over a workspace's limits are 429; other callers and exempt keys go on."""

from __future__ import annotations

from collections.abc import Iterator
from time import sleep
from typing import Any

import pytest
from django.test import Client, override_settings

from engram.kernel import broker, keys, throttling
from engram.kernel.actors import SYSTEM
from engram.kernel.broker import Knocker
from engram.kernel.models import Role
from tests.conftest import NOW, Caller, House


def limit(house: House, **limits: int) -> None:
    assert house.admin.patch("workspace/settings", limits).status_code == 200


def commit(caller: Caller, content: str = "The pond is frozen.") -> int:
    status: int = caller.post("memories", {"content": content}).status_code
    return status


def test_writes_over_the_limit_are_429_and_tell_when_to_try_again(house: House) -> None:
    limit(house, writes_per_minute=2)
    assert [commit(house.agent, f"Pond {n} is frozen.") for n in range(3)] == [201, 201, 429]
    refused = house.agent.post("memories", {"content": "Pond 9 is frozen."})
    assert refused["Content-Type"] == "application/problem+json"
    assert 1 <= int(refused["Retry-After"]) <= 60
    assert len(house.reader.get("memories").json()["results"]) == 2


def batch(house: House, *contents: str) -> Any:
    return house.agent.post("memories/batch", {"memories": [{"content": c} for c in contents]})


def pass_seconds(house: House, seconds: float) -> None:
    """Let time pass for the workspace's buckets."""
    redis = broker.client()
    for name in redis.keys(f"engram:bucket:calls:{house.workspace.pk.hex}:*"):
        redis.hincrby(name, "at", -int(seconds * 1000))


def test_a_batch_counts_as_many_writes_as_it_has_items(house: House) -> None:
    limit(house, writes_per_minute=5)
    assert batch(house, "One is here.", "Two is there.", "Three is away.").status_code == 201
    assert batch(house, "Four is here.", "Five is there.", "Six is away.").status_code == 201
    refused = batch(house, "Seven is here.", "Eight is there.")
    assert refused.status_code == 429
    assert 12 < int(refused["Retry-After"]) <= 24  # one of debt and one to take, 12 seconds each
    assert len(house.reader.get("memories").json()["results"]) == 6


def test_long_texts_count_as_more_writes(house: House) -> None:
    limit(house, writes_per_minute=4)
    long = ("word " * 1600)[:8000]
    assert commit(house.agent, long) == 201  # four
    assert commit(house.agent, "a" * 5000) == 429
    memory_id = house.reader.get("memories").json()["results"][0]["id"]
    assert house.agent.patch(f"memories/{memory_id}", {"content": "b" * 5000}).status_code == 429
    assert (
        house.agent.post("sessions", {"session_key": "s", "context": "c" * 5000}).status_code == 429
    )
    assert house.reader.get(f"memories/{memory_id}").json()["content"] == long
    assert house.agent.get("sessions").json()["results"] == []


def test_a_batch_that_costs_more_than_a_minute_takes_the_minutes_that_follow(house: House) -> None:
    limit(house, writes_per_minute=2)
    assert batch(house, *(f"Pond {n} is frozen." for n in range(5))).status_code == 201
    refused = house.agent.post("memories", {"content": "Pond 9 is frozen."})
    assert refused.status_code == 429
    wait = int(refused["Retry-After"])
    assert 90 < wait <= 120  # three of debt and one to take, 30 seconds each
    pass_seconds(house, wait - 20)
    assert commit(house.agent) == 429
    pass_seconds(house, 20)
    assert commit(house.agent) == 201


def test_a_key_that_writes_all_the_time_may_send_a_batch_that_costs_more_than_a_minute(
    house: House,
) -> None:
    limit(house, writes_per_minute=2)
    assert [commit(house.agent, f"Gate {n} is open.") for n in range(3)] == [201, 201, 429]
    refused = batch(house, *(f"Pond {n} is frozen." for n in range(5)))
    assert (refused.status_code, int(refused["Retry-After"]) <= 30) == (429, True)
    pass_seconds(house, int(refused["Retry-After"]))
    assert batch(house, *(f"Pond {n} is frozen." for n in range(5))).status_code == 201


def test_a_call_that_comes_with_one_that_leaves_a_debt_is_refused_for_its_cost(
    house: House,
) -> None:
    name = house.workspace.pk.hex
    assert throttling.wait_for(name, 2) is None
    assert throttling.wait_for(name, 2) is None
    assert throttling.wait_for(name, 2, cost=9, counted=1) is None
    assert throttling.wait_for(name, 2, cost=9, counted=1) is not None


def test_nobody_saves_up_more_than_a_minute(house: House) -> None:
    limit(house, writes_per_minute=2)
    assert commit(house.agent, "Gate 1 is open.") == 201
    pass_seconds(house, 3600)
    assert [commit(house.agent, f"Pond {n} is frozen.") for n in range(3)] == [201, 201, 429]


def test_a_batch_that_was_refused_may_be_sent_again_under_its_key(house: House) -> None:
    limit(house, writes_per_minute=2)
    body = {"memories": [{"content": f"Pond {n} is frozen."} for n in range(2)]}
    assert [commit(house.agent), commit(house.agent)] == [201, 200]
    key = {"Idempotency-Key": "once"}
    assert house.agent.post("memories/batch", body, **key).status_code == 429
    redis = broker.client()
    redis.delete(*redis.keys(f"engram:bucket:calls:{house.workspace.pk.hex}:*"))
    assert house.agent.post("memories/batch", body, **key).status_code == 201


def test_reads_are_counted_apart_from_writes(house: House) -> None:
    limit(house, writes_per_minute=1, reads_per_minute=2)
    assert commit(house.agent) == 201
    assert [house.agent.get("memories").status_code for _ in range(3)] == [200, 200, 429]
    assert commit(house.agent) == 429


def test_a_recall_is_a_read(house: House) -> None:
    limit(house, writes_per_minute=1, reads_per_minute=2)
    answers = [house.agent.post("memories/recall", {"query": "pond"}) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert commit(house.agent) == 201


def test_each_key_has_limits_of_its_own(house: House, neighbour: House) -> None:
    limit(house, writes_per_minute=1)
    assert [commit(house.agent), commit(house.agent)] == [201, 429]
    assert commit(house.reviewer) == 200
    assert [commit(neighbour.agent), commit(neighbour.agent)] == [201, 200]


def test_refused_requests_write_nothing_else_and_still_count(house: House) -> None:
    limit(house, writes_per_minute=2)
    assert [commit(house.agent, ""), commit(house.agent, "")] == [422, 422]
    assert commit(house.agent) == 429


def test_callers_without_a_role_are_refused_before_they_count(house: House) -> None:
    limit(house, writes_per_minute=1)
    assert [commit(house.reader), commit(house.reader)] == [403, 403]


def test_exempt_keys_are_not_limited(house: House) -> None:
    limit(house, writes_per_minute=1)
    _, token = keys.issue(
        house.workspace,
        name="demo",
        role=Role.AGENT,
        actor=SYSTEM,
        now=NOW,
        is_exempt_from_throttle=True,
    )
    demo = Caller(token, Client())
    assert [commit(demo, f"Pond {n} is frozen.") for n in range(3)] == [201] * 3


def test_people_are_limited_each_for_themselves(house: House, member: Any) -> None:
    limit(house, reads_per_minute=1)
    one, other = member("reviewer"), member("agent")
    assert [one.get("/api/v1/memories").status_code for _ in range(2)] == [200, 429]
    assert other.get("/api/v1/memories").status_code == 200


def test_a_bucket_that_is_full_again_is_forgotten(house: House) -> None:
    limit(house, writes_per_minute=1)
    assert [commit(house.agent), commit(house.agent)] == [201, 429]
    redis = broker.client()
    agent = keys.find(house.agent.token)
    name = f"engram:bucket:calls:{house.workspace.pk.hex}:key:{agent.id}:w"
    assert 0 < redis.pttl(name) <= 60_000
    redis.pexpire(name, 1)
    sleep(0.02)
    assert commit(house.agent) == 200


@pytest.fixture(autouse=True)
def no_pause_of_other_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Count from the start: a broker that another test found away is left alone for seconds."""
    monkeypatch.setattr(throttling, "_knock", Knocker("throttling"))


@pytest.fixture
def broker_away() -> Iterator[None]:
    """Point the process at a Redis that is not there."""
    broker.client.cache_clear()
    with override_settings(REDIS_URL="unix:///nowhere/redis.sock"):
        yield
    broker.client.cache_clear()
    throttling._knock.quiet_until = 0.0


def test_a_broker_that_is_away_limits_nobody(house: House, broker_away: None) -> None:
    limit(house, writes_per_minute=1)
    assert [commit(house.agent), commit(house.agent)] == [201, 200]
