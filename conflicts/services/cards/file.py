"""File findings: each joins an open card, opens one, or is skipped because it was decided."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID

from django.db.models import Q

from conflicts.core.comparisons import Comparisons
from conflicts.core.facts import Finding
from conflicts.core.findings import split_by_subject
from conflicts.core.identity import OpenCard, Placement, place
from conflicts.core.subjects import LocatedText, note_of
from conflicts.models import Conflict, ConflictMember, ConflictPair
from conflicts.models.card import WAITING
from conflicts.services.cards.decided import decided_pairs
from conflicts.services.cards.finders import further_rules
from conflicts.services.cards.judged import replaced_pairs
from conflicts.services.cards.lapse import absorb
from conflicts.services.cards.question import (
    QUESTION_MAX_CHARS,
    number_members,
    save_question,
    set_question_from_finding,
)
from conflicts.services.cards.unlisted import count_unlisted
from conflicts.services.due import note_written
from engram.kernel.actors import SYSTEM, Actor
from engram.kernel.history import record
from engram.kernel.locks import one_at_a_time
from engram.kernel.tenancy import current_workspace_id
from memories.models import Memory
from memories.services.locks import lock

NARRATIVE = "narrative"  # found by a language model


@dataclass(slots=True)
class FilingResult:
    """Counts of a run's findings by result, with the cards and placements."""

    opened: int = 0
    joined: int = 0
    skipped: int = 0
    cards: list[UUID] = field(default_factory=list)
    placed: dict[UUID, Placement] = field(default_factory=dict)


def file_findings(
    findings: Sequence[Finding],
    known: Comparisons,
    *,
    detected_by: str,
    now: datetime,
    actor: Actor = SYSTEM,
    read: Mapping[UUID, int] | None = None,
    is_reported: bool = False,
    also_lock: Collection[UUID] = (),
) -> FilingResult:
    """File findings within the caller's transaction; idempotent.

    1. Lock filing in the workspace. 2. Lock the members: findings with a hidden memory are dropped,
    and memories that are not in the revision that was `read` are queued again. 3. Unless
    the memories were named by a caller (`is_reported`), skip pairs of which one replaces the other,
    and split findings about several subjects. 4. Place
    each finding by identity; a missing comparison rolls the transaction back
    (`with_comparisons`). 5. Write. Cards in `also_lock`, which the caller changes too, are locked
    in the same order.
    """
    filed = FilingResult()
    if not findings:
        return filed
    lock_filing()
    ids = {UUID(i) for finding in findings for i in finding.fact_ids}
    live = {str(m.id): m for m in lock(ids) if m.state(now) == "active"}
    if read is not None and (changed := _find_changed(live.values(), read)):
        live = {i: memory for i, memory in live.items() if memory.id not in changed}
        note_written(Memory, memory_ids=changed, now=now)
    current = [f for f in findings if all(i in live for i in f.fact_ids)]
    if not is_reported:
        current = _without_replaced(current, filed)
        current = [part for f in current for part in _of_one_subject(f, live, known, filed)]
    unlisted = _unlisted_lineages(current, now)
    current = [replace(f, unlisted=tuple(i for i in f.unlisted if i in unlisted)) for f in current]
    lineages = {str(memory.lineage) for memory in live.values()}
    open_cards, notes_of = _open_cards(lineages, also_lock)
    told = {i: answer for finding in current for i, answer in finding.answers}
    notes_of |= {
        str(memory.lineage): replace(note_of(memory), answer=told.get(i, ""))
        for i, memory in live.items()
    }
    placements = place(
        current,
        lineage_of=unlisted | {i: str(memory.lineage) for i, memory in live.items()},
        claim_of={str(memory.lineage): memory.content for memory in live.values()},
        open_cards=open_cards,
        decided=decided_pairs(lineages),
        same_claim=known.says_the_same,
        is_other=lambda a, b: known.are_of_other_subjects(notes_of[a], notes_of[b]),
        is_reported=is_reported,
    )
    known.demand_known()
    for placement in placements:
        _file(placement, live, known, filed, detected_by=detected_by, actor=actor, now=now)
    return filed


def _find_changed(memories: Iterable[Memory], read: Mapping[UUID, int]) -> list[UUID]:
    return sorted(m.id for m in memories if read.get(m.id, m.revision) != m.revision)


