"""Both sides name another agent of a verb that has one: who owns, decides or pays."""

from __future__ import annotations

from collections.abc import Sequence

from memories.core.cases import Case, CaseReading, contradicts, different, is_agent_slot, names
from memories.core.claim_types import Term


def find(case: Case) -> CaseReading | None:
    """Find different agents of a verb with one agent: who owns, decides or pays."""
    if not is_agent_slot(case) or case.parity_differs or case.is_additive:
        return None
    left, right = (_in_subject(terms) for terms in (case.left_a, case.left_b))
    clashing = [p for p in case.found.clashes + case.found.opposed if p.a.region == "subject"]
    if not ((left and right) or clashing):
        return None
    has_other = len(left) < len(case.left_a) or len(right) < len(case.left_b)
    if has_other or not _shares_object(case) or max(len(left), len(right)) > 3:
        return different("another subject and another object", confidence=0.6)
    described = f"{names(left)} vs {names(right)}" if left and right else clashing[0].reason
    return contradicts("owner", f"another subject: {described}", confidence=0.7)


def _in_subject(terms: Sequence[Term]) -> list[Term]:
    return [term for term in terms if term.region == "subject"]


def _shares_object(case: Case) -> bool:
    return any(
        pair.a.region == pair.b.region == "predicate"
        and pair.a.weight == 1
        and not pair.a.is_verb
        and pair.a.kind not in ("date", "quantity")  # two people may work on Mondays
        for pair in case.found.same
    )
