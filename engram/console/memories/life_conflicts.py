"""What happened to the conflicts of a memory that no event of the memory itself tells."""

from __future__ import annotations

from typing import Final

from django.db.models import Q, QuerySet

from conflicts.models import ConflictMember
from conflicts.models.card import ConflictStatus
from conflicts.services.cards.naming import DECIDED
from engram.kernel.models import Event
from memories.models import Memory

CARDS_OF_LIFE: Final = 500  # the newest conflicts of a memory whose events its life has
REOPENED: Final = "conflict.reopened"


def events_of_conflicts(memory: Memory) -> QuerySet[Event]:
    """Return how conflicts of a memory were closed without a change to it, and opened again.

    That is dismissed, or closed by itself; other verdicts are events of the memory. A snooze and
    its end are left out: the question stays as it is.
    """
    members = ConflictMember.objects.filter(memory=memory).order_by("-pk")
    cards = [str(pk) for pk in members.values_list("conflict", flat=True)[:CARDS_OF_LIFE]]
    closed = Q(data__status=ConflictStatus.DISMISSED) | Q(data__lapsed=True)
    reopened = Q(data__has_key="verdict") | Q(data__revived=True)
    told = Q(type=DECIDED) & closed | Q(type=REOPENED) & reopened
    return Event.objects.filter(told, object_id__in=cards)
