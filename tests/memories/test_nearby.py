"""What a commit's answer asks its writer about: rarely, and only what no rule could judge."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from engram.kernel.tenancy import in_workspace
from memories.core import comparing
from memories.core.claim_types import Reading
from memories.core.likelihood import Likelihood, likelihood_of
from memories.models import Ask, Memory
from memories.services.commit import nearby
from tests.conftest import Tenant
from tests.statements import statements

OLD = "Design reviews for the Halden checkout redesign are chaired by the platform guild."
NEW = "The Halden checkout redesign has its design reviews chaired by Ingrid from payments."
NAMES = ("Halden", "Rostock", "Vimmer", "Quilby", "Tarnow", "Osmark")
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


def test_at_most_three_are_asked_about(tenant: Tenant) -> None:
    for who in ("the platform guild", "Ingrid of payments", "the design council", "Oskar", "Mia"):
        content = f"Design reviews for the Halden checkout redesign are chaired by {who}."
        commit(tenant, content, scope=who, observed_at=JANUARY)
    new = "The Halden checkout redesign holds design reviews under a chair elected each quarter."
    assert len(ids(commit(tenant, new, observed_at=MARCH))) == nearby.MOST == 3


def test_what_was_said_a_moment_ago_is_asked_about(tenant: Tenant) -> None:
    old = commit(tenant, OLD)
    assert ids(commit(tenant, NEW)) == [old["memory"]["id"]]


def test_statements_of_one_pattern_are_not_asked_about(tenant: Tenant) -> None:
    texts = [f"Depot {n} keeps {3 * n} crates of apples near gate {n % 7}." for n in range(80)]
    body = {"memories": [{"content": text, "scope": f"depot/{text}"} for text in texts]}
    results = tenant.agent.post("memories/batch", body).json()["results"]
    asked = [len(row["nearby"]) for row in results]
    assert sum(asked[40:]) == 0  # three a commit if words that all of them share counted


def test_near_statements_of_other_things_are_not_asked_about(tenant: Tenant) -> None:
    old = commit(tenant, "Invoices of the Halden shop are printed on Fridays.")
    new = commit(tenant, "Invoices of the Halden shop have a blue logo.")
    assert new["memory"]["id"] != old["memory"]["id"]
    assert ids(new) == []  # near, and with rare words in common


def test_what_was_estimated_by_the_gate_is_not_estimated_again(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    estimated: list[str] = []

    def watched(a: Reading, b: Reading, *args: Any, **options: Any) -> Likelihood:
        estimated.append(a.text)
        assert options["states_a"] is not None
        assert options["states_b"] is not None
        return likelihood_of(a, b, *args, **options)

    monkeypatch.setattr(comparing, "likelihood_of", watched)
    commit(tenant, OLD, observed_at=JANUARY)
    far = "Ingrid from payments chairs design reviews at the Halden office."
    commit(tenant, far, observed_at=JANUARY, scope="office")
    estimated.clear()
    commit(tenant, NEW, observed_at=MARCH)
    assert sorted(estimated) == sorted([OLD, far])  # one by the gate, the other afterwards


def test_each_says_why_whose_it_is_and_since_when(tenant: Tenant) -> None:
    commit(tenant, OLD, scope="checkout", agent="forge", observed_at=JANUARY)
    [near] = commit(tenant, NEW, observed_at=MARCH)["nearby"]
    assert (near["agent"], near["observed_at"], near["scope"]) == ("forge", JANUARY, "checkout")
    assert near["why"].startswith("Both say “Halden”, “checkout” and “redesign”")
    assert "cosine 0.8" in near["why"]


def term_counts(tenant: Tenant, content: str) -> int:
    """Return how often a commit looks up how common its words are."""
    with statements() as sent:
        commit(tenant, content, observed_at=MARCH)
    return len([sql for sql in sent if sql.lstrip().startswith("SELECT term, memories, 0")])


def test_asking_takes_one_round_trip_and_none_where_nothing_is_near(tenant: Tenant) -> None:
    commit(tenant, OLD, observed_at=JANUARY)
    assert term_counts(tenant, "Sourdough needs eighteen hours in the fridge.") == 0
    assert term_counts(tenant, NEW) == 1


def test_what_is_asked_is_recorded_by_one_statement_and_nothing_else_is_written(
    tenant: Tenant,
) -> None:
    def inserts(content: str) -> list[str]:
        with CaptureQueriesContext(connection) as seen:
            commit(tenant, content, observed_at=MARCH)
        return [query["sql"] for query in seen if "INTO memories_ask" in query["sql"]]

    commit(tenant, OLD, observed_at=JANUARY)
    assert inserts("Sourdough needs eighteen hours in the fridge.") == []
    assert len(inserts(NEW)) == 1


def ask_about(tenant: Tenant, count: int) -> None:
    """Store questions about the newest memories, two each."""
    with in_workspace(tenant.workspace):
        rows = list(Memory.objects.order_by("-created_at")[:count])
        Ask.objects.bulk_create(
            Ask(
                workspace=tenant.workspace, memory=row, other=rows[0], wordings=f"{row.pk}{n}",
                cosine=0.7, actor_kind="system", created_at=row.created_at,
            )
            for row in rows
            for n in range(2)
        )  # fmt: skip


def commit_others(tenant: Tenant, count: int, word: str = "Word") -> None:
    texts = [f"{word}{n}a {word}{n}b {word}{n}c." for n in range(count)]
    body = {"memories": [{"content": text} for text in texts]}
    assert tenant.agent.post("memories/batch", body).status_code in {200, 201}


@pytest.fixture
def old(tenant: Tenant, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the id of a memory before twenty about which the agent was asked much lately."""
    monkeypatch.setattr(nearby, "LATELY", 20)
    found: str = commit(tenant, OLD, observed_at=JANUARY)["memory"]["id"]
    commit_others(tenant, 20)
    ask_about(tenant, 20)
    return found


@pytest.mark.usefixtures("old")
def test_where_much_was_asked_lately_less_is_asked(tenant: Tenant) -> None:
    assert ids(commit(tenant, NEW, observed_at=MARCH)) == []


def test_what_others_were_asked_does_not_count(tenant: Tenant, old: str) -> None:
    answer = tenant.admin.post("memories", {"content": NEW, "observed_at": MARCH})
    assert ids(answer.json()) == [old]


def test_what_was_asked_long_ago_does_not_count(tenant: Tenant, old: str) -> None:
    commit_others(tenant, 20, word="Term")
    assert ids(commit(tenant, NEW, observed_at=MARCH)) == [old]


@pytest.mark.parametrize(("lately", "least", "most"), [(4, 1, 4), (10_000, 6, 6)])
def test_what_one_call_asks_counts_for_its_later_memories(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch, lately: int, least: int, most: int
) -> None:
    monkeypatch.setattr(nearby, "LATELY", lately)
    for name in NAMES:
        commit(tenant, OLD.replace("Halden", name), scope=name, observed_at=JANUARY)
    with in_workspace(tenant.workspace):
        Ask.objects.all().delete()
    body = {"memories": [{"content": NEW.replace("Halden", name), "scope": name} for name in NAMES]}
    results = tenant.agent.post("memories/batch", body).json()["results"]
    assert least <= len([row for row in results if row["nearby"]]) <= most
