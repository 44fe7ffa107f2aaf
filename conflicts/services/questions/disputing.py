"""Find the waiting cards that ask which answer to a question holds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from datetime import datetime
from uuid import UUID

from django.db.models import Count, F, Q, QuerySet

from conflicts.models import ConflictMember
from conflicts.models.card import WAITING
from memories.models import MemoryAnswer
from memories.services.index.given_answers import given_answers, readable_at


def disputing_cards(
    groups: Collection[UUID] | None = None, *, now: datetime, as_of: datetime | None = None
) -> dict[UUID, list[UUID]]:
    """Return the waiting cards of disputed questions, by group; of all questions without `groups`.

    A card is about the questions that two of its members answer; if there is none, about all
    that a member answers. With `as_of`, the cards that waited then, of questions that a member
    answered then.
    """
    cards = ConflictMember.objects.filter(_waiting(as_of))
    if groups is not None:
        asked = MemoryAnswer.objects.filter(question_group__in=list(groups))
        own = cards.filter(memory__in=asked.values("memory"))
        cards = cards.filter(conflict__in=own.values("conflict"))
    counted = (
        cards.filter(memory__in=readable_at(now, as_of).order_by())
        .exclude(memory__answers=None)
        .order_by()
        .values(card=F("conflict_id"), group=F("memory__answers__question_group"))
        .annotate(members=Count("memory_id", distinct=True))
    )
    members = {(row["card"], row["group"]): row["members"] for row in counted}
    told = set(members) if as_of is None else _told(cards, now, as_of)
    shared = {card for (card, _), count in members.items() if count > 1}
    found: dict[UUID, list[UUID]] = defaultdict(list)
    for (card, group), count in sorted(members.items()):
        is_about = count > 1 or card not in shared
        if is_about and (card, group) in told and (groups is None or group in groups):
            found[group].append(card)
    return dict(found)


def _told(
    cards: QuerySet[ConflictMember], now: datetime, as_of: datetime
) -> set[tuple[UUID, UUID]]:
    """Return the cards of these members with the questions that the members answered then."""
    given = cards.filter(memory__answers__in=given_answers(now, as_of)).order_by()
    return set(given.values_list("conflict_id", "memory__answers__question_group"))


def _waiting(as_of: datetime | None) -> Q:
    """Return the condition that a member's card waits for an answer, or waited at `as_of`."""
    waits = Q(conflict__status__in=WAITING)
    if as_of is None:
        return waits
    decided = Q(conflict__decisions__undone_at=None, conflict__decisions__decided_at__gt=as_of)
    lapsed = Q(conflict__is_lapsed=True, conflict__updated_at__gt=as_of)
    return Q(conflict__created_at__lte=as_of) & (waits | decided | lapsed)
