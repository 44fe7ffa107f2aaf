"""Calls over a workspace's limits are 429; other callers and exempt keys go on."""

from __future__ import annotations

from collections.abc import Iterator
from time import sleep
from typing import Any

import pytest
from django.test import Client, override_settings

from engram.kernel import broker, keys, throttling
from engram.kernel.actors import SYSTEM
from engram.kernel.broker import BrokerCooldown
from engram.kernel.models import Role
from tests.conftest import NOW, Caller, Tenant


def limit(tenant: Tenant, **limits: int) -> None:
    assert tenant.admin.patch("workspace/settings", limits).status_code == 200


def commit(caller: Caller, content: str = "The pond is frozen.") -> int:
    status: int = caller.post("memories", {"content": content}).status_code
    return status


def test_writes_over_the_limit_are_429_and_tell_when_to_try_again(tenant: Tenant) -> None:
    limit(tenant, writes_per_minute=2)
    assert [commit(tenant.agent, f"Pond {n} is frozen.") for n in range(3)] == [201, 201, 429]
    refused = tenant.agent.post("memories", {"content": "Pond 9 is frozen."})
    assert refused["Content-Type"] == "application/problem+json"
    assert 1 <= int(refused["Retry-After"]) <= 60
    assert len(tenant.reader.get("memories").json()["results"]) == 2


def batch(tenant: Tenant, *contents: str) -> Any:
    return tenant.agent.post("memories/batch", {"memories": [{"content": c} for c in contents]})


def pass_seconds(tenant: Tenant, seconds: float) -> None:
    """Let time pass for the workspace's buckets."""
    redis = broker.client()
    for name in redis.keys(f"engram:bucket:calls:{tenant.workspace.pk.hex}:*"):
        redis.hincrby(name, "at", -int(seconds * 1000))


def test_a_batch_counts_as_many_writes_as_it_has_items(tenant: Tenant) -> None:
    limit(tenant, writes_per_minute=5)
    assert batch(tenant, "One is here.", "Two is there.", "Three is away.").status_code == 201
    assert batch(tenant, "Four is here.", "Five is there.", "Six is away.").status_code == 201
    refused = batch(tenant, "Seven is here.", "Eight is there.")
    assert refused.status_code == 429
    assert 12 < int(refused["Retry-After"]) <= 24  # one of debt and one to take, 12 seconds each
    assert len(tenant.reader.get("memories").json()["results"]) == 6


def test_long_texts_count_as_more_writes(tenant: Tenant) -> None:
    limit(tenant, writes_per_minute=4)
    long = ("word " * 1600)[:8000]
    assert commit(tenant.agent, long) == 201  # four
    assert commit(tenant.agent, "a" * 5000) == 429
    memory_id = tenant.reader.get("memories").json()["results"][0]["id"]
    assert tenant.agent.patch(f"memories/{memory_id}", {"content": "b" * 5000}).status_code == 429
    assert (
        tenant.agent.post("sessions", {"session_key": "s", "context": "c" * 5000}).status_code
        == 429
    )
    assert tenant.reader.get(f"memories/{memory_id}").json()["content"] == long
    assert tenant.agent.get("sessions").json()["results"] == []


def test_a_batch_that_costs_more_than_a_minute_takes_the_minutes_that_follow(
    tenant: Tenant,
) -> None:
    limit(tenant, writes_per_minute=2)
    assert batch(tenant, *(f"Pond {n} is frozen." for n in range(5))).status_code == 201
    refused = tenant.agent.post("memories", {"content": "Pond 9 is frozen."})
    assert refused.status_code == 429
    wait = int(refused["Retry-After"])
    assert 90 < wait <= 120  # three of debt and one to take, 30 seconds each
    pass_seconds(tenant, wait - 20)
    assert commit(tenant.agent) == 429
    pass_seconds(tenant, 20)
    assert commit(tenant.agent) == 201


def test_a_key_that_writes_all_the_time_may_send_a_batch_that_costs_more_than_a_minute(
    tenant: Tenant,
) -> None:
    limit(tenant, writes_per_minute=2)
    assert [commit(tenant.agent, f"Gate {n} is open.") for n in range(3)] == [201, 201, 429]
    refused = batch(tenant, *(f"Pond {n} is frozen." for n in range(5)))
    assert (refused.status_code, int(refused["Retry-After"]) <= 30) == (429, True)
    pass_seconds(tenant, int(refused["Retry-After"]))
    assert batch(tenant, *(f"Pond {n} is frozen." for n in range(5))).status_code == 201


def test_a_call_that_comes_with_one_that_leaves_a_debt_is_refused_for_its_cost(
    tenant: Tenant,
) -> None:
    name = tenant.workspace.pk.hex
    assert throttling.wait_for(name, 2) is None
    assert throttling.wait_for(name, 2) is None
    assert throttling.wait_for(name, 2, cost=9, counted=1) is None
    assert throttling.wait_for(name, 2, cost=9, counted=1) is not None


