"""Rank a pool: fuse scores, rerank token by token, apply diversity, explain."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import F

from engram.kernel.configuration import WorkspaceSettings
from engram.kernel.embedding import QueryReading
from engram.kernel.planning import Among
from memories.core import late
from memories.core.diversity import DiverseItem, choose_diverse
from memories.core.fusion import Candidate, Factors, find_named_agents, freshness, fuse
from memories.core.relevance import CALIBRATIONS, Match, evidence_of
from memories.core.text import terms
from memories.models import Memory, MemoryVector, Provenance
from memories.services.recall import rerank
from memories.services.recall.facts import Facts
from memories.services.recall.pool import BREADTH, RecallPool
from memories.services.recall.query import Query, holds

SECONDS_AN_HOUR = 3600.0
HOURS_A_DAY = 24.0
DIVERSE_MAX = 150
_SHOWN = [f.name for f in fields(Factors) if f.name not in {"id", "score"}]


@dataclass(frozen=True, slots=True)
class RankRequest:
    """A query with its embedding, model, settings and time."""

    query: Query
    reading: QueryReading | None
    model: str
    config: WorkspaceSettings
    now: datetime  # `as_of`, or the present


@dataclass(frozen=True, slots=True)
class PastWordings:
    """Memories with another wording at `as_of`, and the token states of that wording."""

    memories: Mapping[UUID, Memory] = field(default_factory=dict)
    states: Mapping[UUID, Sequence[late.Bytes]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RankedMemory:
    """One ranked memory."""

    id: UUID
    score: float
    cosine: float | None
    is_pin: bool  # a pin that leads here, whatever its score
    match: Match
    _factors: Factors[UUID]
    _diverse: DiverseItem[UUID]
    _pool_scores: _PoolScores

    @property
    def explain(self) -> dict[str, Any]:
        """Return every factor of the score (`memories.core.fusion`), and its ranks in the pool."""
        return _explain(self._factors, self._diverse, self._pool_scores)


@dataclass(frozen=True, slots=True)
class _PoolScores:
    """The score distributions of a pool, for ranks and percentiles."""

    pool: RecallPool
    stage: str
    query_terms: int
    cosines: list[float]  # ascending
    words: list[float]


def rank(
    request: RankRequest,
    pool: RecallPool,
    *,
    pinned: Collection[UUID] = (),
    always: Collection[UUID] = (),
    past: PastWordings | None = None,
) -> list[RankedMemory]:
    """Return the related memories of a pool, pins first, then by score.

    With the second stage only the best `BREADTH` (or `k`, if larger), pins and `always` remain.
    """
    past = past or PastWordings()
    candidates = _candidates(request, pool, past)
    named = find_named_agents(request.query.text, {c.agent for c in candidates if c.agent})
    query_terms = len(terms(request.query.text))

    def fuse_candidates(found: Sequence[Candidate[UUID]]) -> list[Factors[UUID]]:
        return fuse(
            found,
            named_agents=named,
            has_vector=request.reading is not None,
            has_terms=bool(query_terms),
        )

    kept = fuse_candidates(candidates)
    stage = _stage(request)
    if stage == rerank.ON and request.reading is not None:
        best = {f.id for f in kept[: max(BREADTH, request.query.k)]} | set(pinned) | set(always)
        scores = rerank.late_scores(
            request.reading,
            request.model,
            pool=pool,
            ids=best,
            besides=past.states,
        )
        # Neighbours that were not reranked add nothing: their scores have another scale.
        chosen = [candidate for candidate in candidates if candidate.id in best]
        for candidate in chosen:
            candidate.late = scores.get(candidate.id)
        kept = fuse_candidates(chosen)
    lasting = {*pinned, *always}
    related = [f for f in kept if f.score > 0 or f.id in lasting]
    diverse = _choose_diverse(related, request)
    by_id = {f.id: f for f in related}
    pool_scores = _PoolScores(
        pool, stage, query_terms, sorted(pool.cosines.values()), sorted(pool.words.values())
    )
    ranked = [
        RankedMemory(
            d.id,
            d.score,
            pool.cosines.get(d.id),
            d.id in pinned,
            _match(by_id[d.id], pool_scores),
            by_id[d.id],
            d,
            pool_scores,
        )
        for d in diverse
    ]
    return sorted(ranked, key=lambda one: (not one.is_pin, -one.score))


def _match(factors: Factors[UUID], pool_scores: _PoolScores) -> Match:
    evidence = evidence_of(text_weight=factors.text_weight, is_reranked=factors.late is not None)
    relevance = CALIBRATIONS[evidence].relevance(
        factors.own,
        memories=pool_scores.pool.vocabulary.memories,
        terms=pool_scores.query_terms,
    )
    return Match(relevance, factors.fused)


def _stage(request: RankRequest) -> str:
    wanted = request.query.is_reranked
    is_wanted = request.config.rerank_enabled if wanted is None else wanted
    return rerank.stage(request.reading, request.query.text, request.model, is_wanted=is_wanted)


def _candidates(
    request: RankRequest, pool: RecallPool, past: PastWordings
) -> list[Candidate[UUID]]:
    found = []
    weights = {
        one.value: request.query.provenance_weight(one.value, request.config) for one in Provenance
    }
    for row in _members(pool, past):
        hours = (request.now - row.observed_at).total_seconds() / SECONDS_AN_HOUR
        found.append(
            Candidate(
                id=row.pk,
                cosine=pool.cosines.get(row.pk),
                text=pool.words.get(row.pk),
                previous=pool.previous.get(row.pk),
                next=pool.next.get(row.pk),
                agent=row.agent,
                session=f"{row.key_id}:{row.session_key}" if row.session_key else "",
                hour=-hours,
                words=row.word_count,
                provenance_weight=weights[row.provenance],
                weight_factor=row.weight_factor,
                confidence=row.confidence,
                confidence_factor=row.confidence_factor,
                freshness=1.0 if _is_held(row, request.query) else freshness(hours / HOURS_A_DAY),
            )
        )
    return found


def _is_held(row: Facts | Memory, query: Query) -> bool:
    """Return whether a memory is a pin in the query's place: its score does not decay with age."""
    return row.is_pinned and holds(query, row.scope, row.project)