def lock_filing() -> None:
    """Lock a workspace's filing of findings; always the first lock of the transaction."""
    one_at_a_time(f"cards:{current_workspace_id()}")


def _of_one_subject(
    finding: Finding, live: Mapping[str, Memory], known: Comparisons, filed: FilingResult
) -> list[Finding]:
    """Split a finding by subject; subjects without a contradiction are dropped."""
    notes = {i: note_of(live[i]) for i in finding.fact_ids}
    parts = split_by_subject(finding, notes, known)
    filed.skipped += not parts
    return parts


def _without_replaced(findings: Sequence[Finding], filed: FilingResult) -> list[Finding]:
    """Return the findings but those about two memories of which one is said to replace the other.

    Both are live while a review waits, and when somebody restored the older one.
    """
    ids = {UUID(i) for finding in findings for i in finding.fact_ids}
    replaced = replaced_pairs(ids) if ids else set()
    kept = [f for f in findings if frozenset(map(UUID, f.fact_ids)) not in replaced]
    filed.skipped += len(findings) - len(kept)
    return kept


def _open_cards(
    lineages: Iterable[str], also_lock: Collection[UUID]
) -> tuple[list[OpenCard], dict[str, LocatedText]]:
    """Return the waiting cards with one of the lineages, and the notes of their members.

    The cards stay locked, so that no verdict or snooze happens in between.
    """
    wanted = {UUID(lineage) for lineage in lineages}
    members = ConflictMember.objects.filter(conflict__status__in=WAITING)
    own = members.filter(lineage__in=wanted).order_by()
    theirs = members.filter(conflict__in=own.values("conflict_id")).values("lineage")
    # A card that grows may absorb these too: all are locked now, in one order.
    near = members.filter(Q(lineage__in=wanted) | Q(lineage__in=theirs)).order_by()
    counting = Q(unlisted__overlap=sorted(wanted))
    named = Q(pk__in=near.values("conflict_id")) | Q(pk__in=also_lock) | counting
    waiting = Conflict.objects.filter(named, status__in=WAITING)
    locked = {card.pk: card.unlisted for card in waiting.order_by("pk").select_for_update()}
    touched = set(own.filter(conflict__in=locked).values_list("conflict_id", flat=True))
    touched |= {pk for pk, unlisted in locked.items() if not wanted.isdisjoint(unlisted)}
    covered: dict[str, set[str]] = {}
    notes: dict[str, LocatedText] = {}
    members = ConflictMember.objects.filter(conflict__in=touched)
    fields = ("memory__content", "memory__scope", "memory__project")
    for card, lineage, *note in members.values_list("conflict_id", "lineage", *fields):
        covered.setdefault(str(card), set()).add(str(lineage))
        notes[str(lineage)] = LocatedText(*note)
    cards = [
        OpenCard(card, frozenset(lines), frozenset(map(str, locked[UUID(card)])))
        for card, lines in sorted(covered.items())
    ]
    return cards, notes


def _unlisted_lineages(findings: Iterable[Finding], now: datetime) -> dict[str, str]:
    """Return the lineages of the live memories that findings count but do not list, by id."""
    ids = {UUID(i) for finding in findings for i in finding.unlisted}
    if not ids:
        return {}
    live = Memory.objects.recallable(now).filter(pk__in=ids).order_by()
    return {str(pk): str(lineage) for pk, lineage in live.values_list("pk", "lineage")}


def _file(
    placement: Placement,
    live: dict[str, Memory],
    known: Comparisons,
    filed: FilingResult,
    *,
    detected_by: str,
    actor: Actor,
    now: datetime,
) -> None:
    if placement.action == "skip":
        filed.skipped += 1
        return
    if placement.action == "join":
        card = Conflict.objects.get(pk=UUID(placement.card))
        is_new = False
    else:
        card = _open(placement, detected_by=detected_by, now=now)
        is_new = True
    is_wider = _add_members(card, placement, live, known, actor=actor, now=now)
    _cover(card, placement)
    count_unlisted(card, placement.unlisted)
    if is_wider:
        absorb(card, now=now)
    filed.cards.append(card.id)
    filed.placed[card.id] = placement
    if is_new:
        filed.opened += 1
        record(
            "conflict.opened",
            of=("conflict", card.id),
            actor=actor,
            now=now,
            data={"kind": card.kind, "severity": card.severity},
        )
    elif _join(card, placement.finding, detected_by, is_wider=is_wider, now=now):
        filed.joined += 1
        record("conflict.joined", of=("conflict", card.id), actor=actor, now=now)
    else:
        filed.skipped += 1


