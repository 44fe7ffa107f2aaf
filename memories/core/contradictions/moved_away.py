"""One side names a place, the other a move to another place."""

from __future__ import annotations

from memories.core.cases import Case, CaseReading, contradicts, names, shares_subject, verbs_differ
from memories.core.lexicon import EXCLUSIVE_OBJECT


def find(case: Case) -> CaseReading | None:
    """Find a named place and a change to another: "lives in Madrid", "moved to Lisbon"."""
    if case.both_left or case.parity_differs or case.is_additive or verbs_differ(case):
        return None
    for moved, stating, left in ((case.a, case.b, case.left_b), (case.b, case.a, case.left_a)):
        change = moved.transition
        if change is None or change.kind != "switch" or change.old or not change.new:
            continue
        named = tuple(term for term in left if not term.is_verb)
        are_places = bool(named) and all(
            term.kind == "name" and term.prep in EXCLUSIVE_OBJECT.get(stating.verb, ())
            for term in named
        )
        if are_places and shares_subject(case):
            reason = f"{change.text} away from {names(named)}"
            return contradicts("moved-away", reason, confidence=0.6)
    return None
