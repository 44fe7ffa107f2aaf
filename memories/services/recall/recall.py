"""Recall the memories that answer a query, best first, with every factor of the score."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from engram.kernel import telemetry
from engram.kernel.binary import binary_cursor
from engram.kernel.configuration import WorkspaceSettings
from engram.kernel.embedding import (
    EmbeddingUnavailableError,
    QueryReading,
    UnknownTextError,
    read_query,
)
from engram.kernel.models import Workspace
from engram.kernel.plain_sql import Condition, Selection, condition_of, rows_of
from engram.kernel.planning import by_index_in_order, searching
from memories.core.associations import NOTE
from memories.core.relevance import select
from memories.core.spreading import Node
from memories.core.text import terms
from memories.models import Memory, Note, Provenance
from memories.services.drift.report import report_drift
from memories.services.recall import past
from memories.services.recall.describe import Found, describe_recall
from memories.services.recall.links import LinkReader
from memories.services.recall.log import note_recall
from memories.services.recall.pool import BREADTH, RecallPool, gather, match_words
from memories.services.recall.query import (
    AUTO,
    EMPTY_QUERY,
    Query,
    match_pins,
    match_query,
    select_pins,
    select_recallable,
)
from memories.services.recall.rank import RankedMemory, RankRequest, rank

PINNED_MAX = 20
_TRUST = " ".join(f"WHEN '{one.value}' THEN {one.trust}" for one in Provenance)
_PINS = f"""
    SELECT id FROM memories_memory WHERE {{condition}}
    ORDER BY CASE provenance {_TRUST} END DESC, importance DESC, created_at, id LIMIT %(most)s
"""  # noqa: S608  names only

NO_MEMORIES = "no memories: nothing in this workspace can be recalled"
NO_MEMORIES_THEN = "no memories: nothing was known at that moment"
ALL_FILTERED = "all filtered: no memory is left within the scope, project and kinds"
NOTHING_RELATED = "nothing related: no memory shares a word or a meaning with the query"
BELOW_MIN_SCORE = "below min_score: every memory that was found scores less"
NOTHING_RELEVANT = "nothing relevant: no memory that was found is likely to be of use"
NOT_EMBEDDABLE = "query not embeddable: its meaning is unknown right now"
NO_KNOWN_WORD = "query not embeddable: the model knows no word of it, and no memory has one"

__all__ = ["Query", "RecallAnswer", "RecalledMemory", "match_query", "rank_memories", "recall"]


@dataclass(frozen=True, slots=True)
class RecalledMemory:
    """One memory with its score; `explain` has every factor (see `memories.core.fusion`)."""

    memory: Memory
    score: float
    cosine: float | None
    relevance: float  # probability, see `memories.core.relevance`
    explain: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Association:
    """One memory that a walk led to, from a memory or an entity that the query names."""

    memory: Memory
    activation: float  # in (0, 1]; 1 is the largest of the query
    path: tuple[Node, ...]  # from where the walk started to this memory
    titles: Mapping[str, str]  # of the notes in it, by key; a note without one is gone


@dataclass(frozen=True, slots=True)
class RecallAnswer:
    """The results, or the reason why there are none, or only pins.

    `associations` are those of the results that a walk along links led to, most active first.
    """

    results: tuple[RecalledMemory, ...]
    reason: str = ""
    associations: tuple[Association, ...] = ()


def recall(workspace: Workspace, query: Query, *, now: datetime) -> RecallAnswer:
    """Answer a query from recallable memories, or those recallable at `as_of`.

    1. Embed, outside a transaction. 2. Gather a pool by vectors and words. 3. Fuse, rerank the best
    token by token, weigh. 4. Log the recall, to be counted later.
    """
    with telemetry.timed("recall", workspace):
        return _recall(workspace, query, now=now)


def _recall(workspace: Workspace, query: Query, *, now: datetime) -> RecallAnswer:
    reading, why_unread = None, ""
    try:
        reading = _read(query, workspace.embedding_model)
    except UnknownTextError:
        why_unread = NO_KNOWN_WORD
    except EmbeddingUnavailableError:
        why_unread = NOT_EMBEDDABLE
        telemetry.record_outage(
            "embedding", "embedding_unavailable",
            detail=workspace.embedding_model, now=now, workspace=workspace,
        )  # fmt: skip
    then = None if query.as_of is None else past.read_former(workspace, query, reading)
    with searching(workspace):
        ranked = rank_memories(workspace, query, reading, then, now=now)
        kept = keep(ranked, query, workspace.config.min_relevance)
        best = kept[: query.k]
        if not best:
            return RecallAnswer((), _reason(query, now, why_unread, had_any=bool(ranked)))
        memories = rows_of(Memory, [one.id for one in best])
        if then is not None:
            memories |= {i: m for i, m in then.memories.items() if i in memories}
        results = tuple(
            RecalledMemory(memories[o.id], o.score, o.cosine, o.match.relevance, o.explain)
            for o in best
        )
        if query.is_recorded:
            relevant = _relevant(best, ranked, workspace.config.min_relevance)
            _record(workspace.config, query, results, relevant, now)
            if then is None:
                report_drift(workspace, [one.id for one in best], origin="recall", now=now)
        return RecallAnswer(
            results,
            NOTHING_RELEVANT if _are_only_pins(kept, query, workspace.config) else "",
            _associations(best, memories),
        )


def _relevant(
    best: Sequence[RankedMemory], ranked: Sequence[RankedMemory], min_relevance: float
) -> list[UUID]:
    """Return which of the best pass the usual cut, whatever `min_score` the query has."""
    chosen = select([one.match for one in ranked], least=min_relevance)
    passing = {one.id for one, passes in zip(ranked, chosen, strict=True) if passes}
    return [one.id for one in best if one.id in passing]


def _record(
    config: WorkspaceSettings,
    query: Query,
    results: Sequence[RecalledMemory],
    relevant: Sequence[UUID],
    now: datetime,
) -> None:
    """Write the record of a recall: one insert."""
    note_recall(
        [one.memory.pk for one in results],
        relevant=relevant,
        noise_count=sum(one.score < config.noise_score for one in results),
        session_key=query.session_key,
        kept=describe_recall(query, found_in(results)) if config.recalls_kept else None,
        now=now,
    )


def found_in(results: Sequence[RecalledMemory]) -> Iterator[Found]:
    """Yield what is kept of results."""
    for one in results:
        yield Found(one.memory.pk, one.score, one.relevance, one.explain)


def _associations(
    best: Sequence[RankedMemory], memories: Mapping[UUID, Memory]
) -> tuple[Association, ...]:
    led = [(one.id, one.graph) for one in best if one.graph is not None and one.graph.path]
    paths = {i: part.path for i, part in led}
    titles = _titles_of({n.key for path in paths.values() for n in path if n.kind == NOTE})
    found = [Association(memories[i], part.activation, paths[i], titles) for i, part in led]
    return tuple(sorted(found, key=lambda one: -one.activation))


def _titles_of(note_ids: Collection[str]) -> dict[str, str]:
    if not note_ids:
        return {}
    rows = Note.objects.filter(pk__in=note_ids).order_by().values_list("pk", "title", "path")
    return {str(pk): title or path for pk, title, path in rows}


def keep(ranked: Sequence[RankedMemory], query: Query, min_relevance: float) -> list[RankedMemory]:
    """Return the memories that the query's `min_score` lets pass; with `AUTO` pins always do."""
    if query.min_score is None:
        return list(ranked)
    if query.min_score != AUTO:
        return [one for one in ranked if one.score >= query.min_score]
    chosen = select([one.match for one in ranked], least=min_relevance)
    return [one for one, passes in zip(ranked, chosen, strict=True) if passes or one.is_pin]


