"""Drift from the note to the list of errors: found, refreshed, resolved, found again."""

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
from memories.models import NoteSupport, PredictionError
from memories.services.drift import check as check_module
from memories.services.drift import reading, report
from memories.services.drift.answer import resolve_error
from memories.services.drift.note_errors import NearNote, report_notes
from memories.services.drift.reopen import reopen_answer
from memories.services.drift.report import report_drift
from memories.services.drift.resolve import resolve_drift
from memories.services.index.reembed import switch
from memories.services.notes.draft import NoteDraft
from memories.services.notes.put import put_note
from memories.tasks import check_notes, sweep_notes
from tests.conftest import Tenant
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


def test_a_note_that_agrees_gives_no_error(tenant: Tenant) -> None:
    put(tenant, BEFORE)
    memory_id = remember(tenant)
    assert check(tenant) == 1
    put(tenant, BEFORE.replace("Tuesdays", "Fridays").replace("Ines", "Zoe"))
    assert memory_id in recall(tenant)
    assert errors(tenant.reader) == []


def test_a_changed_note_gives_an_error_with_memory_path_and_passage(tenant: Tenant) -> None:
    memory_id = drifted(tenant, tags=["release"])
    [row] = errors(tenant.reader)
    assert (row["error_type"], row["memory_id"], row["note_path"]) == (
        "memory_drift", memory_id, PATH,
    )  # fmt: skip
    assert row["memory"]["content"] == MEMORY
    assert row["memory"]["tags"] == ["release"]
    assert row["query"] == f"memory:{memory_id}"
    assert 0 < row["cosine_distance"] < 2
    assert row["context"]["passage"] == {
        "heading": "Release", "text": "The licence review was resolved last week.",
    }  # fmt: skip
    assert row["context"]["before"]["text"].startswith("The licence review is an open blocker")
    assert row["context"]["reasons"]
    assert row["context"]["is_supported"] is True
    assert (row["resolved_at"], row["resolution"]) == (None, None)
    one = tenant.reader.get(f"prediction-errors/{row['id']}").json()
    assert one == row


def test_nothing_is_listed_before_the_memory_is_retrieved(tenant: Tenant) -> None:
    put(tenant, BEFORE)
    remember(tenant)
    check(tenant)
    put(tenant, AFTER)
    assert supports(tenant)[0].is_drifted
    assert errors(tenant.reader) == []
    recall(tenant, record=False)
    assert errors(tenant.reader) == []
    recall(tenant)
    assert len(errors(tenant.reader)) == 1


def test_a_note_changed_before_a_worker_has_read_the_support_is_compared_with_its_old_text(
    tenant: Tenant,
) -> None:
    put(tenant, BEFORE)
    memory_id = remember(tenant)
    put(tenant, AFTER)
    assert memory_id in recall(tenant)
    [row] = errors(tenant.reader)
    assert row["context"]["before"]["text"].startswith("The licence review is an open blocker")


def test_context_and_session_start_report_drift_as_recall_does(tenant: Tenant) -> None:
    put(tenant, BEFORE)
    remember(tenant)
    check(tenant)
    put(tenant, AFTER)
    assert tenant.agent.post("context", {"task": MEMORY}).json()["memories"]
    [row] = errors(tenant.reader)
    assert (row["context"]["origin"], row["occurrences"]) == ("context", 1)
    started = tenant.agent.post("sessions", {"session_key": "s1", "context": MEMORY}).json()
    assert started["memories"]
    [row] = errors(tenant.reader)
    assert row["occurrences"] == 2


def test_a_content_edit_resolves_and_a_tag_edit_does_not(tenant: Tenant) -> None:
    memory_id = drifted(tenant)
    assert tenant.agent.patch(f"memories/{memory_id}", {"tags": ["x"]}).status_code == 200
    assert len(errors(tenant.reader)) == 1
    text = "The licence review was resolved last week ([[work/release]])."
    assert tenant.agent.patch(f"memories/{memory_id}", {"content": text}).status_code == 200
    assert errors(tenant.reader) == []
    [row] = errors(tenant.reader, resolved="true")
    assert row["resolution"] == "updated"
    check(tenant)
    recall(tenant)
    assert errors(tenant.reader) == []


