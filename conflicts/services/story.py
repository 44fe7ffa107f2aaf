"""The facts that a run reads: the whole story while it is short, else what is around the new."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from uuid import UUID

import numpy as np
from django.db import connection

from conflicts.core.facts import Fact
from engram.kernel.embedding import dimension, model_name
from engram.kernel.tenancy import current_workspace_id
from memories.models import Memory, MemoryVector

# Up to here everything is read at every run; the vectors of so many facts load in half a second.
WHOLE_STORY_FACTS = 2000
NEIGHBOURS_BY_MEANING = 60
NEIGHBOURS_BY_WORDS = 40
# A term that stands in more memories than this says little about the subject.
RARE_TERM_MEMORIES = 60


def story_ids(triggers: Collection[UUID], now: datetime) -> list[UUID]:
    """Return the ids of the live memories that a run should read."""
    recallable = Memory.objects.recallable(now)
    if recallable.count() <= WHOLE_STORY_FACTS:
        return list(recallable.values_list("pk", flat=True))
    around = set(triggers) | _sharing_rare_words(triggers)
    for trigger in triggers:
        around.update(_near(trigger))
    return list(recallable.filter(pk__in=around).values_list("pk", flat=True))


def _near(trigger: UUID) -> list[UUID]:
    """Return the nearest memories by meaning, across scopes."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT other.memory_id FROM memories_memoryvector AS other
            JOIN memories_memoryvector AS own
                ON own.memory_id = %s AND own.model = other.model AND own.position = 0
            WHERE other.workspace_id = %s AND other.model = %s AND own.workspace_id = %s
            ORDER BY other.embedding <=> own.embedding LIMIT %s
            """,
            [
                trigger,
                current_workspace_id(),
                model_name(),
                current_workspace_id(),
                NEIGHBOURS_BY_MEANING,
            ],
        )
        return [row[0] for row in cursor.fetchall()]


def _sharing_rare_words(triggers: Collection[UUID]) -> set[UUID]:
    """Return memories that share a rare term with a trigger."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            WITH rare AS (
                SELECT DISTINCT posting.term FROM memories_posting AS posting
                JOIN memories_termcount AS counted
                    ON counted.workspace_id = posting.workspace_id AND counted.term = posting.term
                WHERE posting.workspace_id = %s AND posting.memory_id = ANY(%s::uuid[])
                    AND counted.memories <= %s
            )
            SELECT DISTINCT posting.memory_id FROM memories_posting AS posting
            JOIN rare ON rare.term = posting.term
            WHERE posting.workspace_id = %s LIMIT %s
            """,
            [
                current_workspace_id(),
                list(triggers),
                RARE_TERM_MEMORIES,
                current_workspace_id(),
                NEIGHBOURS_BY_WORDS * max(len(triggers), 1),
            ],
        )
        return {row[0] for row in cursor.fetchall()}


def read_facts(ids: Sequence[UUID]) -> tuple[list[Fact], np.ndarray]:
    """Return facts, oldest first, and their unit vectors (n, dim); zeros where not embedded."""
    rows = Memory.objects.filter(pk__in=ids).order_by("observed_at", "created_at", "pk")
    facts = [_as_fact(memory) for memory in rows]
    vectors = np.zeros((len(facts), dimension()), dtype=np.float32)
    row_of = {fact.id: row for row, fact in enumerate(facts)}
    stored = MemoryVector.objects.filter(memory__in=ids, model=model_name(), position=0)
    for memory_id, embedding in stored.values_list("memory_id", "embedding"):
        vectors[row_of[str(memory_id)]] = embedding
    return facts, vectors


def _as_fact(memory: Memory) -> Fact:
    return Fact(
        id=str(memory.id),
        lineage=str(memory.lineage),
        content=memory.content,
        scope=memory.scope,
        project=memory.project,
        agent=memory.agent,
        session_key=memory.session_key,
        observed_at=memory.observed_at,
        provenance=memory.provenance,
        kind=memory.kind,
    )
