"""The first stage of recall: a pool by meaning and by words, each member with both raw scores."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from uuid import UUID

import numpy as np
from django.db.models import F, Min, QuerySet, Window
from django.db.models.functions import Lag, Lead
from pgvector.django import CosineDistance

from memories.core import bm25
from memories.models import CorpusSize, Memory, Posting, TermCount

BY_MEANING = 100
BY_WORDS = 100
# The pool comes from the rarest terms of a query until so many postings are read; commoner terms
# only add to the scores of the pool.
POSTINGS_READ = 4000


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What BM25 needs to know of the corpus for one query."""

    terms: tuple[str, ...]  # rarest first
    frequencies: dict[str, int]
    memories: int
    average_words: float


@dataclass(slots=True)
class Pool:
    """The memories that recall ranks; all maps are by memory id."""

    cosines: dict[UUID, float] = field(default_factory=dict)
    words: dict[UUID, float] = field(default_factory=dict)  # bm25.share, 0..1
    previous: dict[UUID, UUID | None] = field(default_factory=dict)
    next: dict[UUID, UUID | None] = field(default_factory=dict)
    ids: set[UUID] = field(default_factory=set)


def gather(
    recallable: QuerySet[Memory],
    vector: np.ndarray | None,
    model: str,
    query_terms: Collection[str],
    always: Iterable[UUID] = (),
) -> Pool:
    """Return the best by meaning, the best by words, their neighbours in the session, `always`."""
    pool = Pool()
    vocabulary = vocabulary_of(query_terms)
    if vector is not None:
        pool.cosines = by_meaning(recallable, vector, model)
    pool.ids = set(pool.cosines) | set(by_words(recallable, vocabulary)) | set(always)
    _add_neighbours(pool, recallable)
    if vector is not None:
        pool.cosines |= cosines_of(pool.ids - pool.cosines.keys(), vector, model)
    pool.words = words_of(pool.ids, vocabulary)
    return pool


def by_meaning(recallable: QuerySet[Memory], vector: np.ndarray, model: str) -> dict[UUID, float]:
    """Return the nearest memories with the cosine of their nearest window."""
    return nearest(recallable, vector, model, BY_MEANING)


def nearest(
    recallable: QuerySet[Memory], vector: np.ndarray, model: str, limit: int
) -> dict[UUID, float]:
    """Return the nearest memories, nearest first, with their cosine: an exact scan."""
    rows = (
        recallable.filter(vectors__model=model)
        .order_by()
        .values_list("pk")
        .annotate(distance=Min(CosineDistance("vectors__embedding", vector)))
        .order_by("distance", "pk")[:limit]
    )
    return {memory_id: 1.0 - float(distance) for memory_id, distance in rows}


def cosines_of(ids: Collection[UUID], vector: np.ndarray, model: str) -> dict[UUID, float]:
    """Return the cosine of the nearest window of each named memory that has vectors."""
    if not ids:
        return {}
    return nearest(Memory.objects.filter(pk__in=ids), vector, model, len(ids))


def vocabulary_of(query_terms: Collection[str]) -> Vocabulary:
    """Look up how common the terms of a query are; unknown ones fall away from the search."""
    counted = TermCount.objects.filter(term__in=list(query_terms), memories__gt=0)
    frequencies = dict(counted.values_list("term", "memories"))
    size = CorpusSize.objects.first()
    memories = size.memories if size else 0
    return Vocabulary(
        terms=tuple(sorted(query_terms, key=lambda term: (frequencies.get(term, 0), term))),
        frequencies=frequencies,
        memories=memories,
        average_words=size.words / memories if size and memories else 0.0,
    )


def by_words(recallable: QuerySet[Memory], vocabulary: Vocabulary) -> dict[UUID, float]:
    """Return the best memories by BM25 over the rarest terms of the query."""
    read: list[str] = []
    postings_read = 0
    for term in vocabulary.terms:
        frequency = vocabulary.frequencies.get(term, 0)
        if read and postings_read + frequency > POSTINGS_READ:
            break
        if frequency:
            read.append(term)
            postings_read += frequency
    if not read:
        return {}
    rows = Posting.objects.filter(term__in=read, memory__in=recallable.order_by())
    if postings_read > POSTINGS_READ:  # even the rarest term is common: where it stands most
        rows = rows.order_by("-frequency", "memory__word_count", "memory")[:POSTINGS_READ]
    scores = _score(rows, vocabulary)
    best = sorted(scores, key=lambda memory_id: (-scores[memory_id], memory_id))[:BY_WORDS]
    return {memory_id: scores[memory_id] for memory_id in best}


def words_of(ids: Collection[UUID], vocabulary: Vocabulary) -> dict[UUID, float]:
    """Return BM25 over all terms of the query, as a share of what the query asks for."""
    if not ids or not vocabulary.terms:
        return {}
    rows = Posting.objects.filter(term__in=vocabulary.terms, memory__in=ids)
    return bm25.share(
        _score(rows, vocabulary), vocabulary.terms, vocabulary.frequencies, vocabulary.memories
    )


def _score(rows: QuerySet[Posting], vocabulary: Vocabulary) -> dict[UUID, float]:
    fetched = list(rows.values_list("term", "memory_id", "frequency", "memory__word_count"))
    return bm25.score(
        vocabulary.terms,
        [(term, memory_id, frequency) for term, memory_id, frequency, _ in fetched],
        document_frequencies=vocabulary.frequencies,
        document_lengths={memory_id: length for _, memory_id, _, length in fetched},
        n_documents=vocabulary.memories,
        average_length=vocabulary.average_words,
    )


def _add_neighbours(pool: Pool, recallable: QuerySet[Memory]) -> None:
    """Add the memories around each in its session: what one turn asks, the next answers."""
    sessions = (
        Memory.objects.filter(pk__in=pool.ids)
        .exclude(session_key="")
        .order_by()
        .values("session_key")
        .distinct()
    )
    order = [F("observed_at").asc(), F("created_at").asc(), F("pk").asc()]
    rows = (
        recallable.filter(session_key__in=sessions)
        .annotate(
            before=Window(Lag("pk"), partition_by=["session_key"], order_by=order),
            after=Window(Lead("pk"), partition_by=["session_key"], order_by=order),
        )
        .order_by()
        .values_list("pk", "before", "after")
    )
    for memory_id, before, after in rows:
        pool.previous[memory_id] = before
        pool.next[memory_id] = after
    around = {
        neighbour
        for memory_id in pool.ids
        for neighbour in (pool.previous.get(memory_id), pool.next.get(memory_id))
        if neighbour is not None
    }
    pool.ids |= around