def test_nobody_saves_up_more_than_a_minute(tenant: Tenant) -> None:
    limit(tenant, writes_per_minute=2)
    assert commit(tenant.agent, "Gate 1 is open.") == 201
    pass_seconds(tenant, 3600)
    assert [commit(tenant.agent, f"Pond {n} is frozen.") for n in range(3)] == [201, 201, 429]


def test_a_batch_that_was_refused_may_be_sent_again_under_its_key(tenant: Tenant) -> None:
    limit(tenant, writes_per_minute=2)
    body = {"memories": [{"content": f"Pond {n} is frozen."} for n in range(2)]}
    assert [commit(tenant.agent), commit(tenant.agent)] == [201, 200]
    key = {"Idempotency-Key": "once"}
    assert tenant.agent.post("memories/batch", body, **key).status_code == 429
    redis = broker.client()
    redis.delete(*redis.keys(f"engram:bucket:calls:{tenant.workspace.pk.hex}:*"))
    assert tenant.agent.post("memories/batch", body, **key).status_code == 201


def test_reads_are_counted_apart_from_writes(tenant: Tenant) -> None:
    limit(tenant, writes_per_minute=1, reads_per_minute=2)
    assert commit(tenant.agent) == 201
    assert [tenant.agent.get("memories").status_code for _ in range(3)] == [200, 200, 429]
    assert commit(tenant.agent) == 429


def test_a_recall_is_a_read(tenant: Tenant) -> None:
    limit(tenant, writes_per_minute=1, reads_per_minute=2)
    answers = [tenant.agent.post("memories/recall", {"query": "pond"}) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert commit(tenant.agent) == 201


def test_each_key_has_limits_of_its_own(tenant: Tenant, neighbour: Tenant) -> None:
    limit(tenant, writes_per_minute=1)
    assert [commit(tenant.agent), commit(tenant.agent)] == [201, 429]
    assert commit(tenant.reviewer) == 200
    assert [commit(neighbour.agent), commit(neighbour.agent)] == [201, 200]


def test_refused_requests_write_nothing_else_and_still_count(tenant: Tenant) -> None:
    limit(tenant, writes_per_minute=2)
    assert [commit(tenant.agent, ""), commit(tenant.agent, "")] == [422, 422]
    assert commit(tenant.agent) == 429


def test_callers_without_a_role_are_refused_before_they_count(tenant: Tenant) -> None:
    limit(tenant, writes_per_minute=1)
    assert [commit(tenant.reader), commit(tenant.reader)] == [403, 403]


def test_exempt_keys_are_not_limited(tenant: Tenant) -> None:
    limit(tenant, writes_per_minute=1)
    _, token = keys.issue(
        tenant.workspace,
        name="demo",
        role=Role.AGENT,
        actor=SYSTEM,
        now=NOW,
        is_exempt_from_throttle=True,
    )
    demo = Caller(token, Client())
    assert [commit(demo, f"Pond {n} is frozen.") for n in range(3)] == [201] * 3


def test_people_are_limited_each_for_themselves(tenant: Tenant, member: Any) -> None:
    limit(tenant, reads_per_minute=1)
    one, other = member("reviewer"), member("agent")
    assert [one.get("/api/v1/memories").status_code for _ in range(2)] == [200, 429]
    assert other.get("/api/v1/memories").status_code == 200


def test_a_bucket_that_is_full_again_is_forgotten(tenant: Tenant) -> None:
    limit(tenant, writes_per_minute=1)
    assert [commit(tenant.agent), commit(tenant.agent)] == [201, 429]
    redis = broker.client()
    agent = keys.find(tenant.agent.token)
    name = f"engram:bucket:calls:{tenant.workspace.pk.hex}:key:{agent.id}:w"
    assert 0 < redis.pttl(name) <= 60_000
    redis.pexpire(name, 1)
    sleep(0.02)
    assert commit(tenant.agent) == 200


@pytest.fixture(autouse=True)
def no_pause_of_other_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Count from the start: a broker that another test found away is left alone for seconds."""
    monkeypatch.setattr(throttling, "_broker", BrokerCooldown("throttling"))


@pytest.fixture
def broker_away() -> Iterator[None]:
    """Point the process at a Redis that is not there."""
    broker.client.cache_clear()
    with override_settings(REDIS_URL="unix:///nowhere/redis.sock"):
        yield
    broker.client.cache_clear()
    throttling._broker.ends_at = 0.0


def test_a_broker_that_is_away_limits_nobody(tenant: Tenant, broker_away: None) -> None:
    limit(tenant, writes_per_minute=1)
    assert [commit(tenant.agent), commit(tenant.agent)] == [201, 200]
