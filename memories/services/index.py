"""Keeps what recall searches in step with what memories say: vectors and postings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from uuid import UUID

import numpy as np
from django.db import connection

from engram.kernel.tenancy import current_workspace_id
from memories.core.text import terms
from memories.models import Memory, MemoryVector, Posting

MAX_FREQUENCY = 32767


def index_vectors(memory: Memory, vectors: np.ndarray | tuple[()], model: str) -> None:
    """Write the windows (n, dim) of a memory that has none for this model."""
    MemoryVector.objects.bulk_create(
        MemoryVector(memory=memory, model=model, position=position, embedding=vector)
        for position, vector in enumerate(vectors)
    )


def reindex_vectors(memory: Memory, vectors: np.ndarray | tuple[()], model: str) -> None:
    """Replace all windows of a memory whose wording changed, those of other models too."""
    MemoryVector.objects.filter(memory=memory).delete()
    index_vectors(memory, vectors, model)


def index_words(contents: Mapping[UUID, str]) -> None:
    """Add the postings of new memories, and count their terms last (see `count_terms`)."""
    counts = {memory_id: terms(content) for memory_id, content in contents.items()}
    _insert_postings(counts)
    added: Counter[str] = Counter()
    for frequencies in counts.values():
        added.update(frequencies.keys())
    count_terms(added, memories=len(counts), words=sum(c.total() for c in counts.values()))


def reindex_words(memory: Memory, before: str) -> None:
    """Replace the postings of a memory whose wording changed."""
    old, new = terms(before), terms(memory.content)
    Posting.objects.filter(memory=memory).delete()
    _insert_postings({memory.id: new})
    changed = Counter(new.keys())
    changed.subtract(old.keys())
    count_terms(changed, memories=0, words=new.total() - old.total())


def unindex_words(contents: Sequence[str]) -> None:
    """Take erased memories out of the counts (their postings go with their rows)."""
    counts = [terms(content) for content in contents]
    removed: Counter[str] = Counter()
    for frequencies in counts:
        removed.subtract(frequencies.keys())
    count_terms(removed, memories=-len(counts), words=-sum(c.total() for c in counts))


def _insert_postings(counts: Mapping[UUID, Counter[str]]) -> None:
    workspace_id = current_workspace_id()
    Posting.objects.bulk_create(
        Posting(
            workspace_id=workspace_id,
            term=term,
            memory_id=memory_id,
            frequency=min(frequency, MAX_FREQUENCY),
        )
        for memory_id, frequencies in counts.items()
        for term, frequency in frequencies.items()
    )


def count_terms(changes: Mapping[str, int], *, memories: int, words: int) -> None:
    """Add to the document frequencies of terms and to the size of the corpus.

    Two commits of one workspace meet on these rows: they are written last in the transaction and
    in the order of the terms, so that locks are short and cannot deadlock.
    """
    workspace_id = current_workspace_id()
    ordered = sorted((term, change) for term, change in changes.items() if change)
    with connection.cursor() as cursor:
        if ordered:
            cursor.execute(
                """
                INSERT INTO memories_termcount AS kept (workspace_id, term, memories)
                SELECT %s, term, change
                FROM unnest(%s::text[], %s::int[]) AS changed (term, change) ORDER BY term
                ON CONFLICT (workspace_id, term)
                DO UPDATE SET memories = kept.memories + excluded.memories
                """,
                [workspace_id, [t for t, _ in ordered], [c for _, c in ordered]],
            )
        cursor.execute(
            """
            INSERT INTO memories_corpussize AS kept (workspace_id, memories, words)
            VALUES (%s, %s, %s)
            ON CONFLICT (workspace_id) DO UPDATE
            SET memories = kept.memories + excluded.memories, words = kept.words + excluded.words
            """,
            [workspace_id, memories, words],
        )
