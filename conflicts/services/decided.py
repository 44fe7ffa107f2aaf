"""What people have decided already, as the rules of identity want it."""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import Q

from conflicts.core.identity import DecidedPair
from conflicts.models import ConflictMember, ConflictPair, Decision
from conflicts.models.card import ConflictStatus
from memories.models import Revision


def decided_pairs(lineages: Iterable[str]) -> list[DecidedPair]:
    """Return the decided pairs that touch one of the lineages, oldest verdict first.

    The claims are the wordings at the time of the verdict, looked up by revision: a card keeps no
    copy of any text.
    """
    wanted = list(lineages)
    pairs = list(
        ConflictPair.objects.filter(
            Q(lineage_low__in=wanted) | Q(lineage_high__in=wanted),
            conflict__status__in=[ConflictStatus.RESOLVED, ConflictStatus.DISMISSED],
        ).order_by("pk")
    )
    cards = {pair.conflict_id for pair in pairs}
    decisions = {
        decision.conflict_id: decision
        for decision in Decision.objects.filter(conflict__in=cards, undone_at=None)
    }
    members = list(ConflictMember.objects.filter(conflict__in=cards).select_related("memory"))
    said = wordings(members)
    found = []
    for pair in pairs:
        decision = decisions.get(pair.conflict_id)
        if decision is None:
            continue
        ends = {pair.lineage_low, pair.lineage_high}
        own = [m for m in members if m.conflict_id == pair.conflict_id and m.lineage in ends]
        lost = {e["memory"] for e in decision.effects if e["before"] != e["after"]}
        claims = {str(m.lineage): said[m.pk] for m in own}
        rejected = frozenset(str(m.lineage) for m in own if str(m.memory_id) in lost)
        found.append((decision.decided_at, DecidedPair(str(pair.conflict_id), claims, rejected)))
    return [pair for _, pair in sorted(found, key=lambda row: row[0])]


def wordings(members: list[ConflictMember]) -> dict[int, str]:
    """Return the wording that each member had when the card was asked or decided."""
    changed = [m for m in members if m.memory.revision != m.revision]
    kept = {
        (row.memory_id, row.number): row.content
        for row in Revision.objects.filter(memory__in=[m.memory_id for m in changed])
    }
    return {m.pk: kept.get((m.memory_id, m.revision), m.memory.content) for m in members}
