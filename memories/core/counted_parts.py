"""Two counts of one noun of which the lower one may be a part of the other."""

from __future__ import annotations

from typing import Final

from memories.core.claim_types import Claim
from memories.core.lexicon import concept_of
from memories.core.measures import Quantity

# Verbs that say what there is, of which a part may be named; what is needed or done has no parts.
_STOCK: Final = frozenset(
    map(concept_of, ["have", "contain", "own", "rent", "sell", "employ", "house", "", "be"])
)
_WITH: Final = frozenset(["with", "without"])
_KNOWN: Final = frozenset(["the", "this", "that", "our", "its", "their"])
_NO_ADJECTIVE: Final = frozenset(map(concept_of, ["more", "further", "other", "new", "additional"]))
_NO_NOUN: Final = frozenset(["time", "times", "attempt", "attempts"])


def counts_a_part(one: Claim, count: Quantity, other: Claim, other_count: Quantity) -> bool:
    """Return whether the lower of two counts is of those that something more is said of.

    As in "6 benches" and "2 benches with a roof", "30 desks" and "5 standing desks".
    """
    counts = (count, other_count)
    if any(each.unit != "count" or each.bound != "exact" for each in counts):
        return False
    if any(each.value % 1 or each.noun in _NO_NOUN for each in counts):
        return False
    if any(claim.verb not in _STOCK or claim.force for claim in (one, other)):
        return False
    if count.value < other_count.value:
        return _picks_out(one, count, other_count, other)
    return _picks_out(other, other_count, count, one)


def _picks_out(claim: Claim, count: Quantity, rest: Quantity, other: Claim) -> bool:
    """Return whether only this claim tells some of what it counts from others of their kind."""
    if _has_detail(claim.text.split(), count.text.split()) and _WITH.isdisjoint(other.text.split()):
        return True
    adjective = concept_of(count.noun)
    is_of_one_kind = concept_of(rest.noun) in claim.keys and adjective not in other.keys
    return is_of_one_kind and adjective not in _NO_ADJECTIVE


def _has_detail(words: list[str], count: list[str]) -> bool:
    """Return whether "with" stands behind the noun of a count: "2 benches with a roof".

    Not "3 workers with the new budget", which all may have.
    """
    for at in range(len(words) - len(count) - 2):
        behind = words[at + len(count) + 1 : at + len(count) + 3]
        if words[at : at + len(count)] == count and behind[0] in _WITH:
            return behind[1] not in _KNOWN
    return False
