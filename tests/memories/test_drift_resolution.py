"""How prediction errors end and wait again: edits, answers, forgetting, history."""

from __future__ import annotations

from typing import Any

import pytest

from engram.kernel.models import Event
from engram.kernel.tenancy import in_workspace
from memories.models import Memory, PredictionError
from tests.conftest import Caller, Tenant
from tests.memories.drift_world import (
    AFTER,
    MEMORY,
    check,
    drifted,
    errors,
    put,
    recall,
    remember,
    resolve,
    stored,
    supports,
)


def signal(caller: Caller, memory_id: str, **fields: Any) -> Any:
    body = {"source": "git", "evidence": {"commit": "8d1f"}, **fields}
    return caller.post(f"memories/{memory_id}/signals", body)


def forget(tenant: Tenant, memory_id: str) -> None:
    body = {"ids": [memory_id], "confirm": True}
    assert tenant.reviewer.post("memories/forget", body).json()["forgotten"] == 1


def restore(tenant: Tenant, memory_id: str) -> None:
    assert tenant.admin.post("memories/restore", {"ids": [memory_id]}).status_code == 200


@pytest.mark.parametrize(
    "spelling",
    [
        MEMORY.replace(" is an ", "  is  an\n"),
        MEMORY.replace("The licence", "the Licence"),
        MEMORY.removesuffix("."),
    ],
)
def test_another_spelling_of_the_same_ends_no_drift(tenant: Tenant, spelling: str) -> None:
    memory_id = drifted(tenant)
    assert signal(tenant.agent, memory_id).status_code == 201
    answer = tenant.agent.patch(f"memories/{memory_id}", {"content": spelling})
    assert answer.status_code == 200
    assert answer.json()["content"] == spelling
    check(tenant)
    recall(tenant)
    assert sorted(row["error_type"] for row in errors(tenant.reader)) == [
        "memory_drift", "memory_external_signal",
    ]  # fmt: skip
    [support] = supports(tenant)
    assert support.is_drifted
    assert "open blocker" in str(support.support)


def test_another_spelling_with_another_link_follows_the_link(tenant: Tenant) -> None:
    put(tenant, AFTER, "Other.md")
    put(tenant, AFTER, "other.md")
    memory_id = remember(tenant, "Builds run on Tuesdays ([[Other]]).")
    first = supports(tenant)[0].note_id
    answer = tenant.agent.patch(
        f"memories/{memory_id}", {"content": "Builds run on Tuesdays ([[other]])."}
    )
    assert answer.status_code == 200
    [support] = supports(tenant)
    assert support.note_id != first


def test_an_error_says_who_edited_or_forgot_the_memory(tenant: Tenant) -> None:
    other = signal(tenant.agent, remember(tenant, "Marek owns the night desk.")).json()["id"]
    reviewer = resolve(tenant.reviewer, other, "dismiss").json()["resolved_by"]
    edited = drifted(tenant)
    text = "The licence review was resolved last week ([[work/release]])."
    assert tenant.reviewer.patch(f"memories/{edited}", {"content": text}).status_code == 200
    forgotten = remember(tenant, "The kiln is in hall 7.")
    signal(tenant.agent, forgotten)
    forget(tenant, forgotten)
    by = {error.resolution: error.resolved_by for error in stored(tenant)}
    assert by.keys() == {"dismissed", "updated", "memory_forgotten"}
    assert set(by.values()) == {reviewer} != {"engram"}
    with in_workspace(tenant.workspace):
        events = Event.objects.filter(type="prediction_error.resolved")
        assert {event.actor_label for event in events} == {reviewer}


def test_a_restored_memory_has_its_signals_and_drift_again(tenant: Tenant) -> None:
    memory_id = drifted(tenant)
    signal(tenant.agent, memory_id, weight=7)
    before = {row["id"] for row in errors(tenant.reader)}
    forget(tenant, memory_id)
    assert errors(tenant.reader) == []
    restore(tenant, memory_id)
    rows = errors(tenant.reader)
    assert {row["id"] for row in rows} == before
    assert {(row["resolution"], row["resolved_by"]) for row in rows} == {(None, "")}
    check(tenant)
    recall(tenant)
    assert {row["id"] for row in errors(tenant.reader)} == before


def test_what_a_person_answered_before_the_forgetting_stays_answered(tenant: Tenant) -> None:
    memory_id = remember(tenant, "The kiln is in hall 7.")
    old = signal(tenant.agent, memory_id).json()["id"]
    resolve(tenant.reviewer, old, "dismiss")
    forget(tenant, memory_id)
    restore(tenant, memory_id)
    assert errors(tenant.reader) == []
    first = signal(tenant.agent, memory_id).json()["id"]
    forget(tenant, memory_id)
    restore(tenant, memory_id)
    assert [row["id"] for row in errors(tenant.reader)] == [first]
    resolve(tenant.reviewer, first, "dismiss")
    restore(tenant, memory_id)
    assert errors(tenant.reader) == []


