"""Compute BM25 over postings in the database; formulas are in `memories.core.bm25`."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import OuterRef, Subquery

from engram.kernel.binary import binary_cursor, prepared_cursor
from engram.kernel.plain_sql import Rows, condition_of, queryset_of
from engram.kernel.tenancy import current_workspace_id
from memories.core import bm25
from memories.models import Memory, Posting

# The pool is read from the rarest terms of a query, up to this many postings; more common terms
# only add to the scores of the pool.
POSTINGS_READ = 2000
# More rows than requested are read: some are hidden or filtered out.
SPARE = 100

_COUNTS = """
    SELECT term, memories, 0 FROM memories_termcount
    WHERE workspace_id = %(workspace)s AND term = ANY(%(terms)s::text[]) AND memories > 0
    UNION ALL
    SELECT NULL, memories, words FROM memories_corpussize WHERE workspace_id = %(workspace)s
"""
GAIN = """
    asked.weight * posting.frequency * %(k1_and_1)s::float8 / (
        posting.frequency
        + %(k1)s::float8 * (%(one_less_b)s::float8 + posting.words * %(b_a_word)s::float8)
    )
"""
# The postings of each query term with the highest weight.
POSTINGS = """
    unnest(%(terms)s::text[], %(weights)s::float8[]) AS asked (term, weight)
    CROSS JOIN LATERAL (
        SELECT memory_id, frequency, words FROM memories_posting
        WHERE workspace_id = %(workspace)s AND term = asked.term
        ORDER BY frequency DESC, words, memory_id LIMIT %(postings)s
    ) AS posting
"""
# The best of these postings' memories: `best (memory_id, score)`.
BEST_MEMORIES = f"""
    (
        SELECT posting.memory_id, sum({GAIN}) AS score
        FROM {POSTINGS}
        GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT %(limit)s
    ) AS best
"""  # noqa: S608  placeholders only
_BEST = f"""
    SELECT best.memory_id, EXISTS (
        SELECT 1 FROM memories_memory WHERE id = best.memory_id AND {{condition}} OFFSET 0
    )
    FROM {BEST_MEMORIES}
    ORDER BY best.score DESC, best.memory_id
"""  # noqa: S608  placeholders only
# Per term: each is searched in the primary key.
_BY_TERM = f"""
    SELECT sum({GAIN} ORDER BY asked.term)
    FROM unnest(%(terms)s::text[], %(weights)s::float8[]) AS asked (term, weight)
    CROSS JOIN LATERAL (
        SELECT frequency, words FROM memories_posting
        WHERE workspace_id = %(workspace)s AND term = asked.term AND memory_id = memories_memory.id
        OFFSET 0
    ) AS posting
"""  # noqa: S608  placeholders only
# Reads all words of the memory by the index on memories: under another collation than the column's
# no index finds terms.
_BY_MEMORY = f"""
    SELECT sum({GAIN} ORDER BY asked.term)
    FROM (
        SELECT frequency, words, array_position(%(terms)s::text[], term::text) AS place
        FROM memories_posting
        WHERE workspace_id = %(workspace)s AND memory_id = memories_memory.id
            AND term::text COLLATE "C" = ANY(%(terms)s::text[])
        OFFSET 0
    ) AS posting
    CROSS JOIN LATERAL (
        SELECT (%(terms)s::text[])[posting.place], (%(weights)s::float8[])[posting.place]
    ) AS asked (term, weight)
"""  # noqa: S608  placeholders only
# One look-up in the primary key costs as much as reading this many words in sequence.
WORDS_A_LOOK_UP = 12


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The corpus statistics of BM25 for one query."""

    terms: tuple[str, ...]  # rarest first
    frequencies: dict[str, int]
    memories: int
    average_words: float

    @property
    def known_terms(self) -> list[str]:
        """Return the terms that occur in at least one memory."""
        return [term for term in self.terms if term in self.frequencies]