def test_hot_retrieval_keeps_one_row(tenant: Tenant) -> None:
    drifted(tenant)
    before = stored(tenant)[0]
    recall(tenant)
    recall(tenant)
    [row] = stored(tenant)
    assert (row.pk, row.occurrences, row.detected_at) == (before.pk, 3, before.detected_at)
    assert row.last_seen_at > before.last_seen_at


def test_after_25_hours_there_is_still_one_open_row(tenant: Tenant) -> None:
    memory_id = drifted(tenant)
    later = timezone.now() + timedelta(hours=25)
    with in_workspace(tenant.workspace):
        report_drift(tenant.workspace, [memory_id], origin="recall", now=later)  # type: ignore[list-item]
    [row] = stored(tenant)
    assert (row.occurrences, row.last_seen_at) == (2, later)


def test_the_stronger_signal_stays(tenant: Tenant) -> None:
    drifted(tenant)
    with in_workspace(tenant.workspace):
        PredictionError.objects.update(weight=1.0, context={"kept": True})
    recall(tenant)
    [row] = stored(tenant)
    assert (row.weight, row.context, row.occurrences) == (1.0, {"kept": True}, 2)
    put(tenant, AFTER.replace("last week", "in May"))
    recall(tenant)
    [row] = stored(tenant)
    assert row.note_version == 3
    assert row.context["passage"]["text"] == "The licence review was resolved in May."


def test_after_a_resolution_a_new_row_opens_when_the_note_changes_again(tenant: Tenant) -> None:
    drifted(tenant)
    [row] = errors(tenant.reader)
    assert resolve(tenant.reviewer, row["id"], "still_true", note="checked").status_code == 200
    recall(tenant)
    check(tenant)
    recall(tenant)
    assert errors(tenant.reader) == []
    put(tenant, BEFORE.replace("is an open blocker for", "does not concern"))
    check(tenant)
    recall(tenant)
    [again] = errors(tenant.reader)
    assert again["id"] != row["id"]


def test_updated_opens_a_new_row_while_memory_and_note_still_disagree(tenant: Tenant) -> None:
    drifted(tenant)
    [row] = errors(tenant.reader)
    assert resolve(tenant.reviewer, row["id"], "updated").status_code == 200
    recall(tenant)
    [again] = errors(tenant.reader)
    assert again["id"] != row["id"]


def test_a_note_that_agrees_again_resolves_by_itself(tenant: Tenant) -> None:
    drifted(tenant)
    put(tenant, BEFORE)
    assert errors(tenant.reader) == []
    [row] = errors(tenant.reader, resolved="true")
    assert row["resolution"] == "note_agrees"


def test_pointers_are_never_flagged(tenant: Tenant) -> None:
    put(tenant, BEFORE)
    pointer = remember(tenant, "What blocks the release is described in [[work/release]].")
    tagged = remember(tenant, tags=["promoted"])
    check(tenant)
    put(tenant, AFTER)
    assert {pointer, tagged} & set(recall(tenant, "what blocks the release", min_score=None))
    assert errors(tenant.reader) == []


def test_a_memory_that_becomes_a_pointer_is_resolved(tenant: Tenant) -> None:
    memory_id = drifted(tenant)
    tenant.agent.patch(f"memories/{memory_id}", {"tags": ["promoted"]})
    assert errors(tenant.reader) == []
    sweep_notes()
    [row] = errors(tenant.reader, resolved="all")
    assert row["resolution"] == "promoted"
    recall(tenant)
    assert errors(tenant.reader) == []


