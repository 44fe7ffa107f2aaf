"""Read the pairs that people have decided, in the form that placing findings needs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from uuid import UUID

from django.db.models import Q

from conflicts.core.identity import DecidedPair
from conflicts.models import ConflictMember, ConflictPair, Decision
from conflicts.models.card import ConflictStatus
from conflicts.services.cards.answered_anew import pairs_answered_anew
from conflicts.services.cards.former import read_former
from memories.models import Memory

DECIDED = (ConflictStatus.RESOLVED, ConflictStatus.DISMISSED)


def decided_pairs(lineages: Iterable[str]) -> list[DecidedPair]:
    """Return the decided pairs with one of the lineages, oldest verdict first.

    A person's own answer forms a pair with each memory that it replaced. The claims are the texts
    at the time of the verdict, read by revision, because a card stores no copy of any text.
    """
    wanted = list(lineages)
    pairs = ConflictPair.objects.filter(
        Q(lineage_low__in=wanted) | Q(lineage_high__in=wanted), conflict__status__in=DECIDED
    ).order_by("pk")
    ends_of: dict[UUID, list[tuple[UUID, UUID]]] = {}
    for row in pairs:
        ends_of.setdefault(row.conflict_id, []).append((row.lineage_low, row.lineage_high))
    versions = list(Memory.objects.filter(lineage__in=wanted).values_list("pk", flat=True))
    current = Decision.objects.filter(
        Q(conflict__in=list(ends_of)) | Q(answer__in=versions), undone_at=None
    )
    decisions = list(current.select_related("answer").order_by("decided_at", "pk"))
    of_them = {decision.conflict_id for decision in decisions}
    members = list(ConflictMember.objects.filter(conflict__in=of_them).select_related("memory"))
    texts = wordings(members)
    anew = pairs_answered_anew(members)
    found: list[DecidedPair] = []
    for decision in decisions:
        own = [m for m in members if m.conflict_id == decision.conflict_id]
        lost = {e["memory"] for e in decision.effects if e["before"] != e["after"]}
        rejected = {str(m.lineage) for m in own if str(m.memory_id) in lost}
        claims = {str(m.lineage): texts[m.pk] for m in own}
        aside = {str(m.lineage) for m in own if str(m.memory_id) in decision.aside}
        ends = [
            (str(a), str(b))
            for a, b in ends_of.get(decision.conflict_id, ())
            if not {str(a), str(b)} <= aside  # nothing was decided about the two
        ]
        for pair in [*ends, *_by_answer(decision, claims, rejected)]:
            if claims.keys() >= set(pair):  # else a member was erased, with its text
                both = {lineage: claims[lineage] for lineage in pair}
                lost_of_pair = frozenset(rejected.intersection(pair))
                is_anew = (decision.conflict_id, frozenset(pair)) in anew
                found.append(
                    DecidedPair(
                        str(decision.conflict_id), both, lost_of_pair, answered_anew=is_anew
                    )
                )
    return found


def _by_answer(
    decision: Decision, claims: dict[str, str], rejected: set[str]
) -> Iterator[tuple[str, str]]:
    """Yield a person's answer paired with each memory it replaced; add its claim to `claims`."""
    answer = decision.answer
    if answer is None or str(answer.lineage) in claims:
        return
    claims[str(answer.lineage)] = answer.content
    for lineage in sorted(rejected):
        yield str(answer.lineage), lineage


def wordings(members: list[ConflictMember]) -> dict[int, str]:
    """Return by member the text it had when the card's question was made, or decided."""
    kept = read_former(members, "content")
    return {m.pk: kept.get((m.memory_id, m.revision), m.memory.content) for m in members}
