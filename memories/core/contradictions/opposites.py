"""Both sides use opposite words."""

from __future__ import annotations

from memories.core.alignment import TermPair
from memories.core.cases import Case, CaseReading, contradicts, different, is_exact, is_one_slot
from memories.core.function_words import OPPOSED_PREPOSITIONS
from memories.core.lexicon import GRADED, OPPOSITES

_SPANNING = frozenset(["until", "since"])
_VALUES = frozenset(["date", "quantity"])
_LASTING = frozenset(["for", "after", "up", "within", ""])


def find(case: Case) -> CaseReading | None:
    """Find one pair of antonyms (or none and a negation); two pairs are undecided."""
    pairs = case.found.opposed + _opposed_prepositions(case)
    if not pairs:
        return None
    reasons = tuple(pair.reason for pair in pairs)
    if len(pairs) > 1:
        return different(*reasons, "more than one opposition")
    if case.parity_differs:
        if any(pair.a.key in GRADED or pair.a.key not in OPPOSITES for pair in pairs):
            return different(*reasons, "and a negation")
        return None  # "not allowed" is "forbidden": left to agreement
    if not is_one_slot(case) or case.is_additive or _until_differs(case) or _is_unmatched(case):
        return different(*reasons, "but something else differs too")
    return contradicts("opposites", *reasons, confidence=0.85 if is_exact(case) else 0.65)


def _until_differs(case: Case) -> bool:
    """ "Open until 9" is no contradiction of "closes at 9", nor "for" one of "after 14 days"."""
    return any(
        pair.a.prep != pair.b.prep
        and (
            not _SPANNING.isdisjoint((pair.a.prep, pair.b.prep))
            or ({pair.a.prep, pair.b.prep} <= _LASTING and "after" in (pair.a.prep, pair.b.prep))
        )
        for pair in case.found.same
    )


def _is_unmatched(case: Case) -> bool:
    """ "Opens at 6" is no contradiction of "closes at 18:00": their values are not compared."""
    if any(pair.a.kind in _VALUES for pair in (*case.found.same, *case.found.clashes)):
        return False
    return all(any(term.kind in _VALUES for term in claim.terms) for claim in (case.a, case.b))


def _opposed_prepositions(case: Case) -> list[TermPair]:
    for pair in case.found.same:
        if OPPOSED_PREPOSITIONS.get(pair.a.prep) == pair.b.prep:
            return [TermPair(pair.a, pair.b, f"{pair.a.prep} against {pair.b.prep}")]
    return []
