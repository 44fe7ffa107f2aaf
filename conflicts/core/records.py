"""What somebody's reports are worth, from what people said to earlier ones.

Before anything is decided an agent counts as one whose reports are confirmed half of the time:
Beta(2, 2), so that one answer moves the weight from 0.5 to 0.6 or 0.4 and ten settle it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from memories.core.metrics import wilson

PRIOR_CONFIRMED: Final = 2
PRIOR_DISMISSED: Final = 2
# From so many decided reports on, one whose share of confirmed ones is probably low asks people
# nothing alone: when the lower end of the 80 % interval lies below the level (3 of 8 do, 4 do not).
ENOUGH_DECIDED: Final = 8
LEAST_SHARE: Final = 0.25
_Z_80: Final = 1.281552


@dataclass(frozen=True, slots=True)
class Record:
    """How many of somebody's reports people confirmed, and how many they dismissed."""

    confirmed: int = 0
    dismissed: int = 0

    @property
    def decided(self) -> int:
        """Return how many were answered."""
        return self.confirmed + self.dismissed

    @property
    def weight(self) -> float:
        """Return the expected share of confirmed reports, in (0, 1)."""
        known = self.decided + PRIOR_CONFIRMED + PRIOR_DISMISSED
        return (self.confirmed + PRIOR_CONFIRMED) / known

    @property
    def may_open(self) -> bool:
        """Tell whether a report opens a card though nobody else says the same."""
        if self.decided < ENOUGH_DECIDED:
            return True
        return wilson(self.confirmed, self.decided, z=_Z_80).low >= LEAST_SHARE


def together(weights: Iterable[float]) -> float:
    """Return how sure several reports of one thing are, each on its own: that not all are wrong."""
    return 1 - math.prod(1 - weight for weight in weights)
