"""The source document's rules of influence, computed for the audit; they serve nothing.

α = 1 - success rate, the rate being an exponential mean of wins; ten sessions in a row under 0.3
reset the rate to 0.5, and with it α to 0.5: a predictor just found bad *gains* influence. That is
why `predictor.core.governance` serves by other rules. Ties count a half here.
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
    """The success rate and what the source would make of it.

    `low_sessions` counts comparisons in a row under 0.3; `window` of them are a reset, told by
    `is_reset` right after it.
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
        """Return the state after a comparison; 0 is a tie."""
        won = 0.5 if margin == 0 else float(margin > 0)
        rate = (1 - RATE) * self.success_rate + RATE * won
        low = self.low_sessions + 1 if rate < LOW else 0
        if low < self.window:
            return replace(self, success_rate=rate, low_sessions=low, is_reset=False)
        return replace(
            self, success_rate=START, low_sessions=0, resets=self.resets + 1, is_reset=True
        )

    def after_void(self) -> Self:
        """Return the state after a session that says nothing."""
        return replace(self, is_reset=False)
