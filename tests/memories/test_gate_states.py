"""The gate reads the token states of what is near, in one statement however many those are."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from engram.kernel.tenancy import in_workspace
from memories.core import comparing
from memories.core.likelihood import likelihood_of
from memories.models import Memory
from memories.services.gate import replay
from memories.services.index import tokens
from memories.services.index.tokens import word_states_of
from tests.conftest import Tenant

MODEL = "all-MiniLM-L6-v2"
PUMPS = [
    f"Pump {n} of the harbour works is checked by {name} on {day}s."
    for n, (name, day) in enumerate([("Ana", "Monday"), ("Bert", "Tuesday"), ("Eva", "Friday")])
]
ANOTHER = "Pump 0 of the harbour works is inspected by Carla, mostly on Thursdays."


def commit(tenant: Tenant, content: str, scope: str = "works") -> None:
    body = {"content": content, "scope": scope}
    assert tenant.agent.post("memories", body).status_code in (200, 201)


def test_states_are_those_of_the_words_in_one_statement(
    tenant: Tenant,
    neighbour: Tenant,
    django_assert_num_queries: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for pump in PUMPS:
        commit(tenant, pump)
    commit(neighbour, ANOTHER)
    with in_workspace(neighbour.workspace):
        elsewhere = list(Memory.objects.all())
    with in_workspace(tenant.workspace):
        stored = list(Memory.objects.all())
        for memories in (stored[:1], stored + elsewhere):
            with django_assert_num_queries(1):
                found = word_states_of(memories, MODEL)
            assert found.keys() == {memory.content for memory in memories} - {ANOTHER}
        monkeypatch.setattr(tokens, "MAX_ESTIMATED", 10)
        assert word_states_of(stored, MODEL) == {}
    assert {"pump", "checked"} <= set(found[PUMPS[0]].words)
    assert len(found[PUMPS[0]].words) == len(found[PUMPS[0]].states)


def test_a_past_wording_has_no_states_and_does_not_take_those_of_the_present_one(
    tenant: Tenant,
) -> None:
    commit(tenant, PUMPS[0])
    with in_workspace(tenant.workspace):
        present = Memory.objects.get()
        past = replay._with_wording(present, PUMPS[0].replace("Ana on Monday", "Eva on Friday"))
        for memories in ([past], [past, present], [present, past]):
            found = word_states_of(memories, MODEL)
            assert found.keys() == {one.content for one in memories} - {past.content}


def test_a_commit_estimates_with_the_states_of_both(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[Any, Any]] = []

    def estimate(*given: Any, states_a: Any, states_b: Any) -> Any:
        seen.append((states_a, states_b))
        return likelihood_of(*given, states_a=states_a, states_b=states_b)

    monkeypatch.setattr(comparing, "likelihood_of", estimate)
    commit(tenant, PUMPS[0])
    commit(tenant, ANOTHER)
    [(stored, incoming)] = seen
    assert "harbour" in stored.words
    assert "carla" in incoming.words


def test_a_commit_reads_the_states_once_for_all_neighbours(tenant: Tenant) -> None:
    read = []
    for pumps in (PUMPS[:1], PUMPS):
        scope = f"of {len(pumps)}"
        for pump in pumps:
            commit(tenant, pump, scope)
        with CaptureQueriesContext(connection) as statements:
            commit(tenant, ANOTHER, scope)
        read.append(sum(
            'FROM "memories_memorytokens"' in one["sql"] and one["sql"].startswith("SELECT")
            for one in statements
        ))  # fmt: skip
    assert read == [1, 1]
