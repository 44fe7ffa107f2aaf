"""Conflicts in the inbox: the card of the triage page, with its own forms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import F, QuerySet
from django.http import HttpRequest

from conflicts.models import Conflict
from conflicts.models.card import ConflictStatus
from conflicts.pages import card_context
from conflicts.services.cards import queue, show
from conflicts.services.cards.naming import WITHHELD, name_cards
from conflicts.services.cards.snooze import wake
from conflicts.services.verdicts.undo import undo
from engram.console.inbox.source import Done, InboxFilter, Source
from engram.kernel.actors import Actor
from engram.kernel.models import Workspace


class ConflictSource(Source):
    """Questions about memories that disagree."""

    name = "conflicts"
    noun = "conflict"
    icon = "conflicts"
    place = 0
    template = "conflicts/_card.html"
    teaches = "Two memories cannot both be true: say which one holds."
    announced_by = ("conflict.opened", "conflict.reopened")
    settled_by = ("conflict.resolved", "conflict.snoozed")
    has_own_snooze = True

    def rows(self) -> QuerySet[Any]:
        """Return all cards."""
        return self._annotate(queue.CardFilter(status=queue.ALL))

    def waiting(self, wanted: InboxFilter, now: datetime) -> QuerySet[Any]:
        """Return the open cards that match the filter."""
        return self._annotate(
            queue.CardFilter(
                severity=wanted.severity,
                scope=wanted.scope,
                text=wanted.text,
                assignee_id=wanted.assignee_id,
            )
        )

    def _annotate(self, wanted: queue.CardFilter) -> QuerySet[Any]:
        return queue.cards(wanted).annotate(since=F("created_at")).select_related("assignee")

    def titles(self, rows: Sequence[Any]) -> Mapping[UUID, tuple[str, str]]:
        """Return the questions, without those that quote forgotten memories."""
        unsayable = queue.withheld([card.pk for card in rows])
        return {
            card.pk: (card.kind, WITHHELD if card.pk in unsayable else card.question)
            for card in rows
        }

    def short_titles(self, ids: Sequence[UUID]) -> Mapping[UUID, str]:
        """Return the headings of cards: "Stand-up at 9:30 or 10:00?"."""
        named = name_cards(Conflict.objects.filter(pk__in=ids))
        return {pk: names.heading for pk, names in named.items()}

    def context(self, request: HttpRequest, row: Any, now: datetime) -> dict[str, Any]:
        """Return the card as the triage page shows it."""
        return card_context(request, row)

    def standing(self, row: Any, *, is_open: bool) -> str:
        """Return "" for an open card, else "snoozed" or "decided"."""
        return queue.standing_of(row)

    def find_decision(self, item_id: UUID, now: datetime) -> Done | None:
        """Return the decision in force, or the end of the card's snooze."""
        card = Conflict.objects.filter(pk=item_id).first()
        if card is None:
            return None
        if card.status == ConflictStatus.SNOOZED and card.snoozed_until:
            return Done(
                f"Snoozed until {show.local_time(card.snoozed_until)}.", "The question waits again."
            )
        words = show.describe_decision(card)
        if not words:
            return None
        by = card.decisions.values_list("decided_by", flat=True).get(undone_at=None)
        return Done(words, "Every memory returns to what it was, and it is asked again.", by)

    def undo(self, workspace: Workspace, item_id: UUID, *, actor: Actor, now: datetime) -> None:
        """Undo the decision in force, or end a snooze."""
        is_snoozed = Conflict.objects.filter(pk=item_id, status=ConflictStatus.SNOOZED).exists()
        (wake if is_snoozed else undo)(workspace, item_id, actor=actor, now=now)
