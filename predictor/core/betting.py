"""Weigh margins by bets on them, so that the weight may be read after every session.

A wealth of 1 is bet, in parts, that the next margin is above 0. If margins are 0 in the mean, the
wealth is more likely to shrink than to grow, and the probability that it ever reaches w is at most
1 / w, however often one looks (Ville 1939; Waudby-Smith and Ramdas 2024). That holds for margins of
which the last says nothing of the next. Sessions of one task follow each other, so the bet is on

    y = (x - r) - ρ (x' - r)        x': the margin before; r: the reference, 0 for the wealth

with ρ the correlation of a margin with the one before, estimated from those before. ρ is uncertain,
so `ENOUGH` is more than the 20 of a level of 5 %: `benchmarks/governance.py` measures the level.

    wealth ← (wealth + joining) · (1 + `STAKE` / (1 + ρ) · y)

A half joins at the first margin, the rest later, ever less of it: a ranker that was bad at first
and has learned is adopted too, on a part that was not lost by then.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from predictor.core.margins import USUAL_DEVIATION

ENOUGH: Final = 48.0  # wealth
MOST_WEALTH: Final = 1e6  # more says no more
STAKE: Final = 0.95
LATER: Final = 50  # margins after which half of what joins later has joined
USUAL_CORRELATION: Final = 0.1
USUAL_COUNT: Final = 20  # margins that the usual correlation counts as
MOST_CORRELATION: Final = 0.3  # more is a rise or a fall, which is evidence


@dataclass(frozen=True, slots=True)
class Betting:
    """The wealth, and over margins x: count, sums of x, of x² and of x times the one before."""

    wealth: float = 0.0
    count: int = 0
    total: float = 0.0
    squares: float = 0.0
    products: float = 0.0
    last: float = 0.0

    def add(self, margin: float) -> Betting:
        """Return the state after one more margin in [-1, 1]."""
        won = 1 + STAKE / (1 + self.correlation) * self.innovation(margin)
        return Betting(
            min(MOST_WEALTH, (self.wealth + self._joining) * won),
            self.count + 1,
            self.total + margin,
            self.squares + margin * margin,
            self.products + margin * self.last,
            margin,
        )

    @property
    def is_enough(self) -> bool:
        """Return whether the margins are above 0 in the mean, beyond chance."""
        return self.wealth >= ENOUGH

    @property
    def correlation(self) -> float:
        """Return the correlation of a margin with the one before, from 0 to `MOST_CORRELATION`."""
        mean = self.total / self.count if self.count else 0.0
        usual = USUAL_COUNT * USUAL_DEVIATION**2
        pairs = max(0, self.count - 1)
        covariance = self.products - pairs * mean * mean + usual * USUAL_CORRELATION
        variance = max(0.0, self.squares - self.count * mean * mean) + usual
        return min(MOST_CORRELATION, max(0.0, covariance / variance))

    def innovation(self, margin: float, reference: float = 0.0) -> float:
        """Return what a margin says of the mean beyond what the one before has said."""
        own = margin - reference
        return own - self.correlation * (self.last - reference) if self.count else own

    @property
    def _joining(self) -> float:
        """Return the part that joins before the next margin; all parts add up to 1."""
        later = LATER / ((self.count + LATER) * (self.count + LATER + 1))
        return 0.5 * later + (0.0 if self.count else 0.5)
