"""What a list says of cards: heading, verdict, who and when; the same queries for any number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from conflicts.models import Conflict, Decision
from conflicts.models.card import WAITING, ConflictStatus
from conflicts.models.decision import Verdict
from conflicts.services.cards.naming import CardNames, name_cards, winner_of
from conflicts.services.cards.show import closing_reason
from conflicts.services.cards.snooze import snoozers

OUTCOMES = {
    Verdict.KEEP: "some kept",
    Verdict.BOTH_VALID: "all valid",
    Verdict.NONE_VALID: "none valid",
    Verdict.DISMISS: "not a conflict",
}


@dataclass(frozen=True, slots=True)
class ListedCard:
    """A card in a list: its heading, and what holds since the decision, or why it is closed."""

    card: Conflict
    heading: str
    decision: Decision | None
    outcome: str  # the value that holds, or the verdict where no side won; "" while it waits
    is_value: bool
    names: CardNames
    snoozed_by: str  # "" unless it is snoozed

    @property
    def is_snoozed(self) -> bool:
        """Return whether it waits until a time."""
        return self.card.status == ConflictStatus.SNOOZED

    @property
    def may_be_undone(self) -> bool:
        """Return whether a person closed or snoozed it."""
        return self.card.status != ConflictStatus.OPEN and not self.card.is_lapsed

    @property
    def is_waiting(self) -> bool:
        """Return whether a verdict can be given."""
        return self.card.status in WAITING


def listed(cards: Sequence[Conflict]) -> list[ListedCard]:
    """Return cards of the current workspace as a list shows them, in the same order."""
    names = name_cards(cards)
    found = Decision.objects.filter(conflict__in=list(names), undone_at=None)
    decisions = {decision.conflict_id: decision for decision in found.select_related("answer")}
    by = snoozers([card for card in cards if card.status == ConflictStatus.SNOOZED])
    return [
        _list_one(card, names[card.pk], decisions.get(card.pk), by.get(card.pk, ""))
        for card in cards
    ]


def _list_one(
    card: Conflict, names: CardNames, decision: Decision | None, snoozed_by: str
) -> ListedCard:
    winner = winner_of(decision, names)
    outcome = winner
    if not winner and decision is not None:
        outcome = OUTCOMES.get(Verdict(decision.verdict), str(decision.get_verdict_display()))
    return ListedCard(
        card,
        names.heading,
        decision,
        outcome or closing_reason(card),
        is_value=bool(winner),
        names=names,
        snoozed_by=snoozed_by,
    )
