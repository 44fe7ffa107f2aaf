"""One side states what the other denies."""

from __future__ import annotations

from memories.core.alignment import TermPair
from memories.core.cases import (
    Case,
    CaseReading,
    contradicts,
    different,
    is_exact,
    narrows,
    subject_is_firm,
    verbs_differ,
)
from memories.core.function_words import PREPOSITIONS


def find(case: Case) -> CaseReading | None:
    """Find what one side states and the other denies: "S3", "not S3" or "moved away from S3"."""
    for pair in case.found.same:
        if pair.a.is_denied == pair.b.is_denied or pair.a.weight < 1:
            continue
        if pair.a.key in PREPOSITIONS:
            continue  # "no shell inside" denies the shell
        denied = pair.a if pair.a.is_denied else pair.b
        stating = case.left_b if pair.a.is_denied else case.left_a
        is_alone = not case.both_left and not case.parity_differs and not verbs_differ(case)
        narrow = narrows(stating, in_subject=not subject_is_firm(case))
        if is_alone and not narrow and _shares_another(case, pair):
            confidence = 0.8 if is_exact(case) else 0.65
            return contradicts("denial", f"one side denies {denied.written}", confidence=confidence)
        return different(f"only one side denies {denied.written}")
    return None


def _shares_another(case: Case, besides: TermPair) -> bool:
    return any(
        pair is not besides and pair.a.weight == 1 and not pair.a.is_verb
        for pair in case.found.same + case.found.finer
    )
