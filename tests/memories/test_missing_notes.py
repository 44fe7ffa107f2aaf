"""A task that no note was near to is settled once a note is."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from engram.kernel.embedding import EmbeddingUnavailableError
from engram.kernel.tenancy import in_workspace
from memories import tasks
from memories.models import Note, NoteChunk, PredictionError
from memories.services.notes import missing
from memories.services.notes.missing import resolve_answered
from tests.conftest import Tenant
from tests.memories.drift_world import errors, put

BEES = "# Bees\n\nBees dance when they find nectar."
KEYS = "# Signing keys\n\nThe signing keys of the payment gateway are rotated in May by Ines."
TASK = "Rotate the signing keys of the payment gateway"


def ask(tenant: Tenant, task: str = TASK) -> None:
    assert tenant.agent.post("context", {"task": task}).status_code == 200


def open_tasks(tenant: Tenant) -> list[str]:
    return [row["query"] for row in errors(tenant.reader, unconfirmed="true")]


def ended(tenant: Tenant) -> list[tuple[str, str]]:
    rows = errors(tenant.reader, unconfirmed="true", resolved="true")
    return [(row["resolution"], row["resolved_by"]) for row in rows]


def test_a_task_asked_again_is_settled_where_a_note_is_near(tenant: Tenant) -> None:
    put(tenant, BEES, "bees.md")
    ask(tenant)
    ask(tenant, "Translate the terms of service into Polish")
    put(tenant, KEYS, "keys.md")
    ask(tenant, "Who rotates signing keys?")  # another text
    assert TASK in open_tasks(tenant)
    ask(tenant)
    assert TASK not in open_tasks(tenant)
    assert ended(tenant) == [("note_near", "engram")]


def test_a_sweep_settles_tasks_that_a_new_note_is_near_to(
    tenant: Tenant, neighbour: Tenant
) -> None:
    for one in (tenant, neighbour):
        put(one, BEES, "bees.md")
        ask(one)
    put(tenant, "# Kiln\n\nThe kiln is fired on Tuesdays.", "kiln.md")
    tasks.sweep_notes()
    assert open_tasks(tenant) == [TASK]
    put(tenant, f"{BEES}\n\n{KEYS}", "bees.md")
    tasks.sweep_notes()
    assert (open_tasks(tenant), ended(tenant)) == ([], [("note_near", "engram")])
    assert open_tasks(neighbour) == [TASK]
    put(tenant, BEES, "bees.md")
    ask(tenant)
    assert open_tasks(tenant) == [TASK]


def test_a_task_is_compared_once_with_the_same_notes(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tenant, BEES, "bees.md")
    ask(tenant)
    asked: list[str] = []
    find = missing.find_passages

    def count(workspace: Any, query: str, **given: Any) -> Any:
        asked.append(query)
        return find(workspace, query, **given)

    monkeypatch.setattr(missing, "find_passages", count)
    for _ in range(2):
        assert resolve_answered(tenant.workspace, now=timezone.now()) == 0
    assert asked == [TASK]
    [row] = errors(tenant.reader, unconfirmed="true")
    assert set(row["context"]) == {"heading", "project"}
    with in_workspace(tenant.workspace):  # a passage that was embedded later
        [chunk] = NoteChunk.objects.all()
        NoteChunk.objects.filter(pk=chunk.pk).update(embedding=None, model="")
    resolve_answered(tenant.workspace, now=timezone.now())
    assert asked == [TASK] * 2


def test_tasks_wait_while_texts_cannot_be_embedded(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tenant, BEES, "bees.md")
    ask(tenant)
    put(tenant, KEYS, "keys.md")

    def fail(*_: Any, **__: Any) -> Any:
        raise EmbeddingUnavailableError("down")

    with monkeypatch.context() as broken:
        broken.setattr(missing, "find_passages", fail)
        assert resolve_answered(tenant.workspace, now=timezone.now()) == 0
    assert resolve_answered(tenant.workspace, now=timezone.now()) == 1


def test_many_tasks_are_settled_with_the_statements_of_one(tenant: Tenant) -> None:
    put(tenant, BEES, "bees.md")
    counts = []
    for copies in (1, 20):
        put(tenant, BEES, "bees.md")
        with in_workspace(tenant.workspace):
            note, now = Note.objects.get(), timezone.now()
            PredictionError.objects.bulk_create(
                PredictionError(
                    error_type="low_overlap", note=note, note_path=note.path, source=f"s{n}",
                    query=TASK, queries=["a", "b"], detected_at=now, last_seen_at=now,
                )
                for n in range(copies)
            )  # fmt: skip
        put(tenant, KEYS, "bees.md")
        with CaptureQueriesContext(connection) as captured:
            assert resolve_answered(tenant.workspace, now=timezone.now()) == copies
        written = ("predictionerror", "kernel_event")
        counts.append(sum(any(name in one["sql"] for name in written) for one in captured))
    assert counts[0] == counts[1] > 0
