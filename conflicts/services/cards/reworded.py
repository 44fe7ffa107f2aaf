"""Update cards whose members were reworded: a new question at once, settled by the next run.

In the transaction that changes the memory nothing is compared, because other writers wait: the
question is rebuilt from the new text, and the member is marked. The next detection run settles the
question, or closes the card.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Q

from conflicts.core.comparisons import Comparisons
from conflicts.core.identity import Placement
from conflicts.core.rules.registry import BY_ANSWERS
from conflicts.core.rules.reported import BY_AGENTS
from conflicts.models import Conflict, ConflictMember, ConflictPair, JudgedRelation
from conflicts.models.card import WAITING, LapseReason
from conflicts.services.cards.decided import wordings
from conflicts.services.cards.lapse import lapse
from conflicts.services.cards.locks import lock_cards
from conflicts.services.cards.question import (
    live_members,
    rebuild_question,
    save_question,
    set_question_from_finding,
)
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
    """Rebuild the questions of cards with reworded members; new memories are on no card yet."""
    existing = [memory_id for memory_id in memory_ids if memory_id not in created]
    for card in lock_cards(Q(status__in=WAITING), existing) if existing else ():
        members = list(card.members.select_related("memory"))
        before = wordings(members)
        changed = [
            m
            for m in members
            if before[m.pk] != m.memory.content
            or (m.memory_id in existing and (m.is_reworded or _may_answer_anew(card, m)))
        ]
        for member in changed:
            member.is_reworded = True  # `revision` stays that of the question until it is read
        ConflictMember.objects.bulk_update(changed, ["is_reworded"])
        if changed:
            rebuild_question(card, now=now)


def _may_answer_anew(card: Conflict, member: ConflictMember) -> bool:
    """Return whether a card rests on answers, and its member was changed since."""
    return _is_by_answers(card) and member.memory.revision != member.revision


def _is_by_answers(card: Conflict) -> bool:
    return BY_ANSWERS.issuperset({card.rule, *card.further_rules})


def cards_with_reworded_members(read: Collection[UUID]) -> list[UUID]:
    """Return the ids of the waiting cards with a reworded member among the read memories."""
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
    """Settle the questions of cards whose reworded members the rules have read.

    `read` are the revisions that were read. A reworded member stays when it makes the same claim in
    other words (on a card that answers opened: when they still contradict), when a finding with it
    was `placed` on the card, or when it contradicts another member. Otherwise it is removed, and
    only a new finding or report adds it again; a card without a contradiction is closed.
    """
    waiting = Conflict.objects.filter(pk__in=cards, status__in=WAITING)
    for card in waiting.order_by("pk").select_for_update():
        members = list(card.members.select_related("memory"))
        reworded = [
            m
            for m in members
            if m.is_reworded
            and m.memory.state(now) == State.ACTIVE
            and read.get(m.memory_id) == m.memory.revision
        ]
        if not reworded:
            continue
        placement = placed.get(card.id)
        leaving = _find_leaving(card, reworded, members, placement, known, now=now)
        known.demand_known()
        for member in reworded:
            member.is_reworded, member.revision = False, member.memory.revision
        ConflictMember.objects.bulk_update(reworded, ["is_reworded", "revision"])
        if leaving and not _remove_or_close(card, leaving, known, now=now):
            continue
        _set_question(card, placement, known, now=now)


def _find_leaving(
    card: Conflict,
    reworded: Sequence[ConflictMember],
    members: Sequence[ConflictMember],
    placement: Placement | None,
    known: Comparisons,
    *,
    now: datetime,
) -> list[ConflictMember]:
    """Return the reworded members that make another claim now and contradict no member."""
    found = placement.lineages if placement else ()
    before = _former_texts(members)
    live = [m for m in members if m.memory.state(now) == State.ACTIVE]
    changed = [
        m
        for m in reworded
        if str(m.lineage) not in found
        and (_is_by_answers(card) or not known.says_the_same(before[m.pk], m.memory.content))
    ]
    return [m for m in changed if not _disagrees(m, live, known)]


def _disagrees(
    member: ConflictMember, others: Sequence[ConflictMember], known: Comparisons
) -> bool:
    """Return whether a member contradicts one of the others by the rules."""
    # All pairs are looked up, so that the missing ones are compared together.
    found = [
        known.relation(other.memory.content, member.memory.content) == "contradicts"
        for other in others
        if other.lineage != member.lineage
    ]
    return any(found)


def _former_texts(members: Sequence[ConflictMember]) -> dict[int, str]:
    """Return each member's text when the question was made; of a successor, what it replaced."""
    texts = wordings(list(members))
    replaced = {m.memory.superseded_by_id: texts[m.pk] for m in members}
    return {m.pk: replaced.get(m.memory_id, texts[m.pk]) for m in members}


def _remove_or_close(
    card: Conflict, leaving: Sequence[ConflictMember], known: Comparisons, *, now: datetime
) -> bool:
    """Remove members when the others still disagree and return True; else close the card."""
    rest = [m for m in live_members(card, now) if m not in leaving]
    if _have_a_question(card, rest, known):
        left = {m.lineage for m in rest}
        _remove_lineages(card, [m.lineage for m in leaving if m.lineage not in left])
        return True
    lapse(card, LapseReason.REWORDED, now=now)
    card.pairs.all().delete()
    if len(rest) > 1:  # the rules may find another contradiction among them
        note_written(Memory, memory_ids=[m.memory_id for m in rest], now=now)
    return False


def _have_a_question(card: Conflict, rest: Sequence[ConflictMember], known: Comparisons) -> bool:
    """Return whether members disagree, by the rules or by the finders of the card."""
    found = [_disagrees(member, rest[i + 1 :], known) for i, member in enumerate(rest)]
    known.demand_known()
    if any(found):
        return True
    if card.detected_by == ["rules"]:
        return False
    if len({member.says_yes for member in rest}) == 2:  # both sides have a member
        return True
    memories = [member.memory_id for member in rest]
    return card.judgements.filter(
        relation=JudgedRelation.CONTRADICTS, memory__in=memories, other__in=memories
    ).exists()


def _remove_lineages(card: Conflict, lineages: Sequence[UUID]) -> None:
    """Remove lineages from a locked card, with the judgements of their former texts."""
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


def _set_question(
    card: Conflict, placement: Placement | None, known: Comparisons, *, now: datetime
) -> None:
    """Set the question from the finding, if it has all live members; else from their texts."""
    live = {str(m.memory_id) for m in live_members(card, now)}
    if placement is not None and set(placement.finding.fact_ids) >= live:
        set_question_from_finding(card, placement.finding)
        card.model_reasoning = ""  # it was about the former text
        save_question(card, "model_reasoning", now=now)
    else:
        rebuild_question(card, now=now, known=known)
