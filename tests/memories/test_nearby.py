"""What a commit's answer asks its writer about: rarely, and only what no rule could judge."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import given
from hypothesis import strategies as st

from memories.services.commit import nearby
from tests.conftest import Tenant

OLD = "Design reviews for the Halden checkout redesign are chaired by the platform guild."
NEW = "The Halden checkout redesign has its design reviews chaired by Ingrid from payments."
JANUARY, MARCH = "2026-01-10T09:00:00Z", "2026-03-20T09:00:00Z"


def commit(tenant: Tenant, content: str, **fields: Any) -> dict[str, Any]:
    answer = tenant.agent.post("memories", {"content": content, **fields})
    assert answer.status_code in {200, 201}, answer.json()
    body: dict[str, Any] = answer.json()
    return body


def ids(answer: dict[str, Any]) -> list[str]:
    return [row["id"] for row in answer["nearby"]]


def test_what_no_rule_judges_is_asked_about(tenant: Tenant) -> None:
    old = commit(tenant, OLD, scope="checkout", observed_at=JANUARY)
    new = commit(tenant, NEW, scope="checkout", observed_at=MARCH)
    assert (old["nearby"], new["gate"]["relation"]) == ([], "different")
    assert ids(new) == [old["memory"]["id"]]
    assert new["nearby"][0]["content"] == OLD


def test_another_scope_of_the_project_is_asked_about_and_no_other_project(tenant: Tenant) -> None:
    old = commit(tenant, OLD, scope="checkout", project="shop", observed_at=JANUARY)
    commit(tenant, OLD, scope="checkout", project="bakery", observed_at=JANUARY)
    new = commit(tenant, NEW, scope="reviews", project="shop", observed_at=MARCH)
    assert ids(new) == [old["memory"]["id"]]


def test_the_same_session_is_not_asked_about(tenant: Tenant) -> None:
    commit(tenant, OLD, session_key="s1", observed_at=JANUARY)
    assert ids(commit(tenant, NEW, session_key="s1", observed_at=MARCH)) == []


def test_what_the_rules_can_judge_is_not_asked_about(tenant: Tenant) -> None:
    commit(tenant, "The API rate limit is 1000 requests per second.", observed_at=JANUARY)
    new = commit(tenant, "The API rate limit is 5000 requests per second.", observed_at=MARCH)
    assert (new["outcome"], new["nearby"]) == ("kept_apart", [])


def test_what_is_hidden_or_foreign_is_not_asked_about(tenant: Tenant, neighbour: Tenant) -> None:
    commit(neighbour, OLD, observed_at=JANUARY)
    gone = commit(tenant, OLD, observed_at=JANUARY)["memory"]["id"]
    tenant.agent.post("memories/forget", {"ids": [gone], "confirm": True})
    assert ids(commit(tenant, NEW, observed_at=MARCH)) == []


def test_what_was_known_is_not_asked_about_again(tenant: Tenant) -> None:
    commit(tenant, OLD, observed_at=JANUARY)
    assert len(ids(commit(tenant, NEW, observed_at=MARCH))) == 1
    again = commit(tenant, NEW, observed_at="2026-04-01T09:00:00Z")
    assert (again["outcome"], again["nearby"]) == ("duplicate", [])


def test_a_workspace_without_detection_is_not_asked(tenant: Tenant) -> None:
    tenant.workspace.settings = {"detection_enabled": False}
    tenant.workspace.save()
    commit(tenant, OLD, observed_at=JANUARY)
    assert ids(commit(tenant, NEW, observed_at=MARCH)) == []


def test_at_most_two_are_asked_about(tenant: Tenant) -> None:
    for who in ("the platform guild", "Ingrid of payments", "the design council", "Oskar"):
        content = f"Design reviews for the Halden checkout redesign are chaired by {who}."
        commit(tenant, content, scope=who, observed_at=JANUARY)
    new = "The Halden checkout redesign holds design reviews under a chair elected each quarter."
    assert len(ids(commit(tenant, new, observed_at=MARCH))) == nearby.MOST


def term_counts(tenant: Tenant, content: str) -> int:
    """Return how often a commit looks up how common its words are."""
    with CaptureQueriesContext(connection) as seen:
        commit(tenant, content, observed_at=MARCH)
    asked = [q["sql"] for q in seen if q["sql"].lstrip().startswith("SELECT term, memories, 0")]
    return len(asked)


def test_asking_takes_one_round_trip_and_none_where_nothing_is_near(tenant: Tenant) -> None:
    commit(tenant, OLD, observed_at=JANUARY)
    assert term_counts(tenant, "Sourdough needs eighteen hours in the fridge.") == 0
    assert term_counts(tenant, NEW) == 1


def test_asking_takes_no_transaction_of_its_own(tenant: Tenant) -> None:
    def settings_of(content: str) -> int:
        with CaptureQueriesContext(connection) as seen:
            commit(tenant, content, observed_at=MARCH)
        return sum("engram.workspace" in query["sql"] for query in seen)

    commit(tenant, OLD, observed_at=JANUARY)
    assert settings_of(NEW) == settings_of("Sourdough needs eighteen hours in the fridge.")


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(0, 10**6))
def test_a_common_word_tells_less_than_a_rare_one(one: int, other: int, memories: int) -> None:
    rare, common = sorted((one, other))
    memories = max(memories, common)
    of_rare = nearby.rarity({"w"}, {"w": rare}, memories)
    of_common = nearby.rarity({"w"}, {"w": common}, memories)
    assert 0 < of_common <= of_rare <= 1


def test_a_word_of_two_memories_weighs_one_in_any_workspace() -> None:
    found = [nearby.rarity({"w"}, {"w": 1}, memories) for memories in (1, 100, 100_000)]
    assert found == pytest.approx([1, 1, 1])
