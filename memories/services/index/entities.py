"""Write the entities that memories name, with how many memories name each.

New and reworded memories are read with their words, in the same round trip (`WordIndex`). A row of
`EntityDue` marks the others: memories from before the table, those whose answers changed, and those
that were hidden or restored; a sweep reads them in small steps. Hidden memories have no entities,
so that they neither count nor take the place of others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from time import monotonic
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import QuerySet

from engram.kernel.models import Workspace
from engram.kernel.tenancy import current_workspace_id, in_workspace
from memories.core.entities import ENTITIES_MAX, entities
from memories.models import EntityDue, MemoryAnswer, MemoryEntity
from memories.services.locks import lock

SqlStatement = tuple[str, list[Any]]

MEMORIES_A_STEP = 200
_MARK_DUE = """
    INSERT INTO memories_entitydue (workspace_id, memory_id, since)
    SELECT workspace_id, id, statement_timestamp() FROM memories_memory
    WHERE workspace_id = %s {among} ORDER BY id
    ON CONFLICT (memory_id) DO NOTHING
"""
_DROP = """
    DELETE FROM memories_memoryentity WHERE workspace_id = %s AND memory_id = ANY(%s::uuid[])
    RETURNING key
"""
_INSERT = """
    INSERT INTO memories_memoryentity (workspace_id, key, memory_id, is_subject)
    SELECT %s, key, memory_id, is_subject FROM unnest(%s::text[], %s::uuid[], %s::bool[])
        AS entity (key, memory_id, is_subject)
"""
# All writers of a workspace change the same counts: in the order of the keys, so that none waits
# for another that waits for it. A count that ends at 0 leaves no trace of the key.
_COUNT = """
    INSERT INTO memories_entitycount AS kept (workspace_id, key, memories)
    SELECT %s, key, change FROM unnest(%s::text[], %s::int[]) AS changed (key, change) ORDER BY key
    ON CONFLICT (workspace_id, key) DO UPDATE SET memories = kept.memories + excluded.memories
"""
_FORGET_KEYS = """
    DELETE FROM memories_entitycount
    WHERE workspace_id = %s AND key = ANY(%s::text[]) AND memories <= 0
"""


class EntityIndex:
    """The changes to entities of a transaction, collected while it runs, written last."""

    def __init__(self) -> None:
        self._new: dict[UUID, dict[str, bool]] = {}
        self._changes: Counter[str] = Counter()

    def add(self, memory_id: UUID, content: str, questions: Sequence[str] = ()) -> None:
        """Read a new memory, and the questions that it answers."""
        self._new[memory_id] = read_entities(content, questions)
        self._changes.update(self._new[memory_id].keys())

    def replace(self, texts: Mapping[UUID, tuple[str, Sequence[str]]]) -> None:
        """Read memories anew, each with the questions it answers; the caller has locked them."""
        self.drop(texts)
        for memory_id, (content, questions) in texts.items():
            self.add(memory_id, content, questions)

    def drop(self, memory_ids: Collection[UUID]) -> None:
        """Remove the entities of memories, those that were added before included."""
        for memory_id in memory_ids:
            self._changes.subtract(self._new.pop(memory_id, {}).keys())
        with connection.cursor() as cursor:
            cursor.execute(_DROP, [current_workspace_id(), list(memory_ids)])
            self._changes.subtract(key for (key,) in cursor.fetchall())

    def statements(self) -> Iterator[SqlStatement]:
        """Yield the statements that write the changes."""
        workspace_id = current_workspace_id()
        rows = [
            (key, memory_id, is_subject)
            for memory_id, found in self._new.items()
            for key, is_subject in found.items()
        ]
        if rows:
            yield _INSERT, [workspace_id, *([row[place] for row in rows] for place in range(3))]
        changes = sorted((key, change) for key, change in self._changes.items() if change)
        if changes:
            yield _COUNT, [workspace_id, [key for key, _ in changes], [n for _, n in changes]]
        if fewer := [key for key, change in changes if change < 0]:
            yield _FORGET_KEYS, [workspace_id, fewer]


def read_entities(content: str, questions: Sequence[str] = ()) -> dict[str, bool]:
    """Return the entities of a memory and of the questions it answers, at most ENTITIES_MAX."""
    found = entities(content)
    for question in questions:
        for key in entities(question):
            if len(found) >= ENTITIES_MAX:
                return found
            found.setdefault(key, False)
    return found


def mark_due(memory_ids: Collection[UUID] | None = None) -> None:
    """Mark memories of the current workspace to be read again; None: all of them."""
    among = "" if memory_ids is None else "AND id = ANY(%s::uuid[])"
    parameters = [] if memory_ids is None else [list(memory_ids)]
    with connection.cursor() as cursor:
        cursor.execute(_MARK_DUE.format(among=among), [current_workspace_id(), *parameters])


def select_due() -> QuerySet[EntityDue]:
    """Return what marks the memories to be read."""
    return EntityDue.objects.all()


def read_due(workspace: Workspace, *, seconds: float | None = None) -> int:
    """Read the marked memories of a workspace, in steps, for about `seconds`; return how many."""
    started, total = monotonic(), 0
    while seconds is None or monotonic() - started < seconds:
        with in_workspace(workspace):
            due = list(select_due().order_by("pk").values_list("pk", flat=True)[:MEMORIES_A_STEP])
            if not due:
                break
            _read_again(due)
        total += len(due)
    return total


def _read_again(memory_ids: Collection[UUID]) -> None:
    """Read memories under their locks, and take their marks away."""
    locked = lock(memory_ids)
    contents = {memory.id: memory.content for memory in locked if memory.is_live}
    questions: dict[UUID, list[str]] = {memory_id: [] for memory_id in contents}
    answers = MemoryAnswer.objects.filter(memory__in=contents).order_by("memory_id", "position")
    for memory_id, question in answers.values_list("memory_id", "question"):
        questions[memory_id].append(question)
    index = EntityIndex()
    index.drop([memory.id for memory in locked if not memory.is_live])
    index.replace({i: (content, questions[i]) for i, content in contents.items()})
    with connection.cursor() as cursor:
        for statement, parameters in index.statements():
            cursor.execute(statement, parameters)
    EntityDue.objects.filter(pk__in=list(memory_ids)).delete()


def has_any() -> bool:
    """Return whether a memory of the current workspace names an entity."""
    return MemoryEntity.objects.exists()