def _members(pool: RecallPool, past: PastWordings) -> list[Facts | Memory]:
    """Return the memories' ranking features in the order of their ids."""
    return [past.memories.get(i) or pool.facts[i] for i in sorted(pool.ids)]


def _choose_diverse(
    related: Sequence[Factors[UUID]], request: RankRequest
) -> list[DiverseItem[UUID]]:
    """Lower memories that repeat a better one; those far behind keep their score."""
    strength = request.config.diversity
    if not strength:
        return [DiverseItem(f.id, f.score, 1.0, None) for f in related]
    head, tail = related[:DIVERSE_MAX], related[DIVERSE_MAX:]
    rows = MemoryVector.objects.filter(
        Among(F("memory_id"), [f.id for f in head]), model=request.model, position=0
    )
    vectors = dict(rows.values_list("memory_id", "embedding"))
    placed = choose_diverse({f.id: f.score for f in head}, vectors, strength=strength)
    return [*placed, *(DiverseItem(f.id, f.score, 1.0, None) for f in tail)]


def _explain(
    factors: Factors[UUID], diverse: DiverseItem[UUID], pool_scores: _PoolScores
) -> dict[str, Any]:
    pool = pool_scores.pool
    return {name: getattr(factors, name) for name in _SHOWN} | {
        "diversity": diverse.multiplier,
        "repeats": None if diverse.repeats is None else str(diverse.repeats),
        "rerank": pool_scores.stage,
        "memories": pool.vocabulary.memories,
        "query_terms": pool_scores.query_terms,
        "vector_rank": _rank_in(pool_scores.cosines, pool.cosines.get(factors.id)),
        "text_rank": _rank_in(pool_scores.words, pool.words.get(factors.id)),
        "neighbours": [
            str(neighbour)
            for neighbour in (pool.previous.get(factors.id), pool.next.get(factors.id))
            if neighbour is not None
        ],
    }


def _rank_in(ascending: list[float], own: float | None) -> int | None:
    return None if own is None else 1 + len(ascending) - bisect_right(ascending, own)
