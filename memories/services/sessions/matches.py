"""Find the recallable memories that a prompt shares rare words with or repeats, and lock them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from engram.kernel.binary import binary_cursor, pack_ids
from engram.kernel.plain_sql import Condition
from engram.kernel.tenancy import current_workspace_id
from memories.core import bm25
from memories.core.hits import (
    HITS_MAX,
    Match,
    in_order,
    match_prompt,
    prompt_terms,
    repeats,
    statements_in,
)
from memories.core.relevance import CALIBRATIONS, Evidence
from memories.core.text import terms
from memories.services.index.postings import (
    BEST_MEMORIES,
    GAIN,
    POSTINGS,
    POSTINGS_READ,
    Vocabulary,
    bm25_parameters,
    terms_to_read,
    vocabulary_of,
)
from memories.services.recall.query import Query, select_recallable

READ_MAX = 200  # best matches by words that are examined
REPEATED_MAX = 20  # best matches by words that the prompt may repeat, beside its own sentences
POSTINGS_A_TERM = 1000  # the highest-weighted per term

_SHARERS = f"""
    SELECT posting.memory_id, array_agg(asked.term), max(posting.words), sum({GAIN}) AS score
    FROM {POSTINGS}
    GROUP BY 1 HAVING bool_or(asked.term = ANY(%(words)s::text[]))
    ORDER BY 4 DESC, 1 LIMIT %(limit)s
"""  # noqa: S608  placeholders only
# The best by words, and those that are a sentence of the prompt, or some in a row.
_MAYBE_REPEATED = f"""
    SELECT best.memory_id, content
    FROM {BEST_MEMORIES}
    CROSS JOIN LATERAL (
        SELECT content FROM memories_memory WHERE id = best.memory_id AND {{condition}} OFFSET 0
    ) AS memory
    UNION (
        SELECT id, content FROM memories_memory
        WHERE workspace_id = %(workspace)s AND content_hash = ANY(%(statements)s::text[])
            AND {{condition}}
        ORDER BY id LIMIT %(same)s
    )
"""  # noqa: S608  placeholders only
# The first of `ids` that are recallable, locked in the order of their ids, as all writers do. What
# another transaction hides while this one waits for the lock is returned as not recallable.
_LOCK = """
    SELECT id, content, {condition} FROM memories_memory
    WHERE workspace_id = %(workspace)s AND id = ANY(ARRAY(
        SELECT given.id FROM unnest(%(ids)s::uuid[]) WITH ORDINALITY AS given (id, place)
        WHERE EXISTS (SELECT 1 FROM memories_memory WHERE id = given.id AND {condition} OFFSET 0)
        ORDER BY place LIMIT %(most)s
    ))
    ORDER BY id FOR NO KEY UPDATE
"""


class MatchedMemory(NamedTuple):
    """A memory that a prompt matches, as read under its lock."""

    id: UUID
    content: str
    is_recallable: bool
    score: float  # BM25
    by: Match
    relevance: float  # probability, from words alone


class _Found(NamedTuple):
    score: float
    by: Match
    relevance: float


def lock_matches(text: str, now: datetime, *, least: float) -> dict[UUID, MatchedMemory]:
    """Lock and return the memories that a prompt matches, the best by BM25 first.

    A match by a single word needs the relevance `least` as well.
    """
    condition = select_recallable(Query(""), now).condition
    vocabulary = vocabulary_of(terms(text))
    found = _by_rare_terms(vocabulary, least) | _repeated(text, vocabulary, condition)
    if not found:
        return {}
    found = dict(sorted(found.items(), key=lambda item: (-item[1].score, item[0])))
    with binary_cursor(prepares=True) as cursor:
        cursor.execute(
            _LOCK.format(condition=condition.sql),
            condition.parameters
            | {"workspace": current_workspace_id(), "ids": pack_ids(found), "most": HITS_MAX},
        )
        locked = {row[0]: row for row in cursor.fetchall()}
    return {i: MatchedMemory._make((*locked[i], *how)) for i, how in found.items() if i in locked}


def _by_rare_terms(vocabulary: Vocabulary, least: float) -> dict[UUID, _Found]:
    prompted = prompt_terms(vocabulary.terms, vocabulary.frequencies, vocabulary.memories)
    if not prompted.words:
        return {}
    limits = {"words": list(prompted.words), "postings": POSTINGS_A_TERM, "limit": READ_MAX}
    with binary_cursor(prepares=True) as cursor:
        cursor.execute(_SHARERS, bm25_parameters(vocabulary, prompted.terms) | limits)
        rows = cursor.fetchall()
    relevance = _relevance({row[0]: row[3] for row in rows}, vocabulary)
    found = {}
    for memory_id, shared, length, score in rows:
        by = match_prompt(prompted, shared, length)
        if by is Match.SEVERAL or (by is Match.SINGLE and relevance[memory_id] >= least):
            found[memory_id] = _Found(score, by, relevance[memory_id])
    return found


def _repeated(text: str, vocabulary: Vocabulary, condition: Condition) -> dict[UUID, _Found]:
    """Return the memories whose words stand in the prompt as they are, common words or not."""
    read = terms_to_read(vocabulary)
    if not read:
        return {}
    limits = {"postings": POSTINGS_READ, "limit": REPEATED_MAX, "same": READ_MAX}
    with binary_cursor(prepares=True) as cursor:
        cursor.execute(
            _MAYBE_REPEATED.format(condition=condition.sql),
            condition.parameters
            | bm25_parameters(vocabulary, read)
            | limits
            | {"statements": list(statements_in(text))},
        )
        contents: dict[UUID, str] = dict(cursor.fetchall())
    said = in_order(text)
    is_said = {own: repeats(said, in_order(own)) for own in set(contents.values())}
    scores = _scores({i: own for i, own in contents.items() if is_said[own]}, vocabulary)
    relevance = _relevance(scores, vocabulary)
    return {i: _Found(scores[i], Match.REPEATED, relevance[i]) for i in scores}


def _scores(contents: Mapping[UUID, str], vocabulary: Vocabulary) -> dict[UUID, float]:
    """Return BM25 over all terms of the prompt: a repeated memory may have only common ones."""
    counted = {own: terms(own) for own in set(contents.values())}
    of_contents = bm25.score(
        vocabulary.known_terms,
        [(term, own, n) for own, found in counted.items() for term, n in found.items()],
        document_frequencies=vocabulary.frequencies,
        document_lengths={own: found.total() for own, found in counted.items()},
        n_documents=vocabulary.memories,
        average_length=vocabulary.average_words,
    )
    return {i: of_contents[own] for i, own in contents.items()}


def _relevance(scores: Mapping[UUID, float], vocabulary: Vocabulary) -> dict[UUID, float]:
    """Return how probably memories are relevant, by their BM25 scores."""
    size, asked = vocabulary.memories, vocabulary.terms
    shares = bm25.share(scores, asked, vocabulary.frequencies, size)
    calibration = CALIBRATIONS[Evidence.WORDS]
    return {
        i: calibration.relevance(share, memories=size, terms=len(asked))
        for i, share in shares.items()
    }
