"""Prediction errors and signals through the API: answers, filters, forgetting, tenancy."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import IntegrityError
from django.utils import timezone

from engram.kernel.models import Event
from engram.kernel.tenancy import in_workspace
from memories.models import Memory, NoteSupport, PredictionError
from memories.services.drift.erase import note_erased
from tests.conftest import Caller, Tenant, issue_agent
from tests.memories.drift_world import (
    AFTER,
    BEFORE,
    MEMORY,
    PATH,
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


def signal(caller: Caller, memory_id: str, status: int = 201, **fields: Any) -> dict[str, Any]:
    body = {"source": "git", "evidence": {"commit": "8d1f"}, **fields}
    answer = caller.post(f"memories/{memory_id}/signals", body)
    assert answer.status_code == status, answer.content
    found: dict[str, Any] = answer.json()
    return found


def test_a_signal_is_an_error_with_its_evidence_and_weight(tenant: Tenant) -> None:
    memory_id = remember(tenant, "Builds run on Tuesdays.")
    row = signal(tenant.agent, memory_id, weight=3.5)
    assert (row["error_type"], row["source"], row["weight"], row["cosine_distance"]) == (
        "memory_external_signal", "git", 3.5, None,
    )  # fmt: skip
    assert row["context"]["evidence"] == {"commit": "8d1f"}
    assert errors(tenant.reader, error_type="memory_external_signal") == [row]
    assert errors(tenant.reader, error_type="memory_drift") == []
    history = tenant.reader.get(f"memories/{memory_id}/history").json()["results"]
    assert "memory.signalled" in {entry["type"] for entry in history}


def test_of_one_source_the_stronger_signal_stays_and_sources_are_apart(tenant: Tenant) -> None:
    memory_id = remember(tenant, "Builds run on Tuesdays.")
    first = signal(tenant.agent, memory_id, weight=5, evidence={"n": 1})
    weaker = signal(tenant.agent, memory_id, weight=2, evidence={"n": 2})
    assert (weaker["id"], weaker["weight"], weaker["occurrences"]) == (first["id"], 5, 2)
    assert weaker["context"]["evidence"] == {"n": 1}
    stronger = signal(tenant.agent, memory_id, weight=6, evidence={"n": 3})
    assert (stronger["id"], stronger["weight"]) == (first["id"], 6)
    assert stronger["context"]["evidence"] == {"n": 3}
    assert signal(tenant.agent, memory_id, source="calendar")["id"] != first["id"]
    assert len(stored(tenant)) == 2


@pytest.mark.parametrize(
    "fields",
    [
        {"evidence": {"x": "y" * 8200}},
        {"evidence": "text"},
        {"evidence": [1]},
        {"evidence": None},
        {"source": ""},
        {"source": "x" * 61},
        {"source": "a\u0000b"},
        {"source": "a\nb"},
        {"weight": 11},
        {"weight": -1},
        {"weight": "heavy"},
        {"weight": True},
        {"evidence": {"token": "ghp_" + "a1B2" * 9}},
    ],
)
def test_signals_that_are_no_evidence_are_refused(tenant: Tenant, fields: dict[str, Any]) -> None:
    memory_id = remember(tenant, "Builds run on Tuesdays.")
    body = {"source": "git", "evidence": {}, **fields}
    answer = tenant.agent.post(f"memories/{memory_id}/signals", body)
    assert answer.status_code in {400, 422}, answer.content
    assert stored(tenant) == []


def test_an_idempotent_signal_counts_once(tenant: Tenant) -> None:
    memory_id = remember(tenant, "Builds run on Tuesdays.")
    body = {"source": "git", "evidence": {}}
    path = f"memories/{memory_id}/signals"
    first, again = (tenant.agent.post(path, body, **{"Idempotency-Key": "one"}) for _ in range(2))
    assert (first.status_code, again.status_code, first.json()) == (201, 201, again.json())
    assert stored(tenant)[0].occurrences == 1


def test_total_counts_all_pages_and_cursors_reach_every_row(tenant: Tenant) -> None:
    for n in range(5):
        signal(tenant.agent, remember(tenant, f"Pump {n} is in hall {n}{n}."))
    first = tenant.reader.get("prediction-errors", {"limit": 2}).json()
    assert (len(first["results"]), first["total"]) == (2, 5)
    second = tenant.reader.get(first["next"]).json()
    third = tenant.reader.get(second["next"]).json()
    seen = [row["id"] for page in (first, second, third) for row in page["results"]]
    assert (len(set(seen)), third["next"], third["total"]) == (5, None, 5)


def test_filters_keep_what_they_say(tenant: Tenant) -> None:
    memory_id = drifted(tenant)
    other = remember(tenant, "Pump 3 is in hall 7.")
    signal(tenant.agent, other)
    assert [row["memory_id"] for row in errors(tenant.reader, memory_id=other)] == [other]
    assert [row["memory_id"] for row in errors(tenant.reader, note_path=PATH)] == [memory_id]
    later = (timezone.now() + timedelta(hours=1)).isoformat()
    assert errors(tenant.reader, since=later) == []
    [row] = errors(tenant.reader, note_path=PATH)
    resolve(tenant.reviewer, row["id"], "dismiss")
    assert [row["memory_id"] for row in errors(tenant.reader)] == [other]
    assert [row["resolution"] for row in errors(tenant.reader, resolved="true")] == ["dismissed"]
    assert len(errors(tenant.reader, resolved="all")) == 2
    for bad in ({"resolved": "maybe"}, {"error_type": "x"}, {"memory_id": "x"}, {"since": "x"},
                {"resolved": ""}, {"colour": "red"}):  # fmt: skip
        assert tenant.reader.get("prediction-errors", bad).status_code in {400, 422}


def test_resolving_twice_is_a_conflict_and_bad_answers_are_refused(tenant: Tenant) -> None:
    drifted(tenant)
    [row] = errors(tenant.reader)
    assert resolve(tenant.agent, row["id"], "dismiss").status_code == 403
    assert resolve(tenant.reviewer, row["id"], "whatever").status_code in {400, 422}
    answer = resolve(tenant.reviewer, row["id"], "still_true", note="as agreed")
    assert answer.status_code == 200
    body = answer.json()
    assert (body["resolution"], body["note"], body["resolved_by"] != "") == (
        "still_true", "as agreed", True,
    )  # fmt: skip
    assert resolve(tenant.reviewer, row["id"], "dismiss").status_code == 409
    assert resolve(tenant.reviewer, str(uuid4()), "dismiss").status_code == 404


def test_a_credential_in_the_note_of_an_answer_is_refused(tenant: Tenant) -> None:
    drifted(tenant)
    [row] = errors(tenant.reader)
    answer = resolve(tenant.reviewer, row["id"], "dismiss", note="see AKIA" + "IOSFODNN7QWERTYU")
    assert answer.status_code == 422
    assert [error.resolution_note for error in stored(tenant)] == [""]
    assert len(errors(tenant.reader)) == 1


def test_another_workspace_sees_and_changes_nothing(tenant: Tenant, neighbour: Tenant) -> None:
    memory_id = drifted(tenant)
    [row] = errors(tenant.reader)
    assert errors(neighbour.admin, resolved="all", unconfirmed="true") == []
    assert neighbour.admin.get(f"prediction-errors/{row['id']}").status_code == 404
    assert resolve(neighbour.admin, row["id"], "dismiss").status_code == 404
    body = {"source": "git", "evidence": {}}
    assert neighbour.admin.post(f"memories/{memory_id}/signals", body).status_code == 404
    put(neighbour, BEFORE)
    remember(neighbour)
    check(neighbour)
    put(neighbour, BEFORE.replace("Ines", "Zoe"))
    recall(neighbour)
    assert errors(neighbour.admin) == []


def test_forgetting_resolves_and_the_memory_is_not_named_again(tenant: Tenant) -> None:
    memory_id = drifted(tenant)
    assert tenant.admin.post("memories/forget", {"ids": [memory_id], "confirm": True}).json()[
        "forgotten"
    ]
    assert errors(tenant.reader) == []
    [row] = errors(tenant.reader, resolved="all")
    assert (row["resolution"], row["memory"], row["context"]) == ("memory_forgotten", None, {})
    assert MEMORY not in str(row)
    body = {"source": "git", "evidence": {}}
    assert tenant.agent.post(f"memories/{memory_id}/signals", body).status_code == 404
    put(tenant, BEFORE)
    check(tenant)
    assert errors(tenant.reader) == []


def test_a_restored_memory_is_checked_again(tenant: Tenant) -> None:
    memory_id = drifted(tenant)
    tenant.admin.post("memories/forget", {"ids": [memory_id], "confirm": True})
    tenant.admin.post("memories/restore", {"ids": [memory_id]})
    assert supports(tenant)[0].due_at is not None
    check(tenant)
    recall(tenant)
    assert [row["memory_id"] for row in errors(tenant.reader)] == [memory_id]


def test_deleting_the_note_resolves_and_keeps_its_path(tenant: Tenant) -> None:
    drifted(tenant)
    assert errors(tenant.reader)[0]["context"]["passage"]["text"] in AFTER
    assert tenant.agent.delete(f"notes/{PATH}").status_code == 204
    assert errors(tenant.reader) == []
    [row] = errors(tenant.reader, resolved="all")
    assert (row["resolution"], row["note_path"]) == ("note_deleted", PATH)
    assert row["context"] == {}  # nothing keeps the note's text
    assert supports(tenant) == []
    put(tenant, AFTER)
    assert supports(tenant)[0].support is not None


def test_erasing_removes_every_copy(tenant: Tenant) -> None:
    canary = "The licence review is an open blocker for the release ([[work/release]]). Xylocarp."
    memory_id = drifted(tenant, canary)
    other = remember(tenant, "Pump 3 is in hall 7.")
    signal(tenant.agent, other, evidence={"said": canary})
    signal(tenant.agent, memory_id)
    assert tenant.admin.delete(f"memories/{memory_id}").status_code == 204
    assert stored(tenant) == []
    assert supports(tenant) == []
    with in_workspace(tenant.workspace):
        assert not [event for event in Event.objects.all() if "Xylocarp" in str(event.data)]
        assert not NoteSupport.objects.exists()


def test_erasing_checks_the_supports_of_others_anew(tenant: Tenant) -> None:
    put(tenant, BEFORE)
    quoted = remember(tenant, "Marek signs the release notes.")
    other = remember(tenant, "Marek signs the release notes, Ines books rooms ([[work/release]]).")
    check(tenant)
    assert "Marek" in str(supports(tenant)[0].support)
    assert tenant.admin.delete(f"memories/{quoted}").status_code == 204
    [support] = supports(tenant)
    assert (str(support.memory_id), support.support, support.verdict) == (other, None, {})
    assert support.due_at is not None


def test_drift_of_a_memory_that_lost_an_answer_is_looked_for_again(tenant: Tenant) -> None:
    memory_id = drifted(tenant)
    assert [row["error_type"] for row in errors(tenant.reader)] == ["memory_drift"]
    now = timezone.now()
    with in_workspace(tenant.workspace):
        note_erased(
            Memory, memory_ids=[], answering=[UUID(memory_id)],
            quoted_in=lambda value: False, pieces=["xylocarp"], now=now,
        )  # fmt: skip
    assert stored(tenant) == []
    [support] = supports(tenant)
    assert (support.verdict, support.is_drifted, support.due_at) == ({}, False, now)
    assert support.support is not None
    check(tenant)
    recall(tenant)
    assert [row["error_type"] for row in errors(tenant.reader)] == ["memory_drift"]


def test_errors_about_notes_are_listed_after_two_distinct_queries(tenant: Tenant) -> None:
    put(tenant, "# Bees\n\nBees dance when they find nectar.", "garden/bees.md")
    for _ in range(2):
        tenant.agent.post("context", {"task": "Rotate the signing keys of the payment gateway"})
    assert errors(tenant.reader) == []
    [row] = errors(tenant.reader, unconfirmed="true")
    assert (row["error_type"], row["note_path"], row["memory_id"]) == (
        "low_overlap", "garden/bees.md", None,
    )  # fmt: skip
    assert row["occurrences"] == 2
    tenant.agent.post("context", {"task": "Which signing keys does the payment gateway accept?"})
    assert [one["id"] for one in errors(tenant.reader)] == [row["id"]]


def test_tasks_about_other_matters_do_not_confirm_each_other_by_the_note_that_chance_picks(
    tenant: Tenant,
) -> None:
    put(tenant, "# Bees\n\nBees dance when they find nectar.", "garden/bees.md")
    put(tenant, "# Kiln\n\nThe kiln is fired on Tuesdays.", "pottery/kiln.md")
    tasks = (
        "Rotate the signing keys of the payment gateway",
        "Which cipher suites does the load balancer accept?",
        "Translate the terms of service into Polish",
    )
    for task in tasks:
        tenant.agent.post("context", {"task": task})
    rows = errors(tenant.reader, unconfirmed="true")
    assert len({row["note_path"] for row in rows}) == len(rows) == 2  # one a note, one is left out
    assert errors(tenant.reader) == []
    tenant.agent.post("context", {"task": "List the cipher suites of the old load balancer"})
    [listed] = errors(tenant.reader)
    assert (listed["query"], listed["occurrences"]) == (tasks[1], 2)


def test_of_a_long_task_only_what_is_kept_tells_its_matter(tenant: Tenant) -> None:
    put(tenant, "# Bees\n\nBees dance when they find nectar.", "garden/bees.md")
    tenant.agent.post("context", {"task": "Rotate the signing keys of the payment gateway"})
    long = "Translate the terms of service into Polish, clause by clause. " * 9
    tenant.agent.post("context", {"task": f"{long}Then rotate the signing keys of the gateway."})
    [row] = errors(tenant.reader, unconfirmed="true")
    assert (row["occurrences"], errors(tenant.reader)) == (1, [])


def test_a_weak_passage_behind_a_good_one_is_no_mismatch(tenant: Tenant) -> None:
    put(tenant, "# Kiln\n\nThe kiln room is locked at night, ask Ines.", "pottery/kiln.md")
    put(tenant, "# Office\n\nThe office is locked in the evening, at 19:00.", "billing/office.md")
    for task in ("Is the office locked in the evening?", "When is the office locked?"):
        tenant.agent.post("context", {"task": task, "project": "billing"})
    assert errors(tenant.reader, unconfirmed="true") == []


LONG = "The lattice keeps its spare charts below the stairs of the north wing. " * 9


@pytest.mark.parametrize("statement", ["Quarks come in six flavours in our lattice.", LONG.strip()])
@pytest.mark.parametrize("is_erased", [False, True])
def test_a_query_that_states_a_forgotten_or_erased_memory_is_not_shown(
    tenant: Tenant, neighbour: Tenant, statement: str, *, is_erased: bool
) -> None:
    """Also one that was cut: a statement of more than 500 characters."""
    for one in (tenant, neighbour):
        put(one, "# Bees\n\nBees dance when they find nectar.", "garden/bees.md")
        assert one.agent.post("context", {"task": statement}).status_code == 200
    memory_id = remember(tenant, statement)
    tenant.agent.post("memories", {"content": f"{statement[:50]} is another matter."})
    [row] = errors(tenant.reader, unconfirmed="true")
    assert row["query"] == statement[:500]
    if is_erased:
        assert tenant.admin.delete(f"memories/{memory_id}").status_code == 204
        assert stored(tenant) == []
    else:
        body = {"ids": [memory_id], "confirm": True}
        assert tenant.reviewer.post("memories/forget", body).status_code == 200
        assert errors(tenant.reader, unconfirmed="true") == [row | {"query": ""}]
        shown = tenant.reader.get(f"prediction-errors/{row['id']}").json()
        assert shown["query"] == ""
        tenant.reviewer.post("memories/restore", {"ids": [memory_id]})
        assert errors(tenant.reader, unconfirmed="true") == [row]
    [theirs] = errors(neighbour.reader, unconfirmed="true")
    assert theirs["query"] == statement[:500]


def test_credentials_of_a_task_are_not_stored(tenant: Tenant) -> None:
    put(tenant, BEFORE)
    key = "AKIA" + "IOSFODNN7QWERTYU"
    task = f"lattice gauge theory with {key} and quarks"
    assert tenant.agent.post("context", {"task": task}).status_code == 200
    [error] = stored(tenant)
    assert key not in error.query
    assert error.query.startswith("lattice gauge theory with ")


def test_a_weak_note_of_another_folder_is_a_contextual_mismatch(tenant: Tenant) -> None:
    put(tenant, "# Kiln\n\nThe kiln room is locked at night, ask Ines.", "pottery/kiln.md")
    for task in ("Is the office locked in the evening?", "Where can I get into the room?"):
        tenant.agent.post("context", {"task": task, "project": "billing"})
    rows = errors(tenant.reader)
    assert [row["error_type"] for row in rows] == ["contextual_mismatch"]
    assert rows[0]["context"]["project"] == "billing"


def test_errors_about_notes_change_no_ranking(tenant: Tenant) -> None:
    put(tenant, "# Bees\n\nBees dance when they find nectar.", "garden/bees.md")
    body = {"task": "How do bees tell where nectar is?"}
    before = tenant.agent.post("context", body).json()["notes"]
    for task in ("Rotate the signing keys", "Which signing keys are old?"):
        tenant.agent.post("context", {"task": task})
    assert errors(tenant.reader)
    assert tenant.agent.post("context", body).json()["notes"] == before


def test_the_list_asks_as_many_queries_for_one_row_as_for_ten(
    tenant: Tenant, django_assert_max_num_queries: Any
) -> None:
    signal(tenant.agent, remember(tenant, "Pump 0 is in hall 9.", tags=["a"]))
    with django_assert_max_num_queries(20) as one:
        errors(tenant.reader)
    for n in range(9):
        signal(tenant.agent, remember(tenant, f"Valve {n} is in room {n}{n}.", tags=["a", "b"]))
    with django_assert_max_num_queries(20) as ten:
        assert len(errors(tenant.reader)) == 10
    assert len(one) == len(ten)


def test_an_error_is_of_a_memory_or_a_note(tenant: Tenant) -> None:
    now = timezone.now()
    with pytest.raises(IntegrityError), in_workspace(tenant.workspace):
        PredictionError.objects.create(
            error_type="low_overlap", source="notes", detected_at=now, last_seen_at=now
        )


def test_only_so_many_signals_of_a_key_wait_for_people(tenant: Tenant) -> None:
    tenant.workspace.settings = {"undecided_cards_per_key": 2}
    tenant.workspace.save()
    ids = [remember(tenant, f"Pump {n} is in hall {n}{n}.") for n in range(1, 5)]
    first, _ = (signal(tenant.agent, one, weight=9) for one in ids[:2])
    refused = tenant.agent.post(f"memories/{ids[2]}/signals", {"source": "git", "evidence": {}})
    assert (refused.status_code, refused.json()["type"]) == (409, "/problems/signals-undecided")
    assert len(errors(tenant.reader)) == 2
    assert signal(tenant.agent, ids[0])["id"] == first["id"]  # it joins the open one
    signal(tenant.reviewer, ids[2], source="calendar")
    signal(tenant.admin, ids[3])
    resolve(tenant.reviewer, first["id"], "dismiss")
    signal(tenant.agent, ids[3], source="linear")


@pytest.mark.parametrize("weight", [0.5, 5])
def test_a_signal_counts_for_each_key_that_joined_it(tenant: Tenant, weight: float) -> None:
    tenant.workspace.settings = {"undecided_cards_per_key": 1}
    tenant.workspace.save()
    other = issue_agent(tenant.workspace, "second")
    first, second = (remember(tenant, f"Pump {n} is in hall {n}{n}.") for n in (1, 2))
    one = signal(tenant.agent, first)
    joined = signal(other, first, weight=weight)
    assert joined["id"] == one["id"]
    assert len(joined["context"]["by"]) == 2
    assert signal(other, first, weight=weight)["context"]["by"] == joined["context"]["by"]
    signal(tenant.agent, second, status=409)
    signal(other, second, status=409)
    resolve(tenant.reviewer, one["id"], "dismiss")
    signal(tenant.agent, second)
    signal(other, remember(tenant, "Pump 3 is in hall 33."))


def test_an_emptied_or_older_signal_counts_for_its_author(tenant: Tenant) -> None:
    tenant.workspace.settings = {"undecided_cards_per_key": 1}
    tenant.workspace.save()
    first, second = (remember(tenant, f"Pump {n} is in hall {n}{n}.") for n in (1, 2))
    [author] = signal(tenant.agent, first)["context"]["by"]
    with in_workspace(tenant.workspace):  # as a release before stored it
        PredictionError.objects.update(context={"evidence": {}, "by": author})
    signal(tenant.agent, second, status=409)
    assert signal(tenant.reviewer, first)["context"]["by"][0] == author
    with in_workspace(tenant.workspace):
        PredictionError.objects.update(context={"evidence": {}})
    signal(tenant.agent, second)


@pytest.mark.parametrize(("action", "status"), [("updated", 201), ("dismiss", 409)])
def test_a_key_whose_signals_people_confirm_has_no_limit(
    tenant: Tenant, action: str, status: int
) -> None:
    for n in range(1, 9):
        row = signal(tenant.agent, remember(tenant, f"Pump {n} is in hall {n}{n}."))
        resolve(tenant.reviewer, row["id"], action)
    tenant.workspace.settings = {"undecided_cards_per_key": 0}
    tenant.workspace.save()
    signal(tenant.agent, remember(tenant, "The crane is in the yard."), status=status)


@pytest.mark.parametrize("source", ["agent", "notes", "Agent", " NOTES ", "\uff41gent"])
def test_no_caller_speaks_as_the_service(tenant: Tenant, source: str) -> None:
    body = {"source": source, "evidence": {}}
    refused = tenant.admin.post(f"memories/{remember(tenant)}/signals", body)
    assert (refused.status_code, refused.json()["type"]) == (422, "/problems/source-reserved")
    assert errors(tenant.reader) == []
