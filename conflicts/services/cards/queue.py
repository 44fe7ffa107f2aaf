"""Query the cards: filtered, by urgency, with the position of a card in the queue."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Case, Count, IntegerField, Q, QuerySet, Value, When

from conflicts.models import Conflict, ConflictMember
from conflicts.models.card import ConflictStatus, Severity
from memories.models import Memory
from memories.models.memory import in_scope

ALL = "all"
URGENCY = {Severity.HIGH: 0, Severity.MEDIUM: 1, Severity.LOW: 2}


@dataclass(frozen=True, slots=True)
class CardFilter:
    """Filters of cards; empty means any."""

    status: str = ConflictStatus.OPEN
    kind: str = ""
    severity: str = ""
    rule: str = ""
    scope: str = ""
    text: str = ""
    assignee_id: int | None = None


@dataclass(frozen=True, slots=True)
class QueuePosition:
    """A card's position in the queue, from 1, and its neighbours."""

    total: int
    position: int
    previous_id: UUID | None
    next_id: UUID | None


def cards(wanted: CardFilter) -> QuerySet[Conflict]:
    """Return the matching cards, the most urgent first, then the oldest."""
    found = Conflict.objects.all()
    if wanted.status != ALL:
        found = found.filter(status=wanted.status)
    if wanted.kind:
        found = found.filter(kind=wanted.kind)
    if wanted.severity:
        found = found.filter(severity=wanted.severity)
    if wanted.rule:
        found = found.filter(found_by_rule(wanted.rule))
    if wanted.assignee_id is not None:
        found = found.filter(assignee_id=wanted.assignee_id)
    if wanted.scope:
        inside = Memory.objects.filter(in_scope(wanted.scope.strip("/")))
        found = found.filter(pk__in=_with(inside))
    if wanted.text:
        with_forgotten = _with(Memory.objects.exclude(forgotten_at=None))
        matching = Memory.objects.filter(forgotten_at=None, content__icontains=wanted.text)
        in_question = Q(question__icontains=wanted.text) & ~Q(pk__in=with_forgotten)
        found = found.filter(in_question | Q(pk__in=_with(matching)))
    return found.annotate(
        urgency=Case(
            *(When(severity=severity, then=Value(rank)) for severity, rank in URGENCY.items()),
            default=Value(len(URGENCY)),
            output_field=IntegerField(),
        )
    ).order_by("urgency", "created_at", "pk")


def found_by_rule(rule_id: str) -> Q:
    """Return the condition that a rule opened a card, or found it later."""
    return Q(rule=rule_id) | Q(further_rules__contains=[rule_id])


def _with(memories: QuerySet[Memory]) -> Any:
    """Return the ids of the cards with one of the memories, as a sub-select."""
    return ConflictMember.objects.filter(memory__in=memories).values("conflict_id")


def standing_of(card: Conflict) -> str:
    """Return "" for an open card, which has a position; else what is said instead of one."""
    named = {ConflictStatus.OPEN: "", ConflictStatus.SNOOZED: "snoozed"}
    return named.get(ConflictStatus(card.status), "decided")


def position_of(queue: QuerySet[Conflict], card: Conflict) -> QueuePosition:
    """Return a card's position in the queue, or where it would be after it has left the queue."""
    rank = URGENCY.get(Severity(card.severity), len(URGENCY))
    same = Q(urgency=rank)
    before = (
        Q(urgency__lt=rank)
        | (same & Q(created_at__lt=card.created_at))
        | (same & Q(created_at=card.created_at, pk__lt=card.pk))
    )
    after = (
        Q(urgency__gt=rank)
        | (same & Q(created_at__gt=card.created_at))
        | (same & Q(created_at=card.created_at, pk__gt=card.pk))
    )
    counted = queue.order_by().aggregate(total=Count("pk"), before=Count("pk", filter=before))
    return QueuePosition(
        total=counted["total"],
        position=counted["before"] + 1,
        previous_id=queue.filter(before).reverse().values_list("pk", flat=True).first(),
        next_id=queue.filter(after).values_list("pk", flat=True).first(),
    )


def counts() -> dict[str, int]:
    """Return the number of cards by status, in one query."""
    found = dict.fromkeys(ConflictStatus.values, 0)
    rows = Conflict.objects.order_by().values_list("status").annotate(n=Count("pk"))
    found.update(dict(rows))
    return found


def withheld(card_ids: Collection[UUID]) -> frozenset[UUID]:
    """Return the ids of the cards with a forgotten member, which the question may quote."""
    members = ConflictMember.objects.filter(conflict__in=card_ids)
    forgotten = members.exclude(memory__forgotten_at=None)
    return frozenset(forgotten.values_list("conflict_id", flat=True))
