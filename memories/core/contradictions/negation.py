"""One side is negated."""

from __future__ import annotations

from memories.core.cases import Case, CaseReading, contradicts, different, verbs_differ
from memories.core.claim_types import Claim
from memories.core.lexicon import DENYING
from memories.core.to_do import is_order, is_undone


def find(case: Case) -> CaseReading | None:
    """Find a negation of one side only, where that side is the more general one."""
    if not case.parity_differs or case.found.opposed:
        return None
    negated, stated = (
        (case.left_a, case.left_b) if not case.a.polarity else (case.left_b, case.left_a)
    )
    if any(term.key in DENYING for term in stated):
        return different("one side is negated", "and the other denies it in a word")
    if negated or any(term.is_verb for term in stated) or verbs_differ(case):
        return different("one side is negated", "but of something narrower")
    if any(term.region == "subject" for term in stated):
        return different("one side is negated", "of another subject")
    if case.found.loose or case.found.clashes:
        return different("one side is negated", "with other values")
    return _of_one_thing(case)


def _of_one_thing(case: Case) -> CaseReading:
    """Return what a negation of what the other side says is: no contradiction of a task."""
    denied, told = (case.b, case.a) if case.a.polarity else (case.a, case.b)
    if is_undone(denied.text) and _says_what_to_do(told):
        return different("one side is negated", "and the other says what is to be done")
    return contradicts("negation", "one side is negated", confidence=0.85)


def _says_what_to_do(claim: Claim) -> bool:
    return claim.force in ("must", "should") or is_order(claim.text)
