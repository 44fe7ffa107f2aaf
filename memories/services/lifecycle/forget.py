"""Forgetting by id or by meaning, and bringing back; a tombstone, never a deletion."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from uuid import UUID

from django.db import IntegrityError

from engram.kernel.actors import Actor
from engram.kernel.embedding import EmbeddingUnavailableError, embed_query
from engram.kernel.models import Workspace
from engram.kernel.refusals import StaleError
from engram.kernel.tenancy import in_workspace
from memories.models import Memory, State
from memories.models.memory import in_scope
from memories.services.causes import SAME_STATEMENT
from memories.services.index.nearest import nearest
from memories.services.index.statement_hashes import SAID_AGAIN, lock_statements, refuse_twins
from memories.services.lifecycle.states import hide, lock_absorbed, restore_fields, survivor_ids
from memories.services.locks import lock
from memories.services.review.ask import request_forgetting, request_review
from memories.services.review.trust import ReviewNeededError, demand_leave, keeps_from_forgetting

# A query takes no more at a time: a weak one must not sweep a workspace away.
MEANT_MAX = 50
NOT_EMBEDDABLE = "query not embeddable: its meaning is unknown right now; name the ids instead"
NOTHING_RELEVANT = "nothing is that relevant to the query"


@dataclass(frozen=True, slots=True)
class ForgetMatches:
    """The memories that a query-forget means, nearest first, each with its cosine to the query.

    `reason` says why there are none.
    """

    relevance: Mapping[UUID, float] = field(default_factory=dict)
    is_capped: bool = False
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What was newly forgotten, and which memories wait for a person instead."""

    memories: tuple[Memory, ...]
    pending: dict[UUID, UUID]  # memory → review


@dataclass(frozen=True, slots=True)
class Restored:
    """What came back, and which requests wait for a person instead."""

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
    """Return what a query-forget means: live memories whose own cosine is high enough.

    No words, no neighbours, a cap. The least relevance is the workspace's unless given.
    """
    try:
        vector = embed_query(query, workspace.embedding_model)
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
        return ForgetMatches(reason=NOTHING_RELEVANT)
    most = dict(islice(relevant.items(), MEANT_MAX))
    return ForgetMatches(most, is_capped=len(relevant) > MEANT_MAX)


@dataclass(frozen=True, slots=True)
class Preview:
    """What a forget would stamp, and of which of these a person would be asked first."""

    memories: tuple[Memory, ...]
    waits: tuple[UUID, ...]


def preview(workspace: Workspace, ids: Collection[UUID], *, actor: Actor) -> Preview:
    """Return what `forget` would do in the order of `ids`, changing nothing."""
    with in_workspace(workspace):
        wanted = list(dict.fromkeys([*ids, *sorted(survivor_ids(ids))]))
        found = Memory.objects.filter(forgotten_at=None).in_bulk(wanted)
        named = [found[i] for i in wanted if i in found]
        kept = {one.memory.id for one in keeps_from_forgetting(named, actor=actor) if one.memory}
        going = [memory for memory in named if memory.id not in kept]
        along = [m for m in lock_absorbed(going) if m.forgotten_at is None and m.id not in kept]
        shown = {memory.id: memory for memory in (*named, *along)}
        return Preview(tuple(shown.values()), tuple(i for i in shown if i in kept))


def forget(
    workspace: Workspace, ids: Collection[UUID], *, actor: Actor, now: datetime
) -> Forgotten:
    """Hide memories by their owner's will (unknown ids are none); a person's word asks a person.

    Where one was merged into another, that one is hidden with it: it says the same.
    """
    with in_workspace(workspace):
        wanted = {*ids, *survivor_ids(ids)}
        named = [memory for memory in lock(wanted) if memory.forgotten_at is None]
        needed = keeps_from_forgetting(named, actor=actor)
        pending = request_forgetting(needed, actor=actor, now=now)
        going = [memory for memory in named if memory.id not in pending]
        return Forgotten(tuple(hide(going, "forgotten_at", actor=actor, now=now)), pending)


def restore(
    workspace: Workspace, ids: Collection[UUID], *, actor: Actor, now: datetime
) -> Restored:
    """Undo `forget`. Other reasons to be hidden stay in force; a person's will asks a person."""
    try:
        with in_workspace(workspace):
            lock_statements(
                Memory.objects.filter(pk__in=ids).values_list("content_hash", flat=True)
            )
            restored = []
            pending = {}
            for memory in [m for m in lock(ids) if m.forgotten_at is not None]:
                try:
                    demand_leave(memory, actor=actor)
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
        raise StaleError(SAID_AGAIN, cause=SAME_STATEMENT) from None


def _would_live(memory: Memory, now: datetime) -> bool:
    """Tell whether nothing but forgetting hides a memory."""
    stamps = (memory.culled_at, memory.retired_at, memory.superseded_at)
    is_over = memory.expires_at is not None and memory.expires_at <= now
    return not any(stamps) and not is_over


def still_hidden(memories: Collection[Memory], now: datetime) -> dict[UUID, State]:
    """Return what else hides memories that were brought back."""
    states = {memory.id: memory.state(now) for memory in memories}
    return {i: state for i, state in states.items() if state != State.ACTIVE}
