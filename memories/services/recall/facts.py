"""Read the ranking features of the members of a recall pool in one round trip."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

import numpy as np

from engram.kernel.binary import PackedVector, binary_cursor, pack_ids
from memories.core import bm25
from memories.services.index.postings import Vocabulary, bm25_parameters, words_sql

_FACTS = """
    SELECT id, agent, session_key, key_id, provenance, confidence, weight_factor,
        confidence_factor, observed_at, is_pinned, scope, project, word_count,
        (
            SELECT 1 - min(embedding <=> %(vector)s::vector) FROM memories_memoryvector
            WHERE memory_id = memories_memory.id AND model = %(model)s
        ),
        ({words})
    FROM memories_memory
    WHERE workspace_id = %(workspace)s AND id = ANY(%(ids)s::uuid[])
"""


class Facts(NamedTuple):
    """The ranking features of one memory; the first thirteen are fields of `Memory`."""

    pk: UUID
    agent: str
    session_key: str
    key_id: UUID | None
    provenance: str
    confidence: float
    weight_factor: float
    confidence_factor: float
    observed_at: datetime
    is_pinned: bool
    scope: str
    project: str
    word_count: int
    cosine: float | None  # of its nearest window; None without vectors of the memory or query
    words: float | None  # bm25.share, 0..1


def facts_of(
    ids: Collection[UUID], vocabulary: Vocabulary, vector: np.ndarray | None, model: str
) -> dict[UUID, Facts]:
    """Return the facts of memories of the workspace, of any state."""
    if not ids:
        return {}
    known = vocabulary.known_terms
    with binary_cursor(prepares=True) as cursor:
        cursor.execute(
            _FACTS.format(words=words_sql(vocabulary) if known else "NULL::float8"),
            bm25_parameters(vocabulary, known)
            | {
                "ids": pack_ids(ids),
                "vector": None if vector is None else PackedVector(vector),
                "model": model,
            },
        )
        rows = cursor.fetchall()
    largest = bm25.largest_score(vocabulary.terms, vocabulary.frequencies, vocabulary.memories)
    return {
        row[0]: Facts._make((*row[:-1], None if row[-1] is None else min(1.0, row[-1] / largest)))
        for row in rows
    }
