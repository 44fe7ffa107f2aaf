"""Recall as of an earlier time: the memories active then, in their wording at that time.

Memories revised since are read from their revisions, with scope, provenance and expiry of that
time, and their old wording is embedded on the fly. All others are compared as stored. Memories
forgotten by now are never returned. Questions do not count: an answer may have been written later.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

import numpy as np
from django.db.models import Exists, OuterRef

from engram.kernel.embedding import EmbeddingUnavailableError, QueryReading, Windows, embed_windows
from engram.kernel.models import Workspace
from engram.kernel.tenancy import in_workspace
from memories.core import bm25, late
from memories.core.text import terms
from memories.models import Kind, Memory, MemoryQuerySet, Revision
from memories.services.index.postings import vocabulary_of
from memories.services.recall.facts import OWN_FIELDS, Facts, facts_of
from memories.services.recall.pool import BREADTH, RecallPool, gather, match_words
from memories.services.recall.query import Query, holds

REVISED_READ = 500  # the most memories revised since, the latest first
EMBEDDED = 32  # of the reworded, those with the highest BM25; their first window


@dataclass(frozen=True, slots=True)
class FormerWordings:
    """Revised memories as of then; `windows` of those that were reworded."""

    memories: dict[UUID, Memory] = field(default_factory=dict)
    reworded: frozenset[UUID] = frozenset()
    windows: dict[UUID, Windows] = field(default_factory=dict)


def select_unrevised(at: datetime) -> MemoryQuerySet:
    """Return the memories active at `at` and not revised since."""
    later = Revision.objects.filter(memory=OuterRef("pk"), created_at__gt=at)
    return Memory.objects.recallable_then(at).filter(~Exists(later))


def read_former(workspace: Workspace, query: Query, reading: QueryReading | None) -> FormerWordings:
    """Read memories revised since; embed those that match the query best, outside a transaction."""
    assert query.as_of is not None  # noqa: S101  only called with as_of
    with in_workspace(workspace):
        found = {m.id: m for m in _restore_wordings(query.as_of) if _matches(m, query)}
        present = dict(Memory.objects.filter(pk__in=found).values_list("pk", "content_hash"))
        reworded = frozenset(i for i, m in found.items() if m.content_hash != present[i])
        if reading is None:
            return FormerWordings(found, reworded)
        shares = _shares(query, [found[i] for i in reworded])
        near = _cosines(reworded, reading.vector, workspace.embedding_model)
    promising = sorted(reworded, key=lambda i: (-(shares.get(i, 0.0) + near.get(i, 0.0)), i))
    chosen = promising[:EMBEDDED]
    try:
        windows = embed_windows(
            [found[i].content for i in chosen], workspace.embedding_model, limit=1
        )
    except EmbeddingUnavailableError:
        return FormerWordings(found, reworded)
    return FormerWordings(found, reworded, dict(zip(chosen, windows, strict=True)))


def gather_then(
    unrevised_matching: MemoryQuerySet,
    query: Query,
    reading: QueryReading | None,
    model: str,
    then: FormerWordings,
    *,
    always: Collection[UUID] = (),
) -> RecallPool:
    """Return the pool as of then: an exact scan, and revised memories by their old wording."""
    vector = None if reading is None else reading.vector
    breadth = max(BREADTH, query.k)
    words = match_words(unrevised_matching, terms(query.text), breadth=breadth)
    pool = gather(
        unrevised_matching, vector, model, words, always, breadth=breadth, is_present=False
    )
    still = set(
        Memory.objects.filter(pk__in=then.memories, forgotten_at=None).values_list("pk", flat=True)
    )
    cosines: dict[UUID, float] = {}
    if vector is not None:
        cosines |= _cosines(still - then.reworded, vector, model)
        for i in still & then.windows.keys():
            cosines[i] = float(np.max(np.asarray(then.windows[i]) @ vector))
    shares = _shares(query, [then.memories[i] for i in still])
    for i in cosines.keys() | shares.keys():
        pool.facts[i] = _facts_then(then.memories[i], cosines.get(i), shares.get(i))
    return pool


def _facts_then(memory: Memory, cosine: float | None, words: float | None) -> Facts:
    fields = {name: getattr(memory, name) for name in OWN_FIELDS}
    return Facts(**fields, cosine=cosine, words=words)


def states_of(then: FormerWordings) -> dict[UUID, list[late.Bytes]]:
    """Return the token states of old wordings that were embedded, by window."""
    found: dict[UUID, list[late.Bytes]] = {i: [] for i in then.reworded}
    for i in then.reworded & then.windows.keys():
        tokens = then.windows[i].tokens or ()
        found[i] = [late.choose(window.states, window.words) for window in tokens]
    return found


def _restore_wordings(at: datetime) -> list[Memory]:
    """Return memories revised since, as of `at`: by the first revision replaced after it."""
    later = Revision.objects.filter(created_at__gt=at)
    latest = later.order_by("-created_at").values_list("memory_id", flat=True)
    ids = list(dict.fromkeys(latest[: REVISED_READ * 4]))[:REVISED_READ]
    memories = Memory.objects.recallable_then(at, whatever_expiry=True).in_bulk(ids)
    turn_back(memories.values(), at)
    return [m for m in memories.values() if m.expires_at is None or m.expires_at > at]


def turn_back(memories: Collection[Memory], at: datetime) -> None:
    """Set the fields of memories (never to be saved) to those that they had at `at`.

    By the first revision that was replaced after it; tags and answers are not turned back.
    """
    known = {memory.id: memory for memory in memories}
    later = Revision.objects.filter(created_at__gt=at, memory__in=list(known))
    wordings: dict[UUID, Revision] = {}
    for revision in later.order_by("-number"):
        wordings[revision.memory_id] = revision  # the earliest is assigned last
    for revision in wordings.values():
        _turn_back(known[revision.memory_id], revision)


def _turn_back(memory: Memory, revision: Revision) -> None:
    """Set the fields of a memory (never to be saved) to those of a revision."""
    memory.content, memory.content_hash = revision.content, revision.content_hash
    memory.revision = revision.number
    fields = dict(revision.fields)
    memory.is_pinned = fields.pop("pinned", memory.is_pinned)
    expires_at = fields.pop("expires_at", None)
    memory.expires_at = datetime.fromisoformat(expires_at) if expires_at else None
    for name in ("scope", "project", "kind", "provenance", "confidence", "importance"):
        setattr(memory, name, fields.get(name, getattr(memory, name)))


def _matches(memory: Memory, query: Query) -> bool:
    """Return whether one memory matches the filter of `query.matching`."""
    is_constraint = memory.kind == Kind.CONSTRAINT
    is_held = memory.is_pinned and holds(query, memory.scope, memory.project)
    scope = query.scope
    is_above = not memory.scope or scope.startswith(f"{memory.scope}/")
    in_place = (
        not scope
        or memory.scope == scope
        or memory.scope.startswith(f"{scope}/")
        or ((is_constraint or memory.is_pinned) and is_above)
    )
    in_project = (
        not query.project
        or memory.project == query.project
        or ((is_constraint or is_held) and not memory.project)
    )
    return in_place and in_project and (not query.kinds or memory.kind in query.kinds)


def _cosines(ids: Collection[UUID], vector: np.ndarray, model: str) -> dict[UUID, float]:
    """Return the cosine of the nearest window of each memory with vectors."""
    found = facts_of(ids, vocabulary_of(()), vector, model, has_questions=False)
    return {i: facts.cosine for i, facts in found.items() if facts.cosine is not None}


def _shares(query: Query, memories: Collection[Memory]) -> dict[UUID, float]:
    """Return BM25 scores of given wordings, with the present document frequencies."""
    query_terms = terms(query.text)
    vocabulary = vocabulary_of(query_terms)
    counted = {memory.id: terms(memory.content) for memory in memories}
    scores = bm25.score(
        query_terms,
        [(t, i, c[t]) for i, c in counted.items() for t in query_terms if t in c],
        document_frequencies=vocabulary.frequencies,
        document_lengths={i: c.total() for i, c in counted.items()},
        n_documents=vocabulary.memories,
        average_length=vocabulary.average_words,
    )
    return bm25.share(scores, query_terms, vocabulary.frequencies, vocabulary.memories)
