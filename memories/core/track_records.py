"""Weigh an agent's reports by people's verdicts on its earlier ones.

The prior is Beta(2, 2): without decisions the weight is 0.5, one moves it to 0.6 or 0.4, and after
ten it is mostly determined by the verdicts.
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
    """Counts of confirmed and dismissed reports."""

    confirmed: int = 0
    dismissed: int = 0

    @property
    def decided_count(self) -> int:
        """Return the number of decided reports."""
        return self.confirmed + self.dismissed

    @property
    def is_established(self) -> bool:
        """Return whether people have decided about enough reports to know the reporter."""
        return self.decided_count >= ENOUGH_DECIDED

    @property
    def weight(self) -> float:
        """Return the expected share of confirmed reports, in (0, 1)."""
        known = self.decided_count + PRIOR_CONFIRMED + PRIOR_DISMISSED
        return (self.confirmed + PRIOR_CONFIRMED) / known

    @property
    def may_open(self) -> bool:
        """Return whether a report opens a card without another caller's confirmation."""
        if not self.is_established:
            return True
        return wilson(self.confirmed, self.decided_count, z=_Z_80).low >= LEAST_SHARE


def together(weights: Iterable[float]) -> float:
    """Return the probability that not all of several independent reports are wrong."""
    return 1 - math.prod(1 - weight for weight in weights)