def test_a_memory_that_is_still_hidden_otherwise_gets_no_error_back(tenant: Tenant) -> None:
    memory_id = remember(tenant, "The kiln is in hall 7.")
    signal(tenant.agent, memory_id)
    newer = {"content": "The kiln moved to hall 9.", "supersedes": memory_id}
    assert tenant.agent.post("memories", newer).status_code == 201
    forget(tenant, memory_id)
    restore(tenant, memory_id)
    assert errors(tenant.reader) == []


def test_drift_from_a_note_that_is_gone_does_not_come_back(tenant: Tenant) -> None:
    memory_id = drifted(tenant)
    forget(tenant, memory_id)
    assert tenant.agent.delete("notes/work/release.md").status_code == 204
    restore(tenant, memory_id)
    assert errors(tenant.reader) == []


def test_the_same_answer_again_changes_nothing(tenant: Tenant) -> None:
    drifted(tenant)
    [row] = errors(tenant.reader)
    first = resolve(tenant.reviewer, row["id"], "still_true", note="as agreed")
    again = resolve(tenant.reviewer, row["id"], "still_true", note="once more")
    assert (first.status_code, again.status_code) == (200, 200)
    assert again.json() == first.json()
    assert resolve(tenant.reviewer, row["id"], "updated").status_code == 409
    with in_workspace(tenant.workspace):
        assert Event.objects.filter(type="prediction_error.resolved").count() == 1


def test_the_case_of_a_source_makes_no_second_signal(tenant: Tenant) -> None:
    memory_id = remember(tenant, "The kiln is in hall 7.")
    first = signal(tenant.agent, memory_id, source="git").json()
    again = signal(tenant.agent, memory_id, source=" GIT ").json()
    assert (again["id"], again["source"], again["occurrences"]) == (first["id"], "git", 2)
    long = signal(tenant.agent, memory_id, source="İ" * 60)  # grows in lower case
    assert long.status_code == 422
    assert len(stored(tenant)) == 1


def test_a_signal_of_no_weight_or_without_details_is_kept_and_comes_last(tenant: Tenant) -> None:
    first = signal(tenant.agent, remember(tenant, "The kiln is in hall 7."), weight=0, evidence={})
    assert first.status_code == 201
    second = signal(tenant.agent, remember(tenant, "Marek owns the night desk."), weight=2)
    waiting = tenant.reviewer.get("inbox", {"source": "drift"}).json()["results"]
    assert [row["id"] for row in waiting] == [second.json()["id"], first.json()["id"]]


def test_the_history_of_a_memory_has_its_drift_and_how_it_ended(
    tenant: Tenant, neighbour: Tenant
) -> None:
    memory_id = drifted(tenant)
    [row] = errors(tenant.reader)
    resolve(tenant.reviewer, row["id"], "dismiss")
    other = remember(tenant, "The kiln is in hall 7.")
    signal(tenant.agent, other)
    history = tenant.reader.get(f"memories/{memory_id}/history").json()["results"]
    about = [entry for entry in history if "error" in entry["data"]]
    assert [entry["type"] for entry in about] == ["prediction_error.resolved", "drift.found"]
    assert {entry["data"]["error"] for entry in about} == {row["id"]}
    assert neighbour.reader.get(f"memories/{memory_id}/history").status_code == 404


def test_a_history_asks_as_many_queries_for_one_error_as_for_ten(
    tenant: Tenant, django_assert_max_num_queries: Any
) -> None:
    memory_id = remember(tenant, "The kiln is in hall 7.")
    tenant.reader.get(f"memories/{memory_id}/history")
    counts = []
    for sources in (1, 9):
        for n in range(sources):
            signal(tenant.agent, memory_id, source=f"s{sources}{n}")
        with django_assert_max_num_queries(30) as asked:
            tenant.reader.get(f"memories/{memory_id}/history")
        counts.append(len(asked))
    assert counts[0] == counts[1]
    with in_workspace(tenant.workspace):
        assert PredictionError.objects.count() == 10
        assert Memory.objects.count() == 1


REST = "\n\nThe office is on floor 3. Parking is behind the house. Visitors ring twice.\n"


@pytest.mark.parametrize(
    ("memory", "before", "after"),
    [
        (
            "[[people/mirjam|Mirjam]] owns payroll.",
            "# Mirjam\n\nMirjam owns payroll." + REST,
            "# Profile\n\nOwns payroll." + REST,
        ),
        (
            "Mirjam owns payroll ([[people/mirjam]]).",
            "# Team\n\nMirjam owns payroll." + REST,
            "# Team\n\n[[people/mirjam]] owns payroll." + REST,
        ),
        (
            "Mirjam owns payroll ([[people/mirjam]]).",
            "# Team\n\nMirjam owns payroll." + REST,
            "# Team\n\n[[people/mirjam#Role]] owns payroll." + REST,
        ),
    ],
)
def test_names_of_links_do_not_count_as_lost_words(
    tenant: Tenant, memory: str, before: str, after: str
) -> None:
    put(tenant, before, "people/mirjam.md")
    memory_id = remember(tenant, memory)
    check(tenant)
    put(tenant, after, "people/mirjam.md")
    check(tenant)
    assert memory_id in recall(tenant, "who owns payroll")
    assert errors(tenant.reader) == []
