"""One answer to several prediction errors through the API: by ids, or by a note's version."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest

from engram.kernel.models import Event
from engram.kernel.tenancy import in_workspace
from memories.api import drift as api
from memories.models import PredictionError
from tests.conftest import Caller, Tenant
from tests.memories.drift_world import (
    DESKS_PATH,
    desks_note,
    drifted,
    drifted_desks,
    errors,
    put,
    report_desks,
    resolve,
    supports,
)


def answer(caller: Caller, action: str = "still_true", **fields: Any) -> Any:
    return caller.post("prediction-errors/resolve", {"action": action, **fields})


def ids_of(tenant: Tenant) -> list[str]:
    return [row["id"] for row in errors(tenant.reader)]


def test_ids_are_answered_together_and_what_was_resolved_before_stays(tenant: Tenant) -> None:
    drifted_desks(tenant, 4)
    first, second, third, fourth = ids_of(tenant)
    resolve(tenant.reviewer, second, "dismiss")
    body = answer(tenant.reviewer, note="asked", ids=[first, second, third, first]).json()
    assert (body["resolved"], set(body["ids"])) == (2, {first, third})
    assert body["skipped"] == [{"id": second, "resolution": "dismissed"}]
    assert ids_of(tenant) == [fourth]
    again = answer(tenant.reviewer, note="asked", ids=[first, third])
    assert (again.status_code, again.json()["resolved"]) == (200, 0)
    with in_workspace(tenant.workspace):
        assert Event.objects.filter(type="prediction_error.resolved").count() == 3


def test_a_note_and_its_version_name_all_drift_of_one_edit(tenant: Tenant) -> None:
    ids = drifted_desks(tenant, 3)
    other = drifted(tenant)
    rows = errors(tenant.reader, note_path=DESKS_PATH)
    assert {row["note_version"] for row in rows} == {2}
    body = answer(tenant.reviewer, note_path=DESKS_PATH, note_version=2).json()
    assert (body["resolved"], body["skipped"], body["left"]) == (3, [], 0)
    assert [row["memory_id"] for row in errors(tenant.reader)] == [other]
    report_desks(tenant, ids)
    assert len(errors(tenant.reader)) == 1  # it holds for what the note says now
    again = answer(tenant.reviewer, note_path=DESKS_PATH, note_version=2).json()
    assert (again["resolved"], again["left"]) == (0, 0)
    put(tenant, desks_note(12, 3), DESKS_PATH)
    report_desks(tenant, ids)
    assert {row["note_version"] for row in errors(tenant.reader, note_path=DESKS_PATH)} == {3}


def test_an_answer_by_path_leaves_signals_and_errors_about_the_note_alone_open(
    tenant: Tenant,
) -> None:
    """Census pitfall 13."""
    memory_id, _ = drifted_desks(tenant, 2)
    signalled = tenant.agent.post(
        f"memories/{memory_id}/signals", {"source": "git", "evidence": {"commit": "8d1f"}}
    )
    assert signalled.status_code == 201
    for task in ("Prune the roses in March", "When are roses pruned?"):
        tenant.agent.post("context", {"task": task})
    rows = errors(tenant.reader, note_path=DESKS_PATH)
    assert sorted(row["error_type"] for row in rows) == ["low_overlap", *["memory_drift"] * 2]
    with in_workspace(tenant.workspace):  # of the same version of the note as the drift
        PredictionError.objects.filter(note_path=DESKS_PATH).update(note_version=2)
    answered = answer(tenant.reviewer, note_path=DESKS_PATH, note_version=2).json()
    drift = {row["id"] for row in rows if row["error_type"] == "memory_drift"}
    assert (set(answered["ids"]), answered["left"]) == (drift, 0)
    left = errors(tenant.reader)
    assert sorted(row["error_type"] for row in left) == ["low_overlap", "memory_external_signal"]


def test_one_call_answers_a_part_and_says_what_is_left(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    drifted_desks(tenant, 3)
    monkeypatch.setattr(api, "MOST_AT_ONCE", 2)
    of = {"note_path": DESKS_PATH, "note_version": 2}
    bodies = [answer(tenant.reviewer, **of).json() for _ in range(2)]
    assert [(body["resolved"], body["left"]) for body in bodies] == [(2, 1), (1, 0)]


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({}, 422),
        ({"ids": []}, 422),
        ({"ids": ["x"]}, 422),
        ({"ids": "x"}, 422),
        ({"ids": [str(uuid4())] * 501}, 422),
        ({"ids": [str(uuid4())]}, 404),
        ({"ids": [str(uuid4())], "note_path": "a.md", "note_version": 1}, 422),
        ({"ids": [str(uuid4())], "note_version": 1}, 422),
        ({"note_path": DESKS_PATH}, 422),
        ({"note_version": 2}, 422),
        ({"note_path": DESKS_PATH, "note_version": -1}, 422),
        ({"note_path": DESKS_PATH, "note_version": 10**30}, 400),
        ({"note_path": DESKS_PATH, "note_version": 1}, 404),
        ({"note_path": "no/such.md", "note_version": 2}, 404),
        ({"note_path": DESKS_PATH, "note_version": 2, "action": "forget"}, 422),
        ({"note_path": DESKS_PATH, "note_version": 2, "note": "AKIA" + "IOSFODNN7QWERTYU"}, 422),
    ],
)
def test_answers_that_name_no_errors_change_nothing(
    tenant: Tenant, fields: dict[str, Any], status: int
) -> None:
    drifted_desks(tenant, 2)
    refused = answer(tenant.reviewer, **fields)
    assert refused.status_code == status, refused.content
    assert len(ids_of(tenant)) == 2


def test_with_one_unknown_id_nothing_is_answered(tenant: Tenant, neighbour: Tenant) -> None:
    drifted_desks(tenant, 2)
    drifted_desks(neighbour, 1)
    mine, foreign = ids_of(tenant), ids_of(neighbour)
    assert answer(tenant.reviewer, ids=[*mine, *foreign]).status_code == 404
    assert answer(tenant.agent, ids=mine).status_code == 403
    assert len(ids_of(tenant)) == 2
    assert len(ids_of(neighbour)) == 1
    of = {"note_path": DESKS_PATH, "note_version": 2}
    assert answer(tenant.reviewer, **of).json()["resolved"] == 2
    assert len(ids_of(neighbour)) == 1
    assert [row.still_true_version for row in supports(neighbour)] == [None]


def test_an_answer_asks_as_many_queries_for_two_errors_as_for_ten(
    tenant: Tenant, django_assert_max_num_queries: Any
) -> None:
    drifted_desks(tenant, 12)
    ids = ids_of(tenant)
    errors(tenant.reviewer)
    with django_assert_max_num_queries(40) as two:
        answer(tenant.reviewer, ids=ids[:2])
    with django_assert_max_num_queries(40) as ten:
        assert answer(tenant.reviewer, ids=ids[2:]).json()["resolved"] == 10
    assert len(two) == len(ten)
