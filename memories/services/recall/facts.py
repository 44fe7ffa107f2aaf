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
        ({words}),
        asked.cosine, asked.question
    FROM memories_memory LEFT JOIN LATERAL (
        {asked}
    ) AS asked ON true
    WHERE workspace_id = %(workspace)s AND id = ANY(%(ids)s::uuid[])
"""
# By the index that begins with the memory, few rows each.
_ASKED = """
    SELECT 1 - (embedding <=> %(vector)s::vector) AS cosine, question FROM memories_memoryanswer
    WHERE workspace_id = %(workspace)s AND memory_id = memories_memory.id AND model = %(model)s
    ORDER BY 1 DESC, position LIMIT 1
"""
_NOT_ASKED = "SELECT NULL::float8 AS cosine, NULL::text AS question"


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
    question_cosine: float | None = None  # of the nearest question that it answers
    question: str | None = None


_OF_QUERY = frozenset(["cosine", "words", "question_cosine", "question"])
OWN_FIELDS = tuple(name for name in Facts._fields if name not in _OF_QUERY)  # those of `Memory`


def facts_of(
    ids: Collection[UUID],
    vocabulary: Vocabulary,
    vector: np.ndarray | None,
    model: str,
    *,
    has_questions: bool = True,
) -> dict[UUID, Facts]:
    """Return the facts of memories of the workspace, of any state.

    Parameters
    ----------
    has_questions : whether to compare the query with the questions that the memories answer.
    """
    if not ids:
        return {}
    known = vocabulary.known_terms
    with binary_cursor(prepares=True) as cursor:
        cursor.execute(
            _FACTS.format(
                words=words_sql(vocabulary) if known else "NULL::float8",
                asked=_NOT_ASKED if vector is None or not has_questions else _ASKED,
            ),
            bm25_parameters(vocabulary, known)
            | {
                "ids": pack_ids(ids),
                "vector": None if vector is None else PackedVector(vector),
                "model": model,
            },
        )
        rows = cursor.fetchall()
    largest = bm25.largest_score(vocabulary.terms, vocabulary.frequencies, vocabulary.memories)
    found = map(Facts._make, rows)
    return {
        one.pk: one if one.words is None else one._replace(words=min(1.0, one.words / largest))
        for one in found
    }
