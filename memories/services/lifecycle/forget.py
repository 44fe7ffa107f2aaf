"""Forget memories by id or by query, and restore them; rows are hidden, not deleted."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from uuid import UUID

from django.db import IntegrityError

from engram.kernel.actors import Actor
from engram.kernel.embedding import EmbeddingUnavailableError, UnknownTextError, embed_query
from engram.kernel.models import Workspace
from engram.kernel.refusals import StaleError
from engram.kernel.tenancy import in_workspace
from memories.models import Memory, State
from memories.models.memory import in_scope
from memories.services.causes import SAME_STATEMENT
from memories.services.index.nearest import nearest
from memories.services.index.statement_hashes import COMMITTED_AGAIN, lock_statements, refuse_twins
from memories.services.lifecycle.states import hide, lock_absorbed, restore_fields, survivor_ids
from memories.services.locks import lock
from memories.services.recall.query import EMPTY_QUERY, Query
from memories.services.review.ask import request_forgetting, request_review
from memories.services.review.trust import (
    ReviewNeededError,
    demand_may_restore,
    reviews_before_forgetting,
)

# The most memories that one query forgets, so that a vague query cannot hide a workspace.
MEANT_MAX = 50
NOT_EMBEDDABLE = "query not embeddable: its meaning is unknown right now; name the ids instead"
NO_KNOWN_WORD = "query not embeddable: the model knows no word of it; name the ids instead"
NOTHING_NEAR = "nothing is that near to the query"


@dataclass(frozen=True, slots=True)
class ForgetMatches:
    """The memories that match a query to forget, nearest first, each with its cosine.

    `reason` says why there are none.
    """

    cosines: Mapping[UUID, float] = field(default_factory=dict)
    is_capped: bool = False
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Forgotten:
    """The newly forgotten memories, and those that need a review first."""

    memories: tuple[Memory, ...]
    pending: dict[UUID, UUID]  # memory → review


@dataclass(frozen=True, slots=True)
class Restored:
    """The restored memories, and those that need a review first."""

    memories: tuple[Memory, ...]
    pending: dict[UUID, UUID]  # memory → review


def match_query(
    workspace: Workspace,
    query: str,
    *,
    min_relevance: float | None = None,
    kinds: Collection[str] = (),
    scope: str = "",
    project: str = "",
    now: datetime,
) -> ForgetMatches:
    """Return the live memories whose cosine to the query is at least `min_relevance`.

    BM25 and session neighbours are not used, and the number is capped. `min_relevance` defaults to
    the workspace's setting. Mere punctuation has a vector but no meaning: it matches nothing.
    """
    if not Query(query).is_meaningful:
        return ForgetMatches(reason=EMPTY_QUERY)
    try:
        vector = embed_query(query, workspace.embedding_model)
    except UnknownTextError:
        return ForgetMatches(reason=NO_KNOWN_WORD)
    except EmbeddingUnavailableError:
        return ForgetMatches(reason=NOT_EMBEDDABLE)
    least = workspace.config.forget_min_relevance if min_relevance is None else min_relevance
    with in_workspace(workspace):
        recallable = Memory.objects.recallable(now)
        if kinds:
            recallable = recallable.filter(kind__in=kinds)
        if scope:
            recallable = recallable.filter(in_scope(scope))
        if project:
            recallable = recallable.filter(project=project)
        near = nearest(recallable, vector, workspace.embedding_model, MEANT_MAX + 1)
    relevant = {memory_id: cosine for memory_id, cosine in near.items() if cosine >= least}
    if not relevant:
        return ForgetMatches(reason=NOTHING_NEAR)
    most = dict(islice(relevant.items(), MEANT_MAX))
    return ForgetMatches(most, is_capped=len(relevant) > MEANT_MAX)


@dataclass(frozen=True, slots=True)
class ForgetPreview:
    """The memories that a forget would hide, and those that would need a review first."""

    memories: tuple[Memory, ...]
    waits: tuple[UUID, ...]


def preview(workspace: Workspace, ids: Collection[UUID], *, actor: Actor) -> ForgetPreview:
    """Return what `forget` would do, in the order of `ids`, without writing."""
    with in_workspace(workspace):
        wanted = list(dict.fromkeys([*ids, *sorted(survivor_ids(ids))]))
        found = Memory.objects.filter(forgotten_at=None).in_bulk(wanted)
        named = [found[i] for i in wanted if i in found]
        kept = {
            one.memory.id for one in reviews_before_forgetting(named, actor=actor) if one.memory
        }
        going = [memory for memory in named if memory.id not in kept]
        along = [m for m in lock_absorbed(going) if m.forgotten_at is None and m.id not in kept]
        shown = {memory.id: memory for memory in (*named, *along)}
        return ForgetPreview(tuple(shown.values()), tuple(i for i in shown if i in kept))


def forget(
    workspace: Workspace, ids: Collection[UUID], *, actor: Actor, now: datetime
) -> Forgotten:
    """Forget memories; unknown ids are ignored.

    A memory that a person wrote or decided about needs a review if the caller is an agent. Where a
    memory was merged into another, that one is forgotten as well, because it makes the same
    statement.
    """
    with in_workspace(workspace):
        wanted = {*ids, *survivor_ids(ids)}
        named = [memory for memory in lock(wanted) if memory.forgotten_at is None]
        needed = reviews_before_forgetting(named, actor=actor)
        pending = request_forgetting(needed, actor=actor, now=now)
        going = [memory for memory in named if memory.id not in pending]
        return Forgotten(tuple(hide(going, "forgotten_at", actor=actor, now=now)), pending)


def restore(
    workspace: Workspace, ids: Collection[UUID], *, actor: Actor, now: datetime
) -> Restored:
    """Undo `forget`; memories hidden for other reasons stay hidden.

    What a person or reviewer forgot needs a review if the caller is an agent.
    """
    try:
        with in_workspace(workspace):
            lock_statements(
                Memory.objects.filter(pk__in=ids).values_list("content_hash", flat=True)
            )
            restored = []
            pending = {}
            for memory in [m for m in lock(ids) if m.forgotten_at is not None]:
                try:
                    demand_may_restore(memory, actor=actor)
                except ReviewNeededError as needed:
                    pending[memory.id] = request_review(
                        workspace, needed, {}, actor=actor, now=now
                    ).id
                else:
                    restored.append(memory)
            refuse_twins([memory for memory in restored if _would_live(memory, now)], now)
            back: dict[UUID, Memory] = {}
            for memory in restored:
                if memory.id not in back:
                    came = restore_fields(memory, {"forgotten_at": None}, actor=actor, now=now)
                    back |= {one.id: one for one in came}
            return Restored(tuple(back.values()), pending)
    except IntegrityError:
        raise StaleError(COMMITTED_AGAIN, cause=SAME_STATEMENT) from None


def _would_live(memory: Memory, now: datetime) -> bool:
    """Return whether a memory would be live if it were not forgotten."""
    stamps = (memory.culled_at, memory.retired_at, memory.superseded_at)
    is_over = memory.expires_at is not None and memory.expires_at <= now
    return not any(stamps) and not is_over


def still_hidden(memories: Collection[Memory], now: datetime) -> dict[UUID, State]:
    """Return the state of each restored memory that is still hidden for another reason."""
    states = {memory.id: memory.state(now) for memory in memories}
    return {i: state for i, state in states.items() if state != State.ACTIVE}
