"""Find the card of a reported pair, or a waiting card on the same topic that it can join."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from uuid import UUID

import numpy as np
from django.db.models import Q

from conflicts.core.comparisons import Comparisons
from conflicts.core.parts import MAX_MEMBERS
from conflicts.core.subjects import note_of
from conflicts.models import Conflict, ConflictMember, ConflictPair
from conflicts.models.card import WAITING
from conflicts.services.cards.judged import of_current_texts
from memories.models import Memory, MemoryVector, State

SAME_MATTER_COSINE = 0.5


def card_of(memory: Memory, other: Memory) -> Conflict | None:
    """Return the card that covers the pair, whatever its status."""
    low, high = sorted([memory.lineage, other.lineage])
    pair = ConflictPair.objects.filter(lineage_low=low, lineage_high=high)
    covering = pair.select_related("conflict").first()
    return covering.conflict if covering else None


def open_card_of(memory: Memory, other: Memory) -> Conflict | None:
    """Return the waiting card that covers the pair."""
    card = card_of(memory, other)
    return card if card is not None and card.status in WAITING else None


def related_members(
    memory: Memory, other: Memory, known: Comparisons, *, model: str, now: datetime
) -> list[Memory]:
    """Return the live members of a waiting card of one memory whose topic fits the other.

    So N contradicting values become one card, though they are reported pair by pair: a memory that
    contradicts one member joins when it has the topic of every other member.
    """
    pair = {memory.lineage: memory, other.lineage: other}
    theirs = ConflictMember.objects.filter(lineage__in=list(pair), conflict__status__in=WAITING)
    for card in Conflict.objects.filter(pk__in=theirs.values("conflict_id")).order_by("created_at"):
        members = [m.memory for m in card.members.select_related("memory")]
        live = [m for m in members if m.state(now) == State.ACTIVE]
        held = {m.lineage for m in live} & pair.keys()
        if len(held) != 1 or len({m.lineage for m in members}) >= MAX_MEMBERS:
            continue
        [newcomer] = [m for lineage, m in pair.items() if lineage not in held]
        if any(known.are_of_other_subjects(note_of(newcomer), note_of(m)) for m in live):
            continue
        others = [m for m in live if m.lineage not in held]
        vectors = vectors_of([newcomer.id, *(m.id for m in others)], model)
        # All pairs are looked up, so that the missing ones are compared together.
        is_short = known.may_compare([newcomer.content, *(m.content for m in others)])
        is_same = [
            _is_same_topic(newcomer, m, vectors, known if is_short else None) for m in others
        ]
        if all(is_same):
            return live
    return []


def _is_same_topic(
    one: Memory, other: Memory, vectors: Mapping[UUID, np.ndarray], known: Comparisons | None
) -> bool:
    """Return whether two memories have the same topic; without `known` no claims are compared."""
    a, b = vectors.get(one.id), vectors.get(other.id)
    if a is not None and b is not None and float(a @ b) >= SAME_MATTER_COSINE:
        return True
    if known and known.relation(one.content, other.content) != "different":
        return True
    return of_current_texts(one, other).exclude(relation="different").exists()


def vectors_of(ids: Collection[UUID], model: str) -> dict[UUID, np.ndarray]:
    """Return the unit vector of each memory that is embedded."""
    stored = MemoryVector.objects.filter(Q(position=0, model=model), memory__in=ids)
    return {i: np.asarray(v) for i, v in stored.values_list("memory_id", "embedding")}
