"""Two texts with many common words use opposite words: mandatory and optional."""

from __future__ import annotations

from typing import Final

from conflicts.core.opposites import opposite_words
from conflicts.core.rules.pair import Clash, FactPair
from conflicts.core.rules.rule import Rule

RULE: Final = Rule(
    id="ambiguity.other-words.opposites",
    meaning="Two statements, often worded differently, use opposite words: mandatory and optional.",
    module=__name__,
    example=(
        "The north gate of the depot stays locked during deliveries.",
        "During deliveries at the depot we leave the north gate unlocked.",
    ),
)
STRENGTH: Final = 0.65


def find(pair: FactPair) -> Clash | None:
    """Look for opposite words; kept for 14 days is deleted after 14 days."""
    if not pair.shares_much or pair.a.values & pair.b.values:
        return None
    words = opposite_words(pair.a, pair.b)
    return pair.clash(RULE, words, strength=STRENGTH) if words else None
