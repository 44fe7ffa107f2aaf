"""Calls over a workspace's limits are 429; other callers and exempt keys go on."""

from __future__ import annotations

from collections.abc import Iterator
from time import sleep
from typing import Any

import pytest
from django.test import Client, override_settings

from engram.kernel import broker, keys, throttling
from engram.kernel.actors import SYSTEM
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


def test_a_batch_counts_as_many_writes_as_it_has_items(house: House) -> None:
    limit(house, writes_per_minute=5)
    assert batch(house, "One is here.", "Two is there.", "Three is away.").status_code == 201
    refused = batch(house, "Four is here.", "Five is there.", "Six is away.")
    assert refused.status_code == 429
    assert 1 <= int(refused["Retry-After"]) <= 60
    assert "3 writes" in refused.json()["detail"]
    assert len(house.reader.get("memories").json()["results"]) == 3
    assert commit(house.agent, "A small one still fits.") == 201


def test_long_texts_count_as_more_writes(house: House) -> None:
    limit(house, writes_per_minute=6)
    long = ("word " * 1600)[:8000]
    assert commit(house.agent, long) == 201  # four
    assert commit(house.agent, "a" * 5000) == 429  # three
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
    assert 120 < int(refused["Retry-After"]) <= 180


def test_a_batch_over_a_minute_that_has_begun_waits_for_the_next(house: House) -> None:
    limit(house, writes_per_minute=2)
    assert commit(house.agent) == 201
    refused = batch(house, *(f"Pond {n} is frozen." for n in range(5)))
    assert (refused.status_code, int(refused["Retry-After"]) <= 60) == (429, True)
    assert len(house.reader.get("memories").json()["results"]) == 1


def test_a_batch_that_was_refused_may_be_sent_again_under_its_key(house: House) -> None:
    limit(house, writes_per_minute=2)
    body = {"memories": [{"content": f"Pond {n} is frozen."} for n in range(2)]}
    assert commit(house.agent) == 201
    key = {"Idempotency-Key": "once"}
    assert house.agent.post("memories/batch", body, **key).status_code == 429
    redis = broker.client()
    redis.delete(*redis.keys(f"engram:calls:{house.workspace.pk.hex}:*"))
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


def test_a_new_minute_starts_anew(house: House) -> None:
    limit(house, writes_per_minute=1)
    assert [commit(house.agent), commit(house.agent)] == [201, 429]
    redis = broker.client()
    for name in redis.keys(f"engram:calls:{house.workspace.pk.hex}:*"):
        assert 0 < redis.pttl(name) <= 60_000
        redis.pexpire(name, 1)
    sleep(0.02)
    assert commit(house.agent) == 200


def test_a_counter_without_an_end_is_given_one(house: House) -> None:
    name = f"engram:calls:test:{house.workspace.pk.hex}"
    broker.client().set(name, 7)
    calls, milliseconds_left = throttling._count(name)
    assert (calls, milliseconds_left) == (8, 60_000)
    assert broker.client().pttl(name) > 0


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