def _are_only_pins(kept: Sequence[RankedMemory], query: Query, config: WorkspaceSettings) -> bool:
    """Return whether pins are returned although nothing that was found is relevant."""
    return query.min_score == AUTO and all(
        one.is_pin and one.match.relevance < config.min_relevance for one in kept
    )


def rank_memories(
    workspace: Workspace,
    query: Query,
    reading: QueryReading | None,
    then: past.FormerWordings | None = None,
    *,
    always: Collection[UUID] = (),
    now: datetime,
) -> list[RankedMemory]:
    """Return all memories related to a query, in order, and `always` whatever their score."""
    model = workspace.embedding_model
    request = RankRequest(query, reading, model, workspace.config, query.as_of or now)
    if then is None:
        recallable = select_recallable(query, now)
        pinned = _leading_pins(select_pins(query, now), query)
        pool = _pool(recallable, query, reading, model, [*pinned, *always])
        links = None
        if uses_graph(workspace, query):
            links = LinkReader(recallable.condition, memories=pool.vocabulary.memories, now=now)
        return rank(request, pool, pinned=pinned, always=always, links=links)
    unrevised = past.select_unrevised(request.now).filter(match_query(query))
    pins = unrevised.filter(match_pins(query), is_pinned=True)
    pinned = _leading_pins(condition_of(pins), query)
    pool = past.gather_then(unrevised, query, reading, model, then, always=pinned)
    return rank(request, pool, pinned=pinned, states=past.states_of(then))


def uses_graph(workspace: Workspace, query: Query) -> bool:
    """Return whether links count for a query; never for one of a time before."""
    if query.as_of is not None:
        return False
    return workspace.config.graph_enabled if query.uses_graph is None else query.uses_graph


def read_query_of(query: Query, model: str) -> QueryReading | None:
    """Return the embedding of a query; None when embedding fails or the query is empty."""
    try:
        return _read(query, model)
    except EmbeddingUnavailableError:
        return None


def _read(query: Query, model: str) -> QueryReading | None:
    return read_query(query.text, model) if query.is_meaningful else None


def _pool(
    recallable: Selection[Memory],
    query: Query,
    reading: QueryReading | None,
    model: str,
    always: Collection[UUID],
) -> RecallPool:
    vector = None if reading is None else reading.vector
    breadth = max(BREADTH, query.k)
    with by_index_in_order():
        words = match_words(recallable, terms(query.text), breadth=breadth)
        return gather(recallable, vector, model, words, always, breadth=breadth)


def _leading_pins(pins: Condition, query: Query) -> list[UUID]:
    """Return the first of the pins in the query's place: at most half of `k`, at least one.

    Ordered by provenance, then importance, as at the start of a session.
    """
    most = min(PINNED_MAX, max(1, query.k // 2))
    with binary_cursor(prepares=True) as cursor:
        cursor.execute(_PINS.format(condition=pins.sql), pins.parameters | {"most": most})
        return [memory_id for (memory_id,) in cursor.fetchall()]


def _reason(query: Query, now: datetime, why_unread: str, *, had_any: bool) -> str:
    """Return the reason why there are no results; `why_unread` is empty for an embedded query."""
    if had_any:
        return NOTHING_RELEVANT if query.min_score == AUTO else BELOW_MIN_SCORE
    recallable = Memory.objects.recallable(now)
    if query.as_of is not None:
        recallable = Memory.objects.recallable_then(query.as_of)
    if not recallable.exists():
        return NO_MEMORIES if query.as_of is None else NO_MEMORIES_THEN
    if not recallable.filter(match_query(query)).exists():
        return ALL_FILTERED
    if not query.is_meaningful:
        return EMPTY_QUERY
    return why_unread or NOTHING_RELATED