def vocabulary_of(query_terms: Collection[str]) -> Vocabulary:
    """Look up the document frequencies of query terms; unknown terms are not searched."""
    parameters: dict[str, Any] = {"workspace": current_workspace_id(), "terms": list(query_terms)}
    with prepared_cursor() as cursor:
        cursor.execute(_COUNTS, parameters)
        counted = {term: (memories, words) for term, memories, words in cursor.fetchall()}
    memories, words = counted.pop(None, (0, 0))
    frequencies = {term: count for term, (count, _) in counted.items()}
    return Vocabulary(
        terms=tuple(sorted(query_terms, key=lambda term: (frequencies.get(term, 0), term))),
        frequencies=frequencies,
        memories=memories,
        average_words=words / memories if memories else 0.0,
    )


def terms_to_read(vocabulary: Vocabulary) -> list[str]:
    """Return the rarest terms that some memory has, with at most `POSTINGS_READ` postings in all.

    The rarest is always one of them.
    """
    read: list[str] = []
    total = 0
    for term in vocabulary.terms:
        frequency = vocabulary.frequencies.get(term, 0)
        if read and total + frequency > POSTINGS_READ:
            break
        if frequency:
            read.append(term)
            total += frequency
    return read


def by_words(recallable: Rows[Memory], vocabulary: Vocabulary, limit: int) -> list[UUID]:
    """Return the best memories by BM25 over the rarest terms of the query, best first."""
    read = terms_to_read(vocabulary)
    total = sum(vocabulary.frequencies[term] for term in read)
    if not read:
        return []
    wanted = limit + SPARE
    condition = condition_of(recallable)
    with binary_cursor(prepares=True) as cursor:
        cursor.execute(
            _BEST.format(condition=condition.sql),
            bm25_parameters(vocabulary, read)
            | condition.parameters
            | {"limit": wanted, "postings": POSTINGS_READ},
        )
        best = cursor.fetchall()
    kept = [memory_id for memory_id, is_allowed in best if is_allowed][:limit]
    if len(kept) == limit or (len(best) < wanted and total <= POSTINGS_READ):
        return kept
    return _by_filtered_words(recallable, vocabulary, read, limit)


def _by_filtered_words(
    recallable: Rows[Memory], vocabulary: Vocabulary, read: list[str], limit: int
) -> list[UUID]:
    """Filter every posting by `recallable`; used where few of the best pass the filters.

    The sub-select runs per posting; the planner would turn EXISTS into a join.
    """
    found = queryset_of(recallable).filter(pk=OuterRef("memory_id")).order_by().values("pk")[:1]
    ids: set[UUID] = set()
    for term in read:
        rows = Posting.objects.filter(term=term).alias(allowed=Subquery(found))
        rows = rows.filter(allowed__isnull=False).order_by("-frequency", "words", "memory_id")
        ids.update(rows.values_list("memory_id", flat=True)[:POSTINGS_READ])
    scores = _scores(list(ids), vocabulary, read)
    return sorted(scores, key=lambda memory_id: (-scores[memory_id], memory_id))[:limit]


def words_sql(vocabulary: Vocabulary) -> str:
    """Return the SQL sub-select of the BM25 score of the current row of `memories_memory`."""
    is_short = vocabulary.average_words < WORDS_A_LOOK_UP * len(vocabulary.known_terms)
    return _BY_MEMORY if is_short else _BY_TERM


def bm25_parameters(vocabulary: Vocabulary, query_terms: Sequence[str]) -> dict[str, Any]:
    """Return the named parameters of the BM25 SQL."""
    return {
        "k1": bm25.K1,
        "k1_and_1": bm25.K1 + 1,
        "one_less_b": 1 - bm25.B,
        "b_a_word": bm25.B / max(vocabulary.average_words, 1.0),
        "workspace": current_workspace_id(),
        "terms": list(query_terms),
        "weights": [bm25.idf(vocabulary.frequencies[t], vocabulary.memories) for t in query_terms],
    }


def _scores(
    ids: Sequence[UUID], vocabulary: Vocabulary, query_terms: Sequence[str]
) -> dict[UUID, float]:
    sql = f"""
        SELECT id, ({_BY_TERM}) FROM memories_memory
        WHERE workspace_id = %(workspace)s AND id = ANY(%(ids)s::uuid[])
    """  # noqa: S608  placeholders only
    with binary_cursor() as cursor:
        cursor.execute(sql, bm25_parameters(vocabulary, query_terms) | {"ids": ids})
        return dict(cursor.fetchall())
