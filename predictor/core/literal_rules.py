"""The source document's rules of influence, computed for display and audit only.

α = 1 - success rate, an exponential mean of wins; a tie counts as half a win. Ten sessions in a row
with a rate under 0.3 reset the rate, and with it α, to 0.5: a predictor just found bad would *gain*
influence. `predictor.core.governance` therefore uses other rules.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

RATE = 0.1
START = 0.5
LOW = 0.3
WINDOW = 10


@dataclass(frozen=True, slots=True)
class LiteralRules:
    """The success rate and the state of the source document's reset rule.

    `low_sessions` counts consecutive comparisons with a rate under 0.3; `window` of them cause a
    reset, and `is_reset` is true right after it.
    """

    window: int = WINDOW
    success_rate: float = START
    low_sessions: int = 0
    resets: int = 0
    is_reset: bool = False

    @property
    def alpha(self) -> float:
        """Return the baseline's weight by these rules."""
        return 1.0 - self.success_rate

    def after_comparison(self, margin: float) -> Self:
        """Return the state after a comparison; a margin of 0 is a tie."""
        won = 0.5 if margin == 0 else float(margin > 0)
        rate = (1 - RATE) * self.success_rate + RATE * won
        low = self.low_sessions + 1 if rate < LOW else 0
        if low < self.window:
            return replace(self, success_rate=rate, low_sessions=low, is_reset=False)
        return replace(
            self, success_rate=START, low_sessions=0, resets=self.resets + 1, is_reset=True
        )

    def after_void(self) -> Self:
        """Return the state after a void session."""
        return replace(self, is_reset=False)