def test_a_failing_check_does_not_break_recall_and_is_counted(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory_id = drifted(tenant)
    monkeypatch.setattr(report, "_DRIFTED", "SELECT 1 / 0")
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


def test_switching_drift_off_reports_nothing(tenant: Tenant) -> None:
    put(tenant, BEFORE)
    remember(tenant)
    check(tenant)
    answer = tenant.admin.patch("workspace/settings", {"drift_enabled": False})
    assert answer.status_code == 200
    put(tenant, AFTER)
    recall(tenant)
    assert errors(tenant.reader) == []


def test_the_threshold_of_the_workspace_decides(tenant: Tenant) -> None:
    assert tenant.admin.patch("workspace/settings", {"drift_threshold": 0.99}).status_code == 422
    put(tenant, BEFORE)
    remember(tenant, "Marek signs the release notes ([[work/release]]).")
    check(tenant)
    tenant.admin.patch("workspace/settings", {"drift_threshold": 0.9})
    vague = BEFORE.replace("Marek signs the release notes.", "Marek signs what goes out.")
    put(tenant, vague)
    recall(tenant, "who signs release notes")
    assert errors(tenant.reader) == []
    tenant.admin.patch("workspace/settings", {"drift_threshold": 0.5})
    put(tenant, vague + "\nMore.")
    recall(tenant, "who signs release notes")
    assert len(errors(tenant.reader)) == 1


def test_a_lost_task_is_made_up_for_by_the_sweep(tenant: Tenant) -> None:
    put(tenant, BEFORE)
    remember(tenant)
    assert supports(tenant)[0].due_at is not None
    sweep_notes()
    [row] = supports(tenant)
    assert (row.due_at, row.checked_version, row.note_version) == (None, 1, 1)
    check_notes(str(tenant.workspace.pk))


def test_a_long_note_is_left_to_a_worker_and_read_in_part(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "MAX_EMBEDDED", 10)
    filling = "\n\n".join(f"Locker {n} is {'very ' * 60}old." for n in range(40))
    put(tenant, f"{BEFORE}\n{filling}")
    memory_id = remember(tenant)
    check(tenant)
    put(tenant, f"{AFTER}\n{filling}")
    assert supports(tenant)[0].due_at is not None
    check(tenant)
    assert memory_id in recall(tenant)
    assert len(errors(tenant.reader)) == 1


@pytest.mark.parametrize(
    "content",
    ["", "\n" * 5000, "|" * 50_000, "# " * 20_000, "[[" * 20_000, "x" * 100_000, "\x01\x02�" * 900,
     "- " * 20_000, "```\n" * 5_000],
)  # fmt: skip
def test_odd_notes_are_checked_without_an_error(tenant: Tenant, content: str) -> None:
    put(tenant, BEFORE)
    remember(tenant)
    check(tenant)
    put(tenant, content)
    check(tenant)
    [row] = supports(tenant)
    assert (row.due_at, row.attempts, row.checked_version) == (None, 0, 2)


def test_removing_the_link_drops_the_support_and_a_later_link_brings_a_new_one(
    tenant: Tenant,
) -> None:
    put(tenant, BEFORE)
    memory_id = remember(tenant)
    check(tenant)
    tenant.agent.patch(f"memories/{memory_id}", {"content": "The licence review is a blocker."})
    assert supports(tenant) == []
    tenant.agent.patch(f"memories/{memory_id}", {"content": MEMORY})
    check(tenant)
    assert supports(tenant)[0].support is not None


def test_a_link_that_becomes_ambiguous_ends_the_drift(tenant: Tenant) -> None:
    drifted(tenant, MEMORY.replace("work/release", "release"))
    assert len(errors(tenant.reader)) == 1
    put(tenant, "# Another\n\nOf the same name.", "home/release.md")
    assert errors(tenant.reader) == []
    [row] = errors(tenant.reader, resolved="all")
    assert row["resolution"] == "link_gone"
    assert supports(tenant) == []


def test_a_memory_older_than_its_note_is_compared_once_the_note_exists(tenant: Tenant) -> None:
    remember(tenant)
    assert supports(tenant) == []
    put(tenant, BEFORE)
    [row] = supports(tenant)
    assert (row.checked_version, row.is_drifted) == (1, False)
    put(tenant, AFTER)
    recall(tenant)
    assert len(errors(tenant.reader)) == 1


def test_a_recall_asks_as_many_queries_for_one_drift_as_for_ten(tenant: Tenant) -> None:
    counts = []
    for size in (1, 9):
        for n in range(size):
            put(tenant, BEFORE, f"area{size}{n}/release.md")
            remember(tenant, MEMORY.replace("work", f"area{size}{n}") + f" Team {size}{n}.")
        check(tenant)
        for n in range(size):
            put(tenant, AFTER, f"area{size}{n}/release.md")
        recall(tenant, k=20)
        with CaptureQueriesContext(
            connection,
        ) as asked:
            recall(tenant, k=20)
        counts.append(len(asked))
    assert len(stored(tenant)) == 10
    assert counts[0] == counts[1]


SIGNER = "Marek signs the release notes ([[work/release]])."
UNSIGNED = BEFORE.replace("Marek signs the release notes. ", "")
SIGNING = "who signs the release notes"


def types(tenant: Tenant) -> list[str]:
    return sorted(row["error_type"] for row in errors(tenant.reader))


def test_repeating_a_statement_or_setting_answers_keeps_drift_and_signals(tenant: Tenant) -> None:
    memory_id = drifted(tenant)
    path = f"memories/{memory_id}"
    signal = {"source": "git", "evidence": {"commit": "8d1f"}}
    assert tenant.agent.post(f"{path}/signals", signal).status_code == 201
    both = ["memory_drift", "memory_external_signal"]
    assert types(tenant) == both
    assert remember(tenant) == memory_id
    assert types(tenant) == both
    answers = {"answers": [{"question": "Who books the rooms?", "answer": "Ines"}]}
    assert tenant.reviewer.patch(path, answers).status_code == 200
    check(tenant)
    assert types(tenant) == both
    assert tenant.reviewer.patch(path, {"content": SIGNER}).status_code == 200
    assert types(tenant) == []


def test_repeating_a_statement_that_the_note_lost_keeps_what_it_leaned_on(tenant: Tenant) -> None:
    put(tenant, BEFORE)
    memory_id = remember(tenant, SIGNER)
    check(tenant)
    put(tenant, UNSIGNED)
    assert remember(tenant, SIGNER) == memory_id
    check(tenant)
    recall(tenant, SIGNING)
    assert types(tenant) == ["memory_drift"]


def test_a_commit_without_links_asks_nothing_about_notes(tenant: Tenant) -> None:
    remember(tenant, "Warm up the caches.")
    with CaptureQueriesContext(connection) as asked:
        remember(tenant, "The lamp in the hall is green.")
    tables = ("memories_notesupport", "memories_predictionerror", "memories_notelink")
    assert [one["sql"] for one in asked if any(table in one["sql"] for table in tables)] == []


def test_a_link_that_a_deletion_turns_to_another_note_leans_on_that_note(tenant: Tenant) -> None:
    put(tenant, BEFORE, "a/index.md")
    put(tenant, "Other things.", "b/index.md")
    remember(tenant, SIGNER.replace("work/release", "index"))
    assert supports(tenant) == []
    assert tenant.agent.delete("notes/b/index.md").status_code == 204
    put(tenant, UNSIGNED, "a/index.md")
    recall(tenant, SIGNING)
    assert types(tenant) == ["memory_drift"]


def test_still_true_that_is_taken_back_waits_after_the_next_check(tenant: Tenant) -> None:
    drifted(tenant)
    [row] = errors(tenant.reader)
    assert resolve(tenant.reviewer, row["id"], "still_true").status_code == 200
    reopen_answer(tenant.workspace, UUID(row["id"]), actor=SYSTEM, now=timezone.now())
    assert check(tenant) == 1
    recall(tenant)
    assert [one["id"] for one in errors(tenant.reader)] == [row["id"]]


def test_still_true_holds_while_the_note_changes_elsewhere(tenant: Tenant) -> None:
    drifted(tenant)
    [row] = errors(tenant.reader)
    assert resolve(tenant.reviewer, row["id"], "still_true").status_code == 200
    put(tenant, AFTER.replace("Tuesdays", "Fridays"))
    recall(tenant)
    assert errors(tenant.reader) == []
    assert supports(tenant)[0].checked_version == 3


def test_after_still_true_each_other_text_in_this_place_is_drift(tenant: Tenant) -> None:
    def note(time: str) -> str:
        return f"# Ferries\n\nThe ferry number 4100 leaves at {time}.\n\nTickets are sold on board."

    put(tenant, note("14:00"))
    remember(tenant, "Ferry 4100 leaves at 14:00, see [[work/release]].")
    check(tenant)
    found = []
    for time in ("16:30", "19:45", "21:15"):
        put(tenant, note(time))
        recall(tenant, "When does ferry 4100 leave?")
        [row] = errors(tenant.reader)
        found.append(row["context"]["passage"]["text"])
        assert resolve(tenant.reviewer, row["id"], "still_true").status_code == 200
    assert found == [f"The ferry number 4100 leaves at {t}." for t in ("16:30", "19:45", "21:15")]


def test_a_change_of_the_note_after_another_embedding_model_is_drift(tenant: Tenant) -> None:
    put(tenant, BEFORE)
    remember(tenant)
    check(tenant)
    with in_workspace(tenant.workspace):
        NoteSupport.objects.update(model="another")
    put(tenant, AFTER)
    recall(tenant)
    assert types(tenant) == ["memory_drift"]


def test_another_embedding_model_marks_what_agrees_with_its_note(tenant: Tenant) -> None:
    put(tenant, BEFORE)
    remember(tenant)
    check(tenant)
    [before] = supports(tenant)
    assert before.due_at is None
    switch(tenant.workspace, "another", actor=SYSTEM, now=timezone.now())
    [row] = supports(tenant)
    assert (row.support, row.due_at is not None) == (before.support, True)


def test_a_check_gives_a_support_the_cosines_of_the_present_model_once(tenant: Tenant) -> None:
    put(tenant, BEFORE)
    remember(tenant)
    check(tenant)
    [read] = supports(tenant)
    with in_workspace(tenant.workspace):
        other = {
            **read.support,
            "similarity": 0.0,
            "sentences": [one | {"cosine": 0.0} for one in read.support["sentences"]],
        }
        NoteSupport.objects.update(support=other, model="another", due_at=timezone.now())
    assert check(tenant) == 1
    [again] = supports(tenant)
    assert (again.model, again.support, again.due_at) == (read.model, read.support, None)


def test_drift_of_another_embedding_model_is_not_read_from_the_changed_note(
    tenant: Tenant,
) -> None:
    drifted(tenant)
    [row] = errors(tenant.reader)
    assert resolve(tenant.reviewer, row["id"], "still_true").status_code == 200
    with in_workspace(tenant.workspace):
        NoteSupport.objects.update(model="another")
    reopen_answer(tenant.workspace, UUID(row["id"]), actor=SYSTEM, now=timezone.now())
    assert check(tenant) == 1
    assert [one["id"] for one in errors(tenant.reader)] == [row["id"]]
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
                    [memory_id],  # type: ignore[list-item]
                    origin="recall",
                    now=timezone.now(),
                )
        finally:
            connections.close_all()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: detect(), range(4)))
    [row] = stored(tenant)
    assert row.occurrences == 4


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
