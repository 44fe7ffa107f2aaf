"""What becomes of cards whose members say something else: asked anew at once, then read again.

While the memory is changed nothing is compared, because other writers wait: the card asks about the
new words, and its member is marked. The detective reads the words next and settles what the card
asks, or closes it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from itertools import combinations
from typing import Any
from uuid import UUID

from django.db.models import Q

from conflicts.core.comparisons import Comparisons
from conflicts.core.identity import Placement
from conflicts.models import Conflict, ConflictMember, ConflictPair
from conflicts.models.card import WAITING, LapseReason
from conflicts.services.asking import ask_anew, ask_finding, live_members, save_question
from conflicts.services.decided import wordings
from conflicts.services.due import note_written
from conflicts.services.lapse import lapse, locked_cards
from memories.models import Memory, State


def note_reworded(
    sender: Any,
    *,
    memory_ids: Sequence[UUID],
    now: datetime,
    created: Collection[UUID] = (),
    **_: Any,
) -> None:
    """Ask no longer about words that are gone. No card asks about what was just created."""
    stood_before = [memory_id for memory_id in memory_ids if memory_id not in created]
    for card in locked_cards(Q(status__in=WAITING), stood_before) if stood_before else ():
        members = list(card.members.select_related("memory"))
        before = wordings(members)
        changed = [
            m
            for m in members
            if before[m.pk] != m.memory.content or (m.is_reworded and m.memory_id in stood_before)
        ]
        for member in changed:
            member.is_reworded = True  # the revision tells until it is read what was asked about
        ConflictMember.objects.bulk_update(changed, ["is_reworded"])
        if changed:
            ask_anew(card, now=now)


def with_reworded(read: Collection[UUID]) -> list[UUID]:
    """Return the waiting cards with a reworded member among the memories that were read."""
    members = ConflictMember.objects.filter(
        is_reworded=True, memory__in=read, conflict__status__in=WAITING
    )
    return sorted(set(members.order_by().values_list("conflict_id", flat=True)))


def settle_reworded(
    cards: Sequence[UUID],
    known: Comparisons,
    *,
    placed: Mapping[UUID, Placement],
    read: Mapping[UUID, int],
    now: datetime,
) -> None:
    """Settle what cards ask whose reworded members the rules have `read`, in which revisions.

    A card goes on when a finding was `placed` on it, when the claim is the same in other words, or
    when somebody else than the rules found it. A member of the rules' own cards that disagrees no
    longer is taken out; a card without a question closes.
    """
    waiting = Conflict.objects.filter(pk__in=cards, status__in=WAITING)
    for card in waiting.order_by("pk").select_for_update():
        members = list(card.members.select_related("memory"))
        turned = [
            m
            for m in members
            if m.is_reworded
            and m.memory.state(now) == State.ACTIVE
            and read.get(m.memory_id) == m.memory.revision
        ]
        if not turned:
            continue
        placement = placed.get(card.id)
        found = placement.lineages if placement else ()
        before = _before(members)
        gone = [
            m
            for m in turned
            if str(m.lineage) not in found
            and not known.says_the_same(before[m.pk], m.memory.content)
        ]
        known.demand_known()
        for member in turned:
            member.is_reworded, member.revision = False, member.memory.revision
        ConflictMember.objects.bulk_update(turned, ["is_reworded", "revision"])
        if gone and card.detected_by == ["rules"] and not _go_on(card, gone, known, now=now):
            continue
        _ask(card, placement, known, now=now)


def _before(members: Sequence[ConflictMember]) -> dict[int, str]:
    """Return what each member said when the card was last asked; a successor, what it replaced."""
    said = wordings(list(members))
    replaced = {m.memory.superseded_by_id: said[m.pk] for m in members}
    return {m.pk: replaced.get(m.memory_id, said[m.pk]) for m in members}


def _go_on(
    card: Conflict, gone: Sequence[ConflictMember], known: Comparisons, *, now: datetime
) -> bool:
    """Take members out of a card that others of it disagree on still; else close it, and say so."""
    rest = [m for m in live_members(card, now) if m not in gone]
    disagree = [
        known.relation(a.memory.content, b.memory.content) == "contradicts"
        for a, b in combinations(rest, 2)
    ]
    known.demand_known()
    if any(disagree):
        left = {m.lineage for m in rest}
        lineages = [m.lineage for m in gone if m.lineage not in left]
        of_them = Q(lineage_low__in=lineages) | Q(lineage_high__in=lineages)
        ConflictPair.objects.filter(of_them, conflict=card).delete()
        card.members.filter(lineage__in=lineages).delete()
        return True
    lapse(card, LapseReason.REWORDED, now=now)
    card.pairs.all().delete()
    if len(rest) > 1:  # what the rules find in them without the one that said so, they ask
        note_written(Memory, memory_ids=[m.memory_id for m in rest], now=now)
    return False


def _ask(card: Conflict, placement: Placement | None, known: Comparisons, *, now: datetime) -> None:
    """Ask what was found, where it is about all live members; else from what they say."""
    live = {str(m.memory_id) for m in live_members(card, now)}
    if placement is not None and set(placement.finding.fact_ids) >= live:
        ask_finding(card, placement.finding)
        save_question(card, now=now)
    else:
        ask_anew(card, now=now, known=known)
