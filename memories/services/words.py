"""BM25 over postings, in the database: `memories.core.bm25` says what the sums mean."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import F, OuterRef, QuerySet, Subquery

from engram.kernel.planning import Among
from engram.kernel.tenancy import current_workspace_id
from memories.core import bm25
from memories.models import Memory, Posting

# The pool comes from the rarest terms of a query until so many postings are read; commoner terms
# only add to the scores of the pool.
POSTINGS_READ = 4000
# So many more are read than asked for: some are hidden or filtered out.
SPARE = 100

_COUNTS = """
    SELECT term, memories, 0 FROM memories_termcount
    WHERE workspace_id = %(workspace)s AND term = ANY(%(terms)s::text[]) AND memories > 0
    UNION ALL
    SELECT NULL, memories, words FROM memories_corpussize WHERE workspace_id = %(workspace)s
"""
_GAIN = """
    asked.weight * posting.frequency * %(k1_and_1)s::float8 / (
        posting.frequency
        + %(k1)s::float8 * (%(one_less_b)s::float8 + posting.words * %(b_a_word)s::float8)
    )
"""
_BEST = f"""
    SELECT posting.memory_id, sum({_GAIN}) AS score
    FROM unnest(%(terms)s::text[], %(weights)s::float8[]) AS asked (term, weight)
    CROSS JOIN LATERAL (
        SELECT memory_id, frequency, words FROM memories_posting
        WHERE workspace_id = %(workspace)s AND term = asked.term
        ORDER BY frequency DESC, words, memory_id LIMIT %(postings)s
    ) AS posting
    GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT %(limit)s
"""  # noqa: S608  placeholders only
# Term by term, so that the primary key is searched for them and not all words of the memories.
_OF_MEMORIES = f"""
    SELECT posting.memory_id, sum({_GAIN} ORDER BY asked.term) AS score
    FROM unnest(%(terms)s::text[], %(weights)s::float8[]) AS asked (term, weight)
    CROSS JOIN LATERAL (
        SELECT memory_id, frequency, words FROM memories_posting
        WHERE workspace_id = %(workspace)s AND term = asked.term
            AND memory_id = ANY(%(ids)s::uuid[])
        OFFSET 0
    ) AS posting
    GROUP BY 1
"""  # noqa: S608  placeholders only
# Memory by memory: all its words are read. `array_position` serves no index, so that none but that
# of memories is left.
_BY_MEMORY = f"""
    SELECT posting.memory_id, sum({_GAIN} ORDER BY asked.term) AS score
    FROM unnest(%(ids)s::uuid[]) AS wanted (id)
    CROSS JOIN LATERAL (
        SELECT memory_id, frequency, words, array_position(%(terms)s::text[], term::text) AS place
        FROM memories_posting
        WHERE workspace_id = %(workspace)s AND memory_id = wanted.id
        OFFSET 0
    ) AS posting
    CROSS JOIN LATERAL (
        SELECT (%(terms)s::text[])[posting.place], (%(weights)s::float8[])[posting.place]
    ) AS asked (term, weight)
    WHERE posting.place IS NOT NULL
    GROUP BY 1
"""  # noqa: S608  placeholders only
# A look-up of a term in the primary key costs what reading so many words in a row does.
WORDS_A_LOOK_UP = 12


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What BM25 needs to know of the corpus for one query."""

    terms: tuple[str, ...]  # rarest first
    frequencies: dict[str, int]
    memories: int
    average_words: float


def vocabulary_of(query_terms: Collection[str]) -> Vocabulary:
    """Look up how common the terms of a query are; unknown ones fall away from the search."""
    asked: dict[str, Any] = {"workspace": current_workspace_id(), "terms": list(query_terms)}
    with connection.cursor() as cursor:
        cursor.execute(_COUNTS, asked)
        counted = {term: (memories, words) for term, memories, words in cursor.fetchall()}
    memories, words = counted.pop(None, (0, 0))
    frequencies = {term: standing for term, (standing, _) in counted.items()}
    return Vocabulary(
        terms=tuple(sorted(query_terms, key=lambda term: (frequencies.get(term, 0), term))),
        frequencies=frequencies,
        memories=memories,
        average_words=words / memories if memories else 0.0,
    )


def by_words(recallable: QuerySet[Memory], vocabulary: Vocabulary, limit: int) -> list[UUID]:
    """Return the best memories by BM25 over the rarest terms of the query, best first."""
    read: list[str] = []
    total = 0
    for term in vocabulary.terms:
        frequency = vocabulary.frequencies.get(term, 0)
        if read and total + frequency > POSTINGS_READ:
            break
        if frequency:
            read.append(term)
            total += frequency
    if not read:
        return []
    wanted = limit + SPARE
    best = list(_scores(_BEST, vocabulary, read, limit=wanted, postings=POSTINGS_READ))
    allowed = set(recallable.filter(Among(F("pk"), best)).order_by().values_list("pk", flat=True))
    kept = [memory_id for memory_id in best if memory_id in allowed][:limit]
    if len(kept) == limit or (len(best) < wanted and total <= POSTINGS_READ):
        return kept
    return _by_filtered_words(recallable, vocabulary, read, limit)


def _by_filtered_words(
    recallable: QuerySet[Memory], vocabulary: Vocabulary, read: list[str], limit: int
) -> list[UUID]:
    """Ask of every posting whether its memory may be recalled: filters leave few of the best.

    The sub-select (not EXISTS, which would be turned into a join) is asked posting by posting.
    """
    found = recallable.filter(pk=OuterRef("memory_id")).order_by().values("pk")[:1]
    ids: set[UUID] = set()
    for term in read:
        rows = Posting.objects.filter(term=term).alias(allowed=Subquery(found))
        rows = rows.filter(allowed__isnull=False).order_by("-frequency", "words", "memory_id")
        ids.update(rows.values_list("memory_id", flat=True)[:POSTINGS_READ])
    scores = _scores(_OF_MEMORIES, vocabulary, read, ids=list(ids))
    return sorted(scores, key=lambda memory_id: (-scores[memory_id], memory_id))[:limit]


def words_of(ids: Collection[UUID], vocabulary: Vocabulary) -> dict[UUID, float]:
    """Return BM25 over all terms of the query, as a share of what the query asks for."""
    known = [term for term in vocabulary.terms if term in vocabulary.frequencies]
    if not ids or not known:
        return {}
    is_short = vocabulary.average_words < WORDS_A_LOOK_UP * len(known)
    return bm25.share(
        _scores(_BY_MEMORY if is_short else _OF_MEMORIES, vocabulary, known, ids=list(ids)),
        vocabulary.terms,
        vocabulary.frequencies,
        vocabulary.memories,
    )


def _scores(
    sql: str, vocabulary: Vocabulary, query_terms: list[str], **more: Any
) -> dict[UUID, float]:
    weights = [bm25.idf(vocabulary.frequencies[term], vocabulary.memories) for term in query_terms]
    constants: dict[str, Any] = {
        "k1": bm25.K1,
        "k1_and_1": bm25.K1 + 1,
        "one_less_b": 1 - bm25.B,
        "b_a_word": bm25.B / max(vocabulary.average_words, 1.0),
        "workspace": current_workspace_id(),
        "terms": query_terms,
        "weights": weights,
    }
    if "ids" in more:
        more["ids"] = "{%s}" % ",".join(map(str, more["ids"]))  # noqa: UP031
    with connection.cursor() as cursor:
        cursor.execute(sql, constants | more)
        return dict(cursor.fetchall())
