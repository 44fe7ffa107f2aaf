"""Drift where something fails or happens at once: recall stands, one row, no deadlock."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from threading import Barrier, Event
from time import sleep
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import OperationalError, connection, connections
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from engram.kernel.actors import SYSTEM
from engram.kernel.embedding import EmbeddingUnavailableError
from engram.kernel.models import StageError
from engram.kernel.refusals import StaleError
from engram.kernel.tenancy import in_workspace
from memories.models import NoteSupport
from memories.services.drift import check as check_module
from memories.services.drift import reopen, report
from memories.services.drift.answer import resolve_error
from memories.services.drift.due import answers_changed
from memories.services.drift.erase import note_revived
from memories.services.drift.missed import report_missed
from memories.services.drift.note_errors import NearNote, report_notes
from memories.services.drift.report import report_drift
from memories.services.drift.resolve import resolve_drift
from memories.services.drift.signals import Signal, record_signal
from memories.services.locks import lock
from memories.services.notes.draft import NoteDraft
from memories.services.notes.put import put_note
from memories.services.recall.log import count_recalls
from memories.tasks import sweep_notes
from tests.conftest import Tenant
from tests.memories.drift_world import (
    AFTER,
    BEFORE,
    MEMORY,
    PATH,
    check,
    drifted,
    errors,
    give,
    put,
    recall,
    remember,
    stored,
    supports,
)


def test_a_failing_check_does_not_break_recall_and_is_counted(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error in the check must neither fail the recall nor pass unseen (pitfall 12)."""
    memory_id = drifted(tenant)
    failing = report._DRIFTED.replace("least(support.evidence, 1.0)", "1.0 / 0")
    monkeypatch.setattr(report, "_DRIFTED", failing)
    assert memory_id in recall(tenant)
    assert tenant.agent.post("context", {"task": MEMORY}).json()["memories"]
    with in_workspace(tenant.workspace):
        failures = StageError.objects.filter(stage="drift", code="drift_failed")
        assert failures.count() == 2


def test_a_failing_comparison_is_counted_retried_and_given_up(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tenant, BEFORE)
    remember(tenant)

    def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError("no")

    monkeypatch.setattr("memories.services.drift.check.has_drifted", fail)
    now = timezone.now()
    assert [check(tenant, now), check(tenant, now)] == [1, 0]
    assert [check(tenant, now + timedelta(hours=hours)) for hours in range(1, 7)] == [1] * 4 + [
        0
    ] * 2
    [row] = supports(tenant)
    assert (row.attempts, row.due_at is not None) == (5, True)
    monkeypatch.undo()
    put(tenant, AFTER)
    assert supports(tenant)[0].is_drifted


@pytest.mark.django_db(transaction=True)
def test_an_answer_during_a_check_waits_for_it(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    drifted(tenant)
    [row] = errors(tenant.reader)
    again = NoteDraft(PATH, BEFORE)
    monkeypatch.setattr("memories.services.notes.put.note_changed", lambda *_, **__: None)
    put_note(tenant.workspace, again, actor=SYSTEM, now=timezone.now())
    monkeypatch.undo()
    with in_workspace(tenant.workspace):
        NoteSupport.objects.update(due_at=timezone.now())
    holds_supports = Event()

    def hold(*args: Any, **kwargs: Any) -> None:
        holds_supports.set()
        sleep(0.3)  # until the answer waits for a lock
        resolve_drift(*args, **kwargs)

    monkeypatch.setattr(check_module, "resolve_drift", hold)

    def answer() -> str:
        try:
            assert holds_supports.wait(10)
            resolve_error(
                tenant.workspace, UUID(row["id"]), "still_true", actor=SYSTEM, now=timezone.now()
            )
            return "answered"
        except StaleError as error:
            return error.cause.name
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as pool:
        answered = pool.submit(answer)
        assert check(tenant) == 1
    assert answered.result() == "prediction-error-resolved"
    assert stored(tenant)[0].resolution == "note_agrees"


@pytest.mark.django_db(transaction=True)
def test_concurrent_detections_leave_one_row(tenant: Tenant) -> None:
    """Recalls at the same time must not list one drift several times (pitfall 14)."""
    put(tenant, BEFORE)
    memory_id = remember(tenant)
    check(tenant)
    put(tenant, AFTER)
    gate = Barrier(4)

    def detect() -> None:
        try:
            gate.wait()
            with in_workspace(tenant.workspace):
                report_drift(
                    tenant.workspace,
                    [UUID(memory_id)],
                    origin="recall",
                    now=timezone.now(),
                )
        finally:
            connections.close_all()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: detect(), range(4)))
    [row] = stored(tenant)
    assert row.occurrences == 4


