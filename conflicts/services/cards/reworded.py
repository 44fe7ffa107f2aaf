"""What becomes of cards whose members say something else: asked anew at once, then read again.

While the memory is changed nothing is compared, because other writers wait: the card asks about the
new words, and its member is marked. The detective reads the words next and settles what the card
asks, or closes it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Q

from conflicts.core.comparisons import Comparisons
from conflicts.core.identity import Placement
from conflicts.core.rules.reported import BY_AGENTS
from conflicts.models import Conflict, ConflictMember, ConflictPair, JudgedRelation
from conflicts.models.card import WAITING, LapseReason
from conflicts.services.cards.decided import wordings
from conflicts.services.cards.lapse import lapse, lock_cards
from conflicts.services.cards.question import ask_anew, ask_finding, live_members, save_question
from conflicts.services.due import note_written
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
    for card in lock_cards(Q(status__in=WAITING), stood_before) if stood_before else ():
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

    Whoever found a card judged the words of that time. A member stays when it makes the same claim
    in other words, when a finding with it was `placed` on the card, or when it contradicts another
    member. Else it is taken out, and only a new finding or report brings it back; a card without
    a question closes.
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
        gone = _gone(turned, members, placement, known, now=now)
        known.demand_known()
        for member in turned:
            member.is_reworded, member.revision = False, member.memory.revision
        ConflictMember.objects.bulk_update(turned, ["is_reworded", "revision"])
        if gone and not _go_on(card, gone, known, now=now):
            continue
        _ask(card, placement, known, now=now)


def _gone(
    turned: Sequence[ConflictMember],
    members: Sequence[ConflictMember],
    placement: Placement | None,
    known: Comparisons,
    *,
    now: datetime,
) -> list[ConflictMember]:
    """Return the reworded members that claim something else by now and contradict no member."""
    found = placement.lineages if placement else ()
    before = _before(members)
    live = [m for m in members if m.memory.state(now) == State.ACTIVE]
    changed = [
        m
        for m in turned
        if str(m.lineage) not in found and not known.says_the_same(before[m.pk], m.memory.content)
    ]
    return [m for m in changed if not _disagrees(m, live, known)]


def _disagrees(
    member: ConflictMember, others: Sequence[ConflictMember], known: Comparisons
) -> bool:
    """Tell whether a member contradicts one of the others by the rules."""
    # All are asked, so that what is not known yet is compared at once.
    found = [
        known.relation(other.memory.content, member.memory.content) == "contradicts"
        for other in others
        if other.lineage != member.lineage
    ]
    return any(found)


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
    if _have_a_question(card, rest, known):
        left = {m.lineage for m in rest}
        _take_out(card, [m.lineage for m in gone if m.lineage not in left])
        return True
    lapse(card, LapseReason.REWORDED, now=now)
    card.pairs.all().delete()
    if len(rest) > 1:  # what the rules find in them without the one that said so, they ask
        note_written(Memory, memory_ids=[m.memory_id for m in rest], now=now)
    return False


def _have_a_question(card: Conflict, rest: Sequence[ConflictMember], known: Comparisons) -> bool:
    """Tell whether members disagree: by the rules, or as whoever found the card has said."""
    found = [_disagrees(member, rest[i + 1 :], known) for i, member in enumerate(rest)]
    known.demand_known()
    if any(found):
        return True
    if card.detected_by == ["rules"]:
        return False
    if len({member.says_yes for member in rest}) == 2:  # both sides of the question are left
        return True
    memories = [member.memory_id for member in rest]
    return card.judgements.filter(
        relation=JudgedRelation.CONTRADICTS, memory__in=memories, other__in=memories
    ).exists()


def _take_out(card: Conflict, lineages: Sequence[UUID]) -> None:
    """Take lineages out of a locked card, and what was said of their former words with them."""
    of_them = Q(lineage_low__in=lineages) | Q(lineage_high__in=lineages)
    ConflictPair.objects.filter(of_them, conflict=card).delete()
    about = Q(memory__lineage__in=lineages) | Q(other__lineage__in=lineages)
    card.judgements.filter(about).update(conflict=None)
    card.members.filter(lineage__in=lineages).delete()
    finders = [kind for kind in card.detected_by if kind != "agent"]
    if finders and not card.judgements.exists():
        card.detected_by = finders
        card.further_rules = [rule for rule in card.further_rules if rule not in BY_AGENTS]
        card.save(update_fields=["detected_by", "further_rules"])


def _ask(card: Conflict, placement: Placement | None, known: Comparisons, *, now: datetime) -> None:
    """Ask what was found, where it is about all live members; else from what they say."""
    live = {str(m.memory_id) for m in live_members(card, now)}
    if placement is not None and set(placement.finding.fact_ids) >= live:
        ask_finding(card, placement.finding)
        save_question(card, now=now)
    else:
        ask_anew(card, now=now, known=known)
