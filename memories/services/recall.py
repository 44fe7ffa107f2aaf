"""Recall: what answers a query, best first, with every factor of the score."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import numpy as np
from django.db.models import Q, QuerySet

from engram.kernel.configuration import WorkspaceSettings
from engram.kernel.embedding import EmbeddingUnavailableError, embed_query
from engram.kernel.models import Workspace
from engram.kernel.planning import without_nested_loops
from engram.kernel.tenancy import in_workspace
from memories.core.fusion import Candidate, Factors, agents_named, freshness, fuse
from memories.core.text import terms
from memories.models import Kind, Memory
from memories.models.memory import in_scope
from memories.services.candidates import Pool, by_meaning, gather
from memories.services.recall_log import note_recall

SECONDS_A_DAY = 86_400.0
PINNED_MAX = 20
FORGET_MAX = 50

NO_MEMORIES = "no memories: nothing in this workspace can be recalled"
ALL_FILTERED = "all filtered: no memory is left within the scope, project and kinds"
NOTHING_RELATED = "nothing related: no memory shares a word or a meaning with the query"
BELOW_MIN_SCORE = "below min_score: every memory that was found scores less"
NOT_EMBEDDABLE = "query not embeddable: its meaning is unknown right now"


@dataclass(frozen=True, slots=True)
class Query:
    """What is asked, and within what."""

    text: str
    k: int = 10
    scope: str = ""
    project: str = ""
    kinds: tuple[str, ...] = ()
    min_score: float | None = None
    is_recorded: bool = True
    session_key: str = ""


@dataclass(frozen=True, slots=True)
class Recalled:
    """One memory with its score; `explain` holds every factor (see `memories.core.fusion`)."""

    memory: Memory
    score: float
    cosine: float | None
    explain: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """What was found, or why nothing was."""

    results: tuple[Recalled, ...]
    reason: str = ""


def recall(workspace: Workspace, query: Query, *, now: datetime) -> Answer:
    """Answer a query from what may be recalled.

    1. Embed, outside of any transaction. 2. A pool by meaning and by words. 3. Fuse and weigh.
    4. Note the recall, to be counted later.
    """
    vector = _embedded(query.text, workspace.embedding_model)
    query_terms = terms(query.text)
    with in_workspace(workspace):
        recallable = Memory.objects.recallable(now).filter(matching(query))
        pinned = _pinned(recallable, query)
        with without_nested_loops():
            pool = gather(recallable, vector, workspace.embedding_model, query_terms, always=pinned)
        ranked = _rank(
            pool,
            query,
            workspace.config,
            pinned=pinned,
            has_vector=vector is not None,
            has_terms=bool(query_terms),
            now=now,
        )
        kept = [f for f in ranked if query.min_score is None or f.score >= query.min_score]
        best = kept[: query.k]
        if not best:
            return Answer((), _reason(query, now, vector, had_any=bool(ranked)))
        memories = Memory.objects.in_bulk([f.id for f in best])
        if query.is_recorded:
            noise_score = workspace.config.noise_score
            note_recall(
                [f.id for f in best],
                noise_count=sum(f.score < noise_score for f in best),
                session_key=query.session_key,
                now=now,
            )
        return Answer(
            tuple(
                Recalled(memories[f.id], f.score, pool.cosines.get(f.id), _explain(f, pool))
                for f in best
            )
        )


def relevant(
    workspace: Workspace,
    text: str,
    *,
    min_relevance: float,
    kinds: tuple[str, ...],
    now: datetime,
) -> Answer:
    """Return what a query-forget would mean: memories whose cosine is at least `min_relevance`.

    No neighbours, no words, a cap: a weak query must not sweep a workspace away.
    """
    vector = _embedded(text, workspace.embedding_model)
    if vector is None:
        return Answer((), NOT_EMBEDDABLE)
    with in_workspace(workspace):
        recallable = Memory.objects.recallable(now)
        if kinds:
            recallable = recallable.filter(kind__in=kinds)
        with without_nested_loops():
            near = by_meaning(recallable, vector, workspace.embedding_model)
        chosen = [i for i, cosine in near.items() if cosine >= min_relevance][:FORGET_MAX]
        memories = Memory.objects.in_bulk(chosen)
        found = tuple(Recalled(memories[i], near[i], near[i], {}) for i in chosen)
    return Answer(found, "" if found else "nothing is that relevant")


def matching(query: Query) -> Q:
    """Return the filter of a query: its scope and below, its project, its kinds.

    Constraints of enclosing scopes, and those of no project, hold inside as well.
    """
    condition = Q()
    if query.scope:
        parts = query.scope.split("/")
        above = ["", *("/".join(parts[:n]) for n in range(1, len(parts)))]
        condition &= in_scope(query.scope) | Q(kind=Kind.CONSTRAINT, scope__in=above)
    if query.project:
        condition &= Q(project=query.project) | Q(kind=Kind.CONSTRAINT, project="")
    if query.kinds:
        condition &= Q(kind__in=query.kinds)
    return condition


def _embedded(text: str, model: str) -> np.ndarray | None:
    try:
        return embed_query(text, model)
    except EmbeddingUnavailableError:
        return None


def _pinned(recallable: QuerySet[Memory], query: Query) -> list[UUID]:
    """Return what is pinned where the query looks; a query without a place has no pins."""
    if not (query.scope or query.project):
        return []
    pins = recallable.filter(is_pinned=True).order_by("-importance", "created_at")
    return list(pins.values_list("pk", flat=True)[:PINNED_MAX])


def _rank(
    pool: Pool,
    query: Query,
    config: WorkspaceSettings,
    *,
    pinned: list[UUID],
    has_vector: bool,
    has_terms: bool,
    now: datetime,
) -> list[Factors[UUID]]:
    """Score the pool; pins first, then by score."""
    rows = Memory.objects.filter(pk__in=pool.ids).values_list(
        "pk", "agent", "provenance", "confidence", "observed_at", "is_pinned"
    )
    candidates = []
    for memory_id, agent, provenance, confidence, observed_at, is_pinned in rows.order_by("pk"):
        age_days = (now - observed_at).total_seconds() / SECONDS_A_DAY
        candidates.append(
            Candidate(
                id=memory_id,
                cosine=pool.cosines.get(memory_id),
                text=pool.words.get(memory_id),
                previous=pool.previous.get(memory_id),
                next=pool.next.get(memory_id),
                agent=agent,
                provenance_weight=config.provenance_weight(provenance),
                confidence=confidence,
                freshness=1.0 if is_pinned else freshness(age_days),
            )
        )
    factors = fuse(
        candidates,
        named_agents=agents_named(query.text, {c.agent for c in candidates if c.agent}),
        has_vector=has_vector,
        has_terms=has_terms,
    )
    related = [f for f in factors if f.score > 0 or f.id in pinned]
    return sorted(related, key=lambda f: (f.id not in pinned, -f.score))


def _explain(factors: Factors[UUID], pool: Pool) -> dict[str, Any]:
    """Return every factor of a score, and the ranks by meaning and by words in the pool."""
    shown = {name: value for name, value in asdict(factors).items() if name != "id"}
    return shown | {
        "vector_rank": _rank_in(pool.cosines, factors.id),
        "text_rank": _rank_in(pool.words, factors.id),
        "neighbours": [
            str(neighbour)
            for neighbour in (pool.previous.get(factors.id), pool.next.get(factors.id))
            if neighbour is not None
        ],
    }


def _rank_in(scores: dict[UUID, float], memory_id: UUID) -> int | None:
    own = scores.get(memory_id)
    return None if own is None else 1 + sum(score > own for score in scores.values())


def _reason(query: Query, now: datetime, vector: np.ndarray | None, *, had_any: bool) -> str:
    """Say why nothing was found."""
    if had_any:
        return BELOW_MIN_SCORE
    recallable = Memory.objects.recallable(now)
    if not recallable.exists():
        return NO_MEMORIES
    if not recallable.filter(matching(query)).exists():
        return ALL_FILTERED
    return NOT_EMBEDDABLE if vector is None else NOTHING_RELATED
