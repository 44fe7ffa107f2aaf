"""Explain why a recall does or does not return a memory: state, filters, rank, score."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from engram.kernel.models import Workspace
from engram.kernel.tenancy import in_workspace
from memories.core.relevance import CLOSE
from memories.core.shares import percent
from memories.models import Memory, State
from memories.services.recall.query import AUTO, Query, in_places, in_project, of_kinds
from memories.services.recall.rank import RankedMemory
from memories.services.recall.recall import keep, rank_memories, read_query_of

# The codes and their messages.
CODES = {
    "returned": "It is returned.",
    "state": "It is not active.",
    "scope": "It lies outside of the scope.",
    "project": "It belongs to another project.",
    "kinds": "It is of another kind.",
    "nothing_asked": "The query holds nothing but punctuation.",
    "not_embedded": "Its meaning is not indexed yet, or not all of it.",
    "unrelated": "It shares neither a word nor a meaning with the query.",
    "min_score": "It scores less than was asked for.",
    "relevance": "It is not likely enough to be of use.",
    "rank": "Others fit better.",
    "stage": "It is not among the best by meaning or by words, which alone are compared further.",
}
_WHEN_HIDDEN = {
    State.FORGOTTEN: "It was forgotten",
    State.CULLED: "The janitor hid it",
    State.RETIRED: "It was retired",
    State.SUPERSEDED: "It was replaced",
    State.EXPIRED: "It expired",
}


@dataclass(frozen=True, slots=True)
class WhyNotReason:
    """One reason."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class WhyNot:
    """The answer; `rank` counts all related memories, `threshold` is the score of place k."""

    memory: Memory
    state: State
    reasons: tuple[WhyNotReason, ...]
    rank: int | None = None
    score: float | None = None
    cosine: float | None = None
    relevance: float | None = None
    threshold: float | None = None
    explain: dict[str, Any] | None = None

    @property
    def is_returned(self) -> bool:
        """Return whether a recall returns the memory."""
        return self.reasons[0].code == "returned"


@dataclass(frozen=True, slots=True)
class _Placing:
    """A memory among those that were found; its place counts those that `min_score` lets pass."""

    own: RankedMemory
    is_found: bool
    others: list[RankedMemory]  # in order
    passing: list[RankedMemory]  # those of `others` that pass
    place: int | None  # None where it does not pass
    min_relevance: float  # the workspace's setting


def why_not(workspace: Workspace, memory: Memory, query: Query, *, now: datetime) -> WhyNot:
    """Run the query as recall does, and find the memory's rank and score."""
    reading = read_query_of(query, workspace.embedding_model)
    state = memory.state(now)
    with in_workspace(workspace):
        excluded = [*_of_state(memory, state), *_of_filters(memory, query)]
        ranked = rank_memories(workspace, query, reading, now=now)
        rank = next((n for n, one in enumerate(ranked, 1) if one.id == memory.id), None)
        own = None if rank is None else ranked[rank - 1]
        if own is None:  # rank it anyway, to show its factors
            forced = rank_memories(workspace, query, reading, always=[memory.id], now=now)
            own = next(one for one in forced if one.id == memory.id)
    placing = _place(own, ranked, query, workspace.config.min_relevance)
    reasons = excluded or _of_rank(memory, query, placing) or [_returned(placing)]
    return WhyNot(
        memory=memory,
        state=state,
        reasons=tuple(reasons),
        rank=rank,
        score=own.score,
        cosine=own.cosine,
        relevance=own.match.relevance,
        threshold=_threshold(query, placing.passing),
        explain=own.explain,
    )


def _place(
    own: RankedMemory, ranked: list[RankedMemory], query: Query, min_relevance: float
) -> _Placing:
    """Return the place of a memory among those that recall would return for a large `k`."""
    is_found = any(one.id == own.id for one in ranked)
    kept = keep(ranked if is_found else [own, *ranked], query, min_relevance)
    return _Placing(
        own=own,
        is_found=is_found,
        others=[one for one in ranked if one.id != own.id],
        passing=[one for one in keep(ranked, query, min_relevance) if one.id != own.id],
        place=next((n for n, one in enumerate(kept, 1) if one.id == own.id), None),
        min_relevance=min_relevance,
    )


