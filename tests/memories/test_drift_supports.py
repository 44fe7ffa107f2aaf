"""What memories lean on in notes: read, kept, dropped with the link, and given other cosines."""

from __future__ import annotations

from uuid import UUID

import pytest
from django.utils import timezone

from engram.kernel.actors import SYSTEM
from engram.kernel.tenancy import in_workspace
from memories.models import NoteSupport
from memories.services.drift import reading
from memories.services.drift.reopen import reopen_answer
from memories.services.index.reembed import switch
from memories.tasks import check_notes, sweep_notes
from tests.conftest import Tenant
from tests.memories.drift_world import (
    AFTER,
    BEFORE,
    MEMORY,
    SIGNER,
    SIGNING,
    UNSIGNED,
    check,
    drifted,
    errors,
    put,
    recall,
    remember,
    resolve,
    supports,
    types,
)
from tests.statements import statements


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


def test_a_link_that_becomes_ambiguous_keeps_the_drift(tenant: Tenant) -> None:
    """What the memory leans on is in the note that the link meant when it was read."""
    drifted(tenant, MEMORY.replace("work/release", "release"))
    [before] = errors(tenant.reader)
    put(tenant, "# Another\n\nOf the same name.", "home/release.md")
    assert errors(tenant.reader) == [before]
    assert len(supports(tenant)) == 1


def test_a_memory_older_than_its_note_is_compared_once_the_note_exists(tenant: Tenant) -> None:
    remember(tenant)
    assert supports(tenant) == []
    put(tenant, BEFORE)
    [row] = supports(tenant)
    assert (row.checked_version, row.is_drifted) == (1, False)
    put(tenant, AFTER)
    recall(tenant)
    assert len(errors(tenant.reader)) == 1


def test_a_commit_without_links_asks_nothing_about_notes(tenant: Tenant) -> None:
    remember(tenant, "Warm up the caches.")
    with statements() as sent:
        remember(tenant, "The lamp in the hall is green.")
    tables = ("memories_notesupport", "memories_predictionerror", "memories_notelink")
    assert sent
    assert [sql for sql in sent if any(table in sql for table in tables)] == []


def test_a_link_that_a_deletion_turns_to_another_note_leans_on_that_note(tenant: Tenant) -> None:
    put(tenant, BEFORE, "a/index.md")
    put(tenant, "Other things.", "b/index.md")
    remember(tenant, SIGNER.replace("work/release", "index"))
    assert supports(tenant) == []
    assert tenant.agent.delete("notes/b/index.md").status_code == 204
    put(tenant, UNSIGNED, "a/index.md")
    recall(tenant, SIGNING)
    assert types(tenant) == ["memory_drift"]


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


def test_answers_that_come_later_are_looked_for_in_the_note_as_it_was(tenant: Tenant) -> None:
    before = "# Leave\n\nRequests come in by mail. The ward sister signs each of them.\n"
    put(tenant, before, "work/leave.md")
    memory_id = remember(tenant, "Holidays are granted at the nurses' desk ([[work/leave]]).")
    check(tenant)
    told = {"answers": [{"question": "Who signs requests for leave?", "answer": "the ward sister"}]}
    assert tenant.reviewer.patch(f"memories/{memory_id}", told).status_code == 200
    assert check(tenant) == 1
    put(tenant, before.replace("ward sister", "matron"), "work/leave.md")
    check(tenant)
    recall(tenant, "holidays nurses' desk")
    [error] = errors(tenant.reader)
    assert error["context"]["reasons"] == [
        "Who signs requests for leave? The memory says the ward sister, the note matron"
    ]
