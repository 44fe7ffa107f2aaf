"""Rank a pool: fuse scores, rerank token by token, apply diversity, explain."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

from django.db.models import F

from engram.kernel.configuration import WorkspaceSettings
from engram.kernel.embedding import QueryReading
from engram.kernel.planning import Among
from memories.core import late
from memories.core.diversity import DiverseItem, choose_diverse
from memories.core.fusion import Candidate, Factors, choose_leading, freshness, fuse
from memories.core.named_agents import find_named_agents
from memories.core.relevance import CALIBRATIONS, Match, evidence_of
from memories.models import MemoryVector, Provenance
from memories.services.recall import rerank
from memories.services.recall.facts import Facts, facts_of
from memories.services.recall.graph import GraphPart, walk
from memories.services.recall.links import LinkReader
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
    lowers_repetitions: bool = True


@dataclass(frozen=True, slots=True)
class RankedMemory:
    """One ranked memory."""

    id: UUID
    score: float
    cosine: float | None
    is_pin: bool  # a pin that leads here, whatever its score
    match: Match
    graph: GraphPart | None  # None without the graph
    _factors: Factors[UUID]
    _diverse: DiverseItem[UUID]
    _pool_scores: _PoolScores

    @property
    def explain(self) -> dict[str, Any]:
        """Return every factor of the score (`memories.core.fusion`), and its ranks in the pool."""
        found = _explain(self._factors, self._diverse, self._pool_scores)
        if self.graph is not None:
            found["graph_activation"] = self.graph.activation
            found["direct"], found["best_direct"] = self.graph.direct, self.graph.best
        return found


@dataclass(frozen=True, slots=True)
class _PoolScores:
    """The score distributions of a pool, for ranks and percentiles."""

    pool: RecallPool
    stage: str
    cosines: list[float]  # ascending
    words: list[float]


def rank(
    request: RankRequest,
    pool: RecallPool,
    *,
    pinned: Collection[UUID] = (),
    always: Collection[UUID] = (),
    states: Mapping[UUID, Sequence[late.Bytes]] | None = None,
    links: LinkReader | None = None,
) -> list[RankedMemory]:
    """Return the related memories of a pool, pins first, then by score.

    With the second stage only the best `BREADTH` (or `k`, if larger), pins and `always` remain.
    `states` are the token states of past wordings, which are not stored. With `links`, what these
    lead to is added to the pool.
    """
    lasting = {*pinned, *always}
    members = pool.members
    stage = _stage(request, pool)
    kept = _fuse(request, pool, members, lasting, states or {}, is_reranked=stage == rerank.ON)
    parts: Mapping[UUID, GraphPart] = {}
    if links is not None:
        found_only = partial(_score_found, request, pool, is_reranked=stage == rerank.ON)
        walked = walk(links, request.query.text, kept, found_only)
        kept, parts, members = walked.factors, walked.parts, pool.members
    related = [f for f in kept if f.score > 0 or f.id in lasting]
    by_id = {f.id: f for f in related}
    pool_scores = _PoolScores(
        pool,
        stage,
        sorted(member.cosine for member in members if member.cosine is not None),
        sorted(member.words for member in members if member.words is not None),
    )
    ranked = [
        RankedMemory(
            d.id,
            d.score,
            pool.facts[d.id].cosine,
            d.id in pinned,
            _match(by_id[d.id], pool, parts.get(d.id)),
            parts.get(d.id),
            by_id[d.id],
            d,
            pool_scores,
        )
        for d in _choose_diverse(related, request)
    ]
    return sorted(ranked, key=lambda one: (not one.is_pin, -one.score))


def _fuse(
    request: RankRequest,
    pool: RecallPool,
    members: Sequence[Facts],
    lasting: Collection[UUID],
    states: Mapping[UUID, Sequence[late.Bytes]],
    *,
    is_reranked: bool,
) -> list[Factors[UUID]]:
    """Score the members; with the second stage the best of them, with their token states."""
    candidates = _candidates(request, pool, members)
    score: dict[str, Any] = {
        "named_agents": find_named_agents(
            request.query.text, {member.agent for member in pool.facts.values() if member.agent}
        ),
        "has_vector": request.reading is not None,
        "has_terms": bool(pool.vocabulary.terms),
    }
    if not is_reranked or request.reading is None:
        return fuse(candidates, **score)
    best, most = {one.id for one in candidates}, max(BREADTH, request.query.k)
    if len(best) > most:
        best = {*choose_leading(candidates, most, **score), *lasting}
    scores = rerank.late_scores(request.reading, request.model, pool=pool, ids=best, besides=states)
    # Neighbours that were not reranked add nothing: their scores have another scale.
    return fuse([c._replace(late=scores.get(c.id)) for c in candidates if c.id in best], **score)


def _score_found(
    request: RankRequest, pool: RecallPool, ids: Sequence[UUID], *, is_reranked: bool
) -> list[Factors[UUID]]:
    """Add memories to the pool that only links lead to, and score them by themselves."""
    vector = None if request.reading is None else request.reading.vector
    facts = facts_of(ids, pool.vocabulary, vector, request.model)
    pool.facts |= {i: own for i, own in facts.items() if i not in pool.facts}
    members = [pool.facts[i] for i in facts]
    return _fuse(request, pool, members, (), {}, is_reranked=is_reranked)


def _match(factors: Factors[UUID], pool: RecallPool, part: GraphPart | None) -> Match:
    """Return the match that decides what is cut: links bring memories in, and put none out."""
    evidence = evidence_of(text_weight=factors.text_weight, is_reranked=factors.late is not None)
    relevance = CALIBRATIONS[evidence].relevance(
        factors.own, memories=pool.vocabulary.memories, terms=len(pool.vocabulary.terms)
    )
    return Match(relevance, max(factors.fused, part.direct) if part else factors.fused)


def _stage(request: RankRequest, pool: RecallPool) -> str:
    wanted = request.query.is_reranked
    is_wanted = request.config.rerank_enabled if wanted is None else wanted
    has_terms = bool(pool.vocabulary.terms)
    return rerank.stage(request.reading, request.model, has_terms=has_terms, is_wanted=is_wanted)


def _candidates(
    request: RankRequest, pool: RecallPool, members: Sequence[Facts]
) -> list[Candidate[UUID]]:
    weights = {
        one.value: request.query.provenance_weight(one.value, request.config) for one in Provenance
    }
    found = []
    for row in members:
        hours = (request.now - row.observed_at).total_seconds() / SECONDS_AN_HOUR
        found.append(
            Candidate(
                id=row.pk,
                cosine=row.cosine,
                text=row.words,
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
                question=row.question_cosine,
                freshness=1.0 if _is_held(row, request.query) else freshness(hours / HOURS_A_DAY),
            )
        )
    return found


def _is_held(row: Facts, query: Query) -> bool:
    """Return whether a memory is a pin in the query's place: its score does not decay with age."""
    return row.is_pinned and holds(query, row.scope, row.project)


def _choose_diverse(
    related: Sequence[Factors[UUID]], request: RankRequest
) -> list[DiverseItem[UUID]]:
    """Lower memories that repeat a better one; those far behind keep their score."""
    strength = request.config.diversity if request.lowers_repetitions else 0.0
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
    pool, own = pool_scores.pool, pool_scores.pool.facts[factors.id]
    return {name: getattr(factors, name) for name in _SHOWN} | {
        "nearest_question": own.question,
        "diversity": diverse.multiplier,
        "repeats": None if diverse.repeats is None else str(diverse.repeats),
        "rerank": pool_scores.stage,
        "memories": pool.vocabulary.memories,
        "query_terms": len(pool.vocabulary.terms),
        "vector_rank": _rank_in(pool_scores.cosines, own.cosine),
        "text_rank": _rank_in(pool_scores.words, own.words),
        "neighbours": [
            str(neighbour)
            for neighbour in (pool.previous.get(factors.id), pool.next.get(factors.id))
            if neighbour is not None
        ],
    }


def _rank_in(ascending: list[float], own: float | None) -> int | None:
    return None if own is None else 1 + len(ascending) - bisect_right(ascending, own)
