"""One side restricts to a few what the other one says of all: "only admins", "anyone"."""

from __future__ import annotations

from memories.core.cases import Case, CaseReading, contradicts, names
from memories.core.claim_types import Claim, Term

_ONLY = "only"
_ALL = "all"  # "anyone", "everybody", "every employee"
_MOST_OF_ALL = 1  # words behind "every": "everyone in the Porto office" is another group


def find(case: Case) -> CaseReading | None:
    """Find a subject with "only" against one of all, where everything else is said by both."""
    sides = (case.a, case.left_a, case.b, case.left_b), (case.b, case.left_b, case.a, case.left_a)
    for few, left_few, whole, left_whole in sides:
        if not _is_only(left_few) or not _is_of_all(whole, left_whole):
            continue
        if case.parity_differs or case.found.opposed or case.found.clashes or _is_of_all(few, ()):
            return None
        reason = f"{names(left_few)} vs {whole.unread[0].written}"
        return contradicts("restricted", reason, confidence=0.75)
    return None


def _is_only(left: tuple[Term, ...]) -> bool:
    """Return whether the other side lacks "only" and who it is of, and nothing else."""
    keys = {term.key for term in left}
    return _ONLY in keys and len(keys) > 1 and all(term.region == "subject" for term in left)


def _is_of_all(claim: Claim, left: tuple[Term, ...]) -> bool:
    """Return whether a claim is of all, with at most the noun of the group beside."""
    is_of_group = all(term.region == "subject" and term.kind == "word" for term in left)
    words = [word.key for word in claim.unread]
    return words == [_ALL] and is_of_group and len(left) <= _MOST_OF_ALL
