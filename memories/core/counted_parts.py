"""Two counts of one noun of which the lower one may be a part of the other."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from memories.core.claim_types import Term
from memories.core.lexicon import concept_of
from memories.core.measures import Quantity

_PICKING_OUT: Final = frozenset(["with", "without"])


def counts_a_part(
    one: Quantity, terms: Iterable[Term], other: Quantity, other_terms: Iterable[Term]
) -> bool:
    """Return whether the lower of two counts is of those that something more is said of.

    As in "6 benches" and "2 benches with a roof", "30 desks" and "5 standing desks". Each count
    comes with the terms that only its own statement has.
    """
    if {one.unit, other.unit} != {"count"} or {one.bound, other.bound} != {"exact"}:
        return False
    fewer, own = (one, terms) if one.value < other.value else (other, other_terms)
    adjective = concept_of(fewer.noun)
    return any(
        term.region == "predicate" and (term.prep in _PICKING_OUT or term.key == adjective)
        for term in own
    )
