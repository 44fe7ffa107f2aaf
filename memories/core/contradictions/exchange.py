"""Both sides have the same words in exchanged roles, or in the opposite direction."""

from __future__ import annotations

from collections.abc import Sequence

from memories.core.alignment import TermPair
from memories.core.cases import Case, CaseReading, contradicts, different, role_changes, roles
from memories.core.function_words import DIRECTED, OPPOSED_PREPOSITIONS
from memories.core.lexicon import SYMMETRIC

_MAX_PAIRS = 40  # shared words that are examined for exchanged roles


def find(case: Case) -> CaseReading | None:
    """Find the same words in exchanged roles: "A calls B", "B calls A"; "from A to B" reversed."""
    pairs = [pair for pair in case.found.same if not pair.a.is_verb and pair.a.weight == 1]
    pairs = pairs[:_MAX_PAIRS]
    for first in pairs:
        if first.a.prep not in DIRECTED or (first.a.prep == "to" and case.a.verb in SYMMETRIC):
            continue
        for second in pairs:
            if first is second or not _exchanged_prepositions(first, second):
                continue
            if case.both_left or OPPOSED_PREPOSITIONS.get(first.a.prep) == second.b.prep:
                return None
            reason = f"other direction: {first.a.prep} {first.a.written}"
            return contradicts("direction", reason, confidence=0.8)
    return _exchanged_roles(case, pairs)


def _exchanged_prepositions(first: TermPair, second: TermPair) -> bool:
    """Return whether `second` has in b the preposition of `first` in a, or its opposite."""
    led = first.a.prep
    if led in (second.a.prep, first.b.prep):
        return False
    return second.b.prep in (led, OPPOSED_PREPOSITIONS.get(led, led)) and (
        first.b.prep == second.a.prep or first.b.prep != second.b.prep
    )


def _exchanged_roles(case: Case, pairs: Sequence[TermPair]) -> CaseReading | None:
    if not case.a.verb or case.a.verb != case.b.verb or case.a.verb in SYMMETRIC:
        return None
    found = role_changes(pairs, roles(case.a), roles(case.b))
    if not {("agent", "patient"), ("patient", "agent")} <= found:
        return None
    if {("agent", "agent"), ("patient", "patient")} <= found:
        return None
    verb_weight = next((term.weight for term in case.a.terms if term.is_verb), 0)
    if case.both_left or verb_weight < 1 or case.parity_differs:
        return different("the same words in other roles")
    return contradicts("roles", "the same words in exchanged roles", confidence=0.7)
