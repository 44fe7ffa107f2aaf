"""Two texts give precedence to different sources."""

from __future__ import annotations

from typing import Final

from conflicts.core.rules.pair import Clash, FactPair
from conflicts.core.rules.rule import Rule
from memories.core.precedence import other_winner

RULE: Final = Rule(
    id="ambiguity.other-words.precedence",
    meaning="Two statements say of different sources that they win where these disagree.",
    module=__name__,
    example=(
        "If opening hours differ, the register is the master and the map is overwritten from it.",
        "Opening hours: what the shop typed in the map wins and is pushed into the register.",
    ),
)
STRENGTH: Final = 0.65


def find(pair: FactPair) -> Clash | None:
    """Compare which source has precedence and which has not."""
    winner = other_winner(*pair.texts) if pair.is_one_slot else ""
    return pair.clash(RULE, winner, strength=STRENGTH) if winner else None
