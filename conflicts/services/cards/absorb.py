"""Merge smaller cards into a card that has all of their members."""

from __future__ import annotations

from datetime import datetime

from conflicts.models import Conflict, ConflictComment, ConflictMember, ConflictPair, Judgement
from conflicts.models.card import WAITING, LapseReason
from conflicts.services.cards.finders import further_rules
from conflicts.services.cards.lapse import lapse


def absorb(card: Conflict, *, now: datetime) -> None:
    """Close the waiting cards whose members are all members of this card.

    So contradictions that were reported pair by pair become one question. Pairs, comments and
    agents' judgements move to this card; the closed cards lapse.
    """
    held = set(card.members.values_list("lineage", flat=True))
    theirs = ConflictMember.objects.filter(lineage__in=held).exclude(conflict=card)
    near = Conflict.objects.filter(status__in=WAITING, pk__in=theirs.values("conflict_id"))
    for smaller in near.order_by("pk").select_for_update():
        if not set(smaller.members.values_list("lineage", flat=True)) <= held:
            continue
        ConflictPair.objects.filter(conflict=smaller).update(conflict=card)
        ConflictComment.objects.filter(conflict=smaller).update(conflict=card)
        Judgement.objects.filter(conflict=smaller).update(conflict=card)
        card.detected_by = list(dict.fromkeys([*card.detected_by, *smaller.detected_by]))
        card.further_rules = further_rules(card, smaller.rules)
        card.confidence = max(card.confidence, smaller.confidence)
        card.save(update_fields=["detected_by", "further_rules", "confidence"])
        lapse(smaller, LapseReason.ABSORBED, now=now, by=card.id)