def _open(placement: Placement, *, detected_by: str, now: datetime) -> Conflict:
    finding = placement.finding
    return Conflict.objects.create(
        kind=finding.kind,
        question=finding.question[:QUESTION_MAX_CHARS],
        reasoning=finding.reasoning,
        model_reasoning=finding.reasoning if detected_by == NARRATIVE else "",
        severity=finding.severity,
        detected_by=[detected_by],
        rule=finding.rules[0],
        further_rules=list(finding.rules[1:]),
        confidence=finding.confidence,
        suggested_verdict=finding.suggestion or "",
        reopened_from_id=placement.reopened_from,
        decided_before_id=placement.decided_before,
        created_at=now,
        updated_at=now,
    )


def _add_members(
    card: Conflict,
    placement: Placement,
    live: dict[str, Memory],
    known: Comparisons,
    *,
    actor: Actor,
    now: datetime,
) -> bool:
    """Add the memories that are not members yet, and number all members by time."""
    members = {m.memory_id: m for m in card.members.select_related("memory")}
    by_lineage = {str(memory.lineage): memory for memory in live.values()}
    wanted = [by_lineage[lineage] for lineage in placement.lineages]
    added = [memory for memory in wanted if memory.id not in members]
    # The current question's claim: a joining memory is for yes only if it makes the same claim.
    for_yes = [m.memory.content for m in members.values() if m.says_yes]
    is_new = not members
    if is_new:
        for_yes = [live[i].content for i in placement.finding.yes_keeps]
    for memory in added:
        members[memory.id] = ConflictMember(
            conflict=card,
            memory=memory,
            lineage=memory.lineage,
            revision=memory.revision,
            says_yes=_says_yes(memory, placement.finding if is_new else None, for_yes, known),
        )
        record(
            "memory.disputed",
            of=("memory", memory.id),
            actor=actor,
            now=now,
            data={"conflict": str(card.id)},
        )
    if added:
        number_members(list(members.values()))
    return bool(added)


def _says_yes(
    memory: Memory, opening: Finding | None, for_yes: Sequence[str], known: Comparisons
) -> bool:
    """Return whether a memory is for yes; the finding that opens a card names those that are."""
    if opening is not None and str(memory.id) in opening.fact_ids:
        return str(memory.id) in opening.yes_keeps
    return any(known.match_claim(memory.content, for_yes))


def _cover(card: Conflict, placement: Placement) -> None:
    """Assign the placement's pairs to the card; decided pairs move to it from their old card."""
    pairs = []
    for pair in placement.pairs:
        low, high = sorted(UUID(lineage) for lineage in pair)
        pairs.append(ConflictPair(conflict=card, lineage_low=low, lineage_high=high))
    ConflictPair.objects.bulk_create(
        pairs,
        update_conflicts=True,
        unique_fields=["workspace", "lineage_low", "lineage_high"],
        update_fields=["conflict"],
    )


def _join(
    card: Conflict, finding: Finding, detected_by: str, *, is_wider: bool, now: datetime
) -> bool:
    """Add the finder and rules of a finding to a card, and its question when the card has grown.

    Return False when finders and members are unchanged: another rule alone makes no new version.
    """
    is_new_finder = detected_by not in card.detected_by
    card.further_rules = further_rules(card, finding.rules)
    if not (is_wider or is_new_finder):
        card.save(update_fields=["further_rules"])
        return False
    if is_new_finder:
        card.detected_by = [*card.detected_by, detected_by]
    if detected_by == NARRATIVE:
        card.model_reasoning = finding.reasoning
    held = set(ConflictMember.objects.filter(conflict=card).values_list("memory_id", flat=True))
    if is_wider and {UUID(i) for i in finding.fact_ids} == held:
        set_question_from_finding(card, finding)
    save_question(card, "detected_by", "further_rules", "model_reasoning", now=now)
    return True
