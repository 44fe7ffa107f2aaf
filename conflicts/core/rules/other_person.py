"""Two texts name different people for one task: who approves, fetches, pays."""

from __future__ import annotations

from typing import Final

from conflicts.core.rules.pair import Clash, FactPair
from conflicts.core.rules.rule import Rule
from memories.core.frames import other_filler

RULE: Final = Rule(
    id="ambiguity.other-words.person",
    meaning="Two statements name different people or roles for one task: who approves, owns, pays.",
    module=__name__,
    example=(
        "Overtime on the night line is approved by the plant supervisor.",
        "A yes from the payroll accountant is what overtime on the night line takes.",
    ),
)
STRENGTH: Final = 0.65


def find(pair: FactPair) -> Clash | None:
    """Compare the people or roles that fill one slot."""
    filled = other_filler(*pair.texts) if pair.is_one_slot else ""
    return pair.clash(RULE, filled, strength=STRENGTH) if filled else None
