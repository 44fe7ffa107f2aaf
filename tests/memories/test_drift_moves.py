"""A note that moves: written at its new path, then deleted at the old one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone

from engram.kernel.tenancy import in_workspace
from memories.models import Note
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

NEW = "archive/release.md"
BY_NAME = MEMORY.replace("work/release", "release")


def delete(tenant: Tenant, path: str = PATH) -> None:
    assert tenant.agent.delete(f"notes/{path}").status_code == 204


def test_a_moved_note_keeps_its_drift_and_what_memories_lean_on(tenant: Tenant) -> None:
    memory_id = drifted(tenant, BY_NAME)
    [row] = errors(tenant.reader)
    put(tenant, AFTER, NEW)
    assert [one["id"] for one in errors(tenant.reader)] == [row["id"]]
    check(tenant)
    delete(tenant)
    [moved] = errors(tenant.reader)
    assert moved == row | {"note_path": NEW, "note_version": 1}
    [support] = supports(tenant)
    assert "open blocker" in str(support.support)
    assert (support.is_drifted, support.checked_version) == (True, 1)
    check(tenant)
    assert memory_id in recall(tenant)
    assert [one["id"] for one in errors(tenant.reader)] == [row["id"]]
    assert len(stored(tenant)) == 1


def test_what_agreed_before_the_move_drifts_at_the_next_edit(tenant: Tenant) -> None:
    put(tenant, BEFORE)
    remember(tenant, BY_NAME)
    check(tenant)
    put(tenant, BEFORE, NEW)
    delete(tenant)
    put(tenant, AFTER, NEW)
    recall(tenant)
    [row] = errors(tenant.reader)
    assert row["context"]["before"]["text"].startswith("The licence review is an open blocker")


def test_a_support_that_nobody_has_read_is_read_after_the_move(tenant: Tenant) -> None:
    put(tenant, BEFORE)
    remember(tenant, BY_NAME)
    put(tenant, BEFORE, NEW)
    check(tenant)
    delete(tenant)
    check(tenant)
    [support] = supports(tenant)
    assert (support.support is not None, support.due_at, support.checked_version) == (True, None, 1)


def test_still_true_holds_after_the_move(tenant: Tenant) -> None:
    drifted(tenant, BY_NAME)
    [row] = errors(tenant.reader)
    resolve(tenant.reviewer, row["id"], "still_true")
    put(tenant, AFTER, NEW)
    delete(tenant)
    put(tenant, AFTER + "\nMore.", NEW)
    check(tenant)
    recall(tenant)
    assert errors(tenant.reader) == []


def test_a_move_within_the_names_of_a_link_needs_no_ambiguity(tenant: Tenant) -> None:
    drifted(tenant)
    [row] = errors(tenant.reader)
    put(tenant, AFTER, f"archive/{PATH}")
    delete(tenant)
    assert [(one["id"], one["note_path"]) for one in errors(tenant.reader)] == [
        (row["id"], f"archive/{PATH}")
    ]


def test_a_link_to_the_old_path_ends_with_the_note(tenant: Tenant) -> None:
    drifted(tenant)
    put(tenant, AFTER, "archive/old.md")
    delete(tenant)
    assert errors(tenant.reader) == []
    [row] = errors(tenant.reader, resolved="all")
    assert (row["resolution"], row["context"]) == ("note_deleted", {})
    assert supports(tenant) == []


def test_drift_stays_open_while_another_text_has_the_name_of_its_note(tenant: Tenant) -> None:
    memory_id = drifted(tenant, BY_NAME)
    [row] = errors(tenant.reader)
    put(tenant, "# Release\n\nThe film premieres in June.", NEW)
    check(tenant)
    assert memory_id in recall(tenant)
    assert [one["id"] for one in errors(tenant.reader)] == [row["id"]]
    put(tenant, BEFORE)
    check(tenant)
    assert errors(tenant.reader) == []


@pytest.mark.parametrize("is_read", [True, False])
def test_what_a_memory_leaned_on_stays_when_another_note_takes_the_name(
    tenant: Tenant, is_read: bool
) -> None:
    put(tenant, BEFORE)
    remember(tenant, BY_NAME)
    if is_read:
        check(tenant)
    put(tenant, "# Release\n\nThe film premieres in June.", NEW)
    check(tenant)
    put(tenant, AFTER)
    delete(tenant, NEW)
    check(tenant)
    recall(tenant)
    [row] = errors(tenant.reader)
    assert row["note_path"] == PATH
    assert row["context"]["before"]["text"].startswith("The licence review is an open blocker")
    assert len(supports(tenant)) == 1


def test_a_note_that_loses_the_name_of_a_link_is_leaned_on_no_more(tenant: Tenant) -> None:
    put(tenant, "---\naliases: [launch]\n---\n" + BEFORE)
    remember(tenant, MEMORY.replace("work/release", "launch"))
    check(tenant)
    put(tenant, "---\naliases: [launch]\n---\nThe film premieres in June.", "film/june.md")
    check(tenant)
    [support] = supports(tenant)
    assert "open blocker" in str(support.support)
    put(tenant, BEFORE)
    check(tenant)
    with in_workspace(tenant.workspace):
        assert [one.note.path for one in supports(tenant)] == ["film/june.md"]


def test_a_copy_that_is_deleted_leaves_everything_as_it_was(tenant: Tenant) -> None:
    drifted(tenant, BY_NAME)
    [row] = errors(tenant.reader)
    put(tenant, AFTER, NEW)
    delete(tenant, NEW)
    assert errors(tenant.reader) == [row]
    assert supports(tenant)[0].is_drifted


def test_errors_about_the_note_alone_move_with_it(tenant: Tenant) -> None:
    text = "# Bees\n\nBees dance when they find nectar."
    put(tenant, text, "garden/bees.md")
    for task in ("Rotate the signing keys", "Who may rotate the signing keys?"):
        tenant.agent.post("context", {"task": task})
    [row] = errors(tenant.reader)
    put(tenant, text, "yard/bees.md")
    delete(tenant, "garden/bees.md")
    assert [(one["id"], one["note_path"]) for one in errors(tenant.reader)] == [
        (row["id"], "yard/bees.md")
    ]


def test_an_import_of_a_folder_with_a_moved_file_keeps_drift(
    tenant: Tenant, tmp_path: Path
) -> None:
    (tmp_path / "work").mkdir()
    file = tmp_path / "work" / "release.md"
    file.write_text(BEFORE)
    command: list[Any] = ["import_notes", str(tmp_path), "--workspace", tenant.workspace.slug]
    call_command(*command)
    memory_id = remember(tenant, BY_NAME)
    check(tenant)
    file.write_text(AFTER)
    call_command(*command)
    check(tenant)
    assert memory_id in recall(tenant)
    [row] = errors(tenant.reader)
    (tmp_path / "archive").mkdir()
    file.rename(tmp_path / "archive" / "release.md")
    call_command(*command, "--prune")
    with in_workspace(tenant.workspace):
        assert [note.path for note in Note.objects.all()] == [NEW]
    assert [(one["id"], one["note_path"]) for one in errors(tenant.reader)] == [(row["id"], NEW)]


def test_another_workspace_with_the_same_text_takes_nothing(
    tenant: Tenant, neighbour: Tenant
) -> None:
    drifted(tenant, BY_NAME)
    put(neighbour, AFTER, NEW)
    delete(tenant)
    assert errors(tenant.reader) == []
    assert stored(neighbour) == []
    assert timezone.now() > stored(tenant)[0].detected_at


def test_a_move_asks_as_many_queries_for_one_memory_as_for_eight(
    tenant: Tenant, django_assert_max_num_queries: Any
) -> None:
    counts = []
    for size in (1, 8):
        path, name = f"work/release{size}.md", f"release{size}"
        put(tenant, BEFORE, path)
        for n in range(size):
            remember(tenant, f"{MEMORY.replace('work/release', name)} Team {size}{n}.")
        check(tenant)
        put(tenant, BEFORE, f"moved/{name}.md")
        with django_assert_max_num_queries(80) as asked:
            delete(tenant, path)
        counts.append(len(asked))
        assert len(supports(tenant)) == size
        delete(tenant, f"moved/{name}.md")
    assert counts[0] == counts[1]