def _of_state(memory: Memory, state: State) -> list[WhyNotReason]:
    if state == State.ACTIVE:
        return []
    stamp = memory.expires_at if state == State.EXPIRED else getattr(memory, f"{state}_at")
    message = f"{_WHEN_HIDDEN[state]} on {stamp:%Y-%m-%d at %H:%M} UTC."
    return [WhyNotReason("state", message)]


def _of_filters(memory: Memory, query: Query) -> list[WhyNotReason]:
    """Return a reason for each filter that excludes the memory."""
    row = Memory.objects.filter(pk=memory.pk)
    filters = (
        ("scope", in_places(query), f"Its scope is {_quote_path(memory.scope)}."),
        ("project", in_project(query), f"Its project is {_quote_path(memory.project)}."),
        ("kinds", of_kinds(query), f"It is of the kind {memory.kind}."),
    )
    return [
        WhyNotReason(code, f"{CODES[code]} {detail}")
        for code, condition, detail in filters
        if not row.filter(condition).exists()
    ]


def _returned(placing: _Placing) -> WhyNotReason:
    message = f"It is returned, in place {placing.place}.{_of_links(placing)}"
    return WhyNotReason("returned", message)


def _of_links(placing: _Placing) -> str:
    """Return a sentence about the part of links in the score, where they raised it."""
    own, part = placing.own, placing.own.graph
    if part is None or own.match.fused <= part.direct:
        return ""
    how = "" if part.is_found else " Only links led to it."
    return f"{how} Links raised its match from {part.direct:.3f} to {own.match.fused:.3f}."


def _of_rank(memory: Memory, query: Query, placing: _Placing) -> list[WhyNotReason]:
    """Return the reasons why an active memory that passes the filters is not returned."""
    if not query.is_meaningful:
        return [WhyNotReason("nothing_asked", CODES["nothing_asked"])]
    own, place = placing.own, placing.place
    found = []
    if own.score <= 0 and not own.is_pin:
        found.append(WhyNotReason("unrelated", CODES["unrelated"]))
    elif place is None:
        found.append(_of_cut(query, placing))
    elif not placing.is_found:
        found.append(WhyNotReason("stage", CODES["stage"]))
    elif place > query.k:
        needed = placing.passing[query.k - 1].score
        message = (
            f"{place - 1} others fit better: it scores {own.score:.3f}, "
            f"and place {query.k} has {needed:.3f}.{_of_links(placing)}"
        )
        found.append(WhyNotReason("rank", message))
    if found and memory.is_embedding_due:
        how = "Only its words count." if own.cosine is None else "Of its end only the words count."
        found.append(WhyNotReason("not_embedded", f"{CODES['not_embedded']} {how}"))
    return found


def _of_cut(query: Query, placing: _Placing) -> WhyNotReason:
    """Return the reason why `min_score` does not let a memory pass."""
    own, least = placing.own, placing.min_relevance
    if query.min_score != AUTO:
        return WhyNotReason(
            "min_score", f"Its score of {own.score:.3f} is below {query.min_score:.3f}."
        )
    matches = [own.match, *(one.match for one in placing.others)]
    best = max(match.relevance for match in matches)
    if best < least:
        nearest = f"The most relevant memory has a relevance of {percent(best)}"
        message = f"Nothing is returned. {nearest}, less than {percent(least)}."
        return WhyNotReason("relevance", message)
    closest = max(match.fused for match in matches)
    message = (
        f"It matches far less than the best: {own.match.fused:.3f}, less than {CLOSE:g} times "
        f"{closest:.3f}."
    )
    return WhyNotReason("relevance", message)


def _threshold(query: Query, passing: list[RankedMemory]) -> float | None:
    """Return the score needed to be returned: that of place k, or `min_score`."""
    needed = [passing[query.k - 1].score] if len(passing) >= query.k else []
    if query.min_score is not None and query.min_score != AUTO:
        needed.append(query.min_score)
    return max(needed, default=None)


def _quote_path(path: str) -> str:
    return f"“{path}”" if path else "none"
