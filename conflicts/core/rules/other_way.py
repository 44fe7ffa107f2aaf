"""Two texts name ways that exclude each other: keep or discard, refuse or accept."""

from __future__ import annotations

from typing import Final

from conflicts.core.rules.pair import Clash, FactPair
from conflicts.core.rules.rule import Rule
from memories.core.exclusions import find_exclusion

RULE: Final = Rule(
    id="ambiguity.other-words.way",
    meaning="Two statements do one thing in ways that exclude each other: kept or "
    "discarded, refused or accepted.",
    module=__name__,
    example=(
        "Call notes of the clinic are kept in the archive after discharge.",
        "The clinic deletes call notes after discharge.",
    ),
)
STRENGTH: Final = 0.65


def find(pair: FactPair) -> Clash | None:
    """Look for opposite sides of one family of ways, in one matter and one case."""
    if not pair.is_one_matter or pair.a.values & pair.b.values:
        return None
    family = find_exclusion(*pair.texts)
    return pair.clash(RULE, family, strength=STRENGTH) if family else None