@pytest.mark.django_db(transaction=True)
def test_drift_that_a_recall_left_out_because_of_a_lock_is_reported_by_the_sweep(
    tenant: Tenant,
) -> None:
    """A worker that holds a recalled memory must not make its drift go unsaid."""
    put(tenant, BEFORE)
    memory_id = remember(tenant, project="shop")
    unread = remember(tenant, "Builds run on Tuesdays ([[work/release]]).", project="bank")
    check(tenant)
    put(tenant, AFTER.replace("Tuesdays", "Fridays"))
    locked, answered = Event(), Event()

    def hold() -> None:
        try:
            with in_workspace(tenant.workspace):
                lock([UUID(memory_id), UUID(unread)])
                locked.set()
                assert answered.wait(10)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as pool:
        held = pool.submit(hold)
        assert locked.wait(10)
        assert recall(tenant, project="shop") == [memory_id]
        answered.set()
        held.result()
    assert [row.is_drifted for row in supports(tenant)] == [True, True]
    assert errors(tenant.reader) == []
    count_recalls(tenant.workspace)
    for _ in range(2):
        sweep_notes()
        [row] = errors(tenant.reader)
        assert (row["memory_id"], row["occurrences"]) == (memory_id, 1)


@pytest.mark.parametrize("how", ["context", "session", "prompt"])
def test_missed_drift_of_whatever_gave_a_memory_is_reported_unless_it_was_long_ago(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    put(tenant, BEFORE)
    remember(tenant)
    check(tenant)
    if how == "prompt":  # of a session that was given the memory before
        give(tenant, "session", MEMORY)
    put(tenant, AFTER)
    monkeypatch.setattr(report, "_report", lambda *_: None)  # as if all rows were locked
    give(tenant, how, MEMORY)
    count_recalls(tenant.workspace)
    now = timezone.now()
    report_missed(tenant.workspace, now=now + timedelta(hours=2))
    assert errors(tenant.reader) == []
    with monkeypatch.context() as patched:
        patched.setattr("memories.services.drift.missed.report_served", fail)
        report_missed(tenant.workspace, now=now)
    with in_workspace(tenant.workspace):
        assert StageError.objects.filter(stage="drift", code="drift_failed").count() == 1
    report_missed(tenant.workspace, now=now)
    assert len(errors(tenant.reader)) == 1


def fail(*_: Any, **__: Any) -> None:
    raise OperationalError("the connection is gone")


@pytest.mark.django_db(transaction=True)
def test_a_signal_during_an_undo_leaves_one_open_row(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory_id = UUID(remember(tenant, "Pumps are serviced in May."))
    signal = Signal("git", {"commit": "a1"})
    by: dict[str, Any] = {"actor": SYSTEM, "now": timezone.now()}
    first = record_signal(tenant.workspace, memory_id, signal, **by)
    resolve_error(tenant.workspace, first.pk, "dismiss", **by)
    look = reopen._reopenable
    looks = []

    def signal_again() -> None:
        try:
            record_signal(tenant.workspace, memory_id, signal, **by)
        finally:
            connections.close_all()

    def look_and_be_overtaken(*args: Any) -> Any:
        found = look(*args)
        looks.append(found)
        with ThreadPoolExecutor(1) as pool:
            pool.submit(signal_again).result()
        return found

    monkeypatch.setattr(reopen, "_reopenable", look_and_be_overtaken)
    with pytest.raises(StaleError, match="found again since"):
        reopen.reopen_answer(tenant.workspace, first.pk, **by)
    assert len(looks) == 1
    rows = stored(tenant)
    assert [row.resolution for row in rows if row.resolved_at is None] == [""]
    assert [row.resolution for row in rows if row.pk == first.pk] == ["dismissed"]


def test_a_note_deleted_meanwhile_does_not_fail_the_answer(tenant: Tenant) -> None:
    near = NearNote(uuid4(), "garden/bees.md", "", 0.01)
    with in_workspace(tenant.workspace):
        report_notes(tenant.workspace, "lattice gauge theory", "", [near], now=timezone.now())
        connection.check_constraints()
    assert stored(tenant) == []


@pytest.mark.django_db(transaction=True)
def test_what_is_reported_stays_until_the_answer_is_committed(tenant: Tenant) -> None:
    memory_id = drifted(tenant)

    def hold(statement: str) -> str:
        try:
            with in_workspace(tenant.workspace), connection.cursor() as cursor:
                cursor.execute("SET LOCAL lock_timeout = '100ms'")
                cursor.execute(statement)
        except OperationalError:
            return "waits"
        finally:
            connections.close_all()
        return "goes on"

    with in_workspace(tenant.workspace), ThreadPoolExecutor(1) as pool:
        report_drift(tenant.workspace, [UUID(memory_id)], origin="recall", now=timezone.now())
        for statement in (
            "DELETE FROM memories_note",
            "UPDATE memories_memory SET forgotten_at = now()",
            "UPDATE memories_notesupport SET is_drifted = false",
        ):
            assert pool.submit(hold, statement).result() == "waits", statement
        assert pool.submit(hold, "UPDATE memories_note SET agent = agent").result() == "goes on"


def test_a_memory_forgotten_meanwhile_opens_no_error(tenant: Tenant) -> None:
    memory_id = drifted(tenant)
    tenant.reviewer.post("memories/forget", {"ids": [memory_id], "confirm": True})
    with in_workspace(tenant.workspace):
        report_drift(tenant.workspace, [UUID(memory_id)], origin="recall", now=timezone.now())
    assert [one.resolution for one in stored(tenant)] == ["memory_forgotten"]


def test_during_an_outage_a_turn_ends_and_costs_no_attempt(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tenant, BEFORE)
    remember(tenant)
    calls = []

    def fail(*_: Any) -> None:
        calls.append(1)
        raise EmbeddingUnavailableError("down")

    monkeypatch.setattr("memories.services.drift.check.A_TURN", 1)
    monkeypatch.setattr("memories.services.drift.check.score_statements", fail)
    assert check(tenant) == 0
    assert len(calls) == 1
    [row] = supports(tenant)
    assert (row.attempts, row.due_at is not None) == (0, True)


def test_a_workspace_that_fails_does_not_stop_the_sweep(
    tenant: Tenant, neighbour: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    for each in (tenant, neighbour):
        put(each, BEFORE)
        remember(each)
    real = check_module._read

    def read(taken: list[NoteSupport], now: datetime) -> Any:
        if taken[0].workspace_id == tenant.workspace.pk:
            raise RuntimeError("no")
        return real(taken, now)

    monkeypatch.setattr(check_module, "_read", read)
    sweep_notes()
    assert [supports(each)[0].due_at is None for each in (tenant, neighbour)] == [False, True]


def test_a_check_locks_supports_before_errors(tenant: Tenant) -> None:
    drifted(tenant)
    put(tenant, AFTER + "\nMore.\n")
    with in_workspace(tenant.workspace):
        NoteSupport.objects.update(due_at=timezone.now())
    put_note(tenant.workspace, NoteDraft(PATH, BEFORE), actor=SYSTEM, now=timezone.now())
    with CaptureQueriesContext(connection) as asked:
        check(tenant)
    locks = [query["sql"] for query in asked if " FOR " in query["sql"]]
    tables = [re.search(r'FROM "(memories_(?:notesupport|predictionerror))"', sql) for sql in locks]
    assert [found[1] for found in tables if found] == [
        "memories_notesupport", "memories_predictionerror",
    ]  # fmt: skip
    [resolved] = stored(tenant)
    assert resolved.resolution == "note_agrees"


def test_what_marks_supports_locks_them_in_the_order_of_checks(tenant: Tenant) -> None:
    put(tenant, BEFORE)
    put(tenant, BEFORE, "work/other.md")
    asked = {"question": "Who books the rooms?", "answer": "Ines"}
    told = f"{MEMORY} See also [[work/other]]."
    ids = [UUID(remember(tenant, f"{told} Point {n}.", answers=[asked])) for n in range(3)]
    with in_workspace(tenant.workspace):  # stored against the order of their memories
        rows = list(NoteSupport.objects.order_by("-memory_id", "-note_id"))
        NoteSupport.objects.all().delete()
        NoteSupport.objects.bulk_create(rows)
    wanted = [row.pk for row in reversed(rows)]
    for mark in (answers_changed, lambda ids, now: note_revived(None, memory_ids=ids, now=now)):
        with in_workspace(tenant.workspace):
            NoteSupport.objects.update(due_at=None)
            with CaptureQueriesContext(connection) as captured:
                mark(ids, now=timezone.now())
            about = [q["sql"] for q in captured if "memories_notesupport" in q["sql"]]
            locking, marking = about
            assert "FOR NO KEY UPDATE" in locking
            assert marking.startswith("UPDATE")
            with connection.cursor() as cursor:
                cursor.execute(locking)
                assert [row[0] for row in cursor.fetchall()] == wanted
            assert all(row.due_at for row in NoteSupport.objects.all())
