"""Weigh margins by bets on them, so that the weight may be read after every session.

A wealth of 1 is bet, in parts, that the next margin is above `LEAST`: as much may come from being
shown alone, which can move drafted margins of rankings that differ in kind (.027 by a lift of .3;
`benchmarks/exposure.py`). If margins but ties are
`LEAST` in the mean, the wealth is more likely to shrink than to grow, and the probability that it
ever reaches w is at most 1 / w, however often one looks (Ville 1939; Waudby-Smith and Ramdas 2024).
That holds for margins of which the last says nothing of the next. Sessions of one task follow each
other, so the bet is on

    y = (x - r) - ρ (x' - r)        x': the margin before; r: `LEAST`, or x itself where it is a tie

with ρ the correlation of a margin with the one before, estimated from those before. ρ is uncertain,
so Ville's bound does not hold exactly, and `ENOUGH` is more than the 20 of a level of 5 %:
`benchmarks/governance.py` measures the level.

    wealth ← (wealth + joining) · (1 + stake · y)

The stake is what wins most where margins are `HOPED` in the mean and vary as those before did, as
long as one margin costs no more than `MOST_LOST` of the wealth. A margin is expected to lose no
more than 1, and, the more have been seen, no more than `BEYOND` times the largest loss so far:
where margins vary little, larger stakes win sooner. One that loses more counts as that much, so
that the wealth stays above 0. That favours the bets where large losses are so rare that none was
seen: `benchmarks/governance.py` measures it.
`FIRST` joins at the first margin, the rest later, ever less of it: a ranker that was bad at first
and has learned is adopted too, on a part that was not lost by then.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from predictor.core.margins import USUAL_DEVIATION

ENOUGH: Final = 26.0  # wealth
LEAST: Final = 0.036  # mean margin that is not yet a lead
MOST_WEALTH: Final = 1e6  # more says no more
HOPED: Final = 0.09  # mean margin for which the stake is best
MOST_LOST: Final = 0.98  # share of the wealth that one margin may cost
LEAST_LOSS: Final = 0.4  # that is always allowed for
BEYOND: Final = 1.25
FADING: Final = 30  # margins after which only what was seen is allowed for
FIRST: Final = 0.75
LATER: Final = 50  # margins after which half of what joins later has joined
USUAL_CORRELATION: Final = 0.1
USUAL_COUNT: Final = 20  # margins that the usual correlation counts as
USUAL_SPREAD: Final = USUAL_COUNT * USUAL_DEVIATION**2
MOST_CORRELATION: Final = 0.3  # more is a rise or a fall, which is evidence


@dataclass(frozen=True, slots=True)
class Betting:
    """The wealth, and over margins x: count, sums of x, of x² and of x times the one before.

    With the last x, and the largest loss, -y.
    """

    wealth: float = 0.0
    count: int = 0
    total: float = 0.0
    squares: float = 0.0
    products: float = 0.0
    last: float = 0.0
    worst: float = 0.0

    def add(self, margin: float) -> Betting:
        """Return the state after one more margin in [-1, 1]."""
        excess = self._excess(margin)
        won = 1 + self.stake * max(-self._bound, excess)
        return Betting(
            min(MOST_WEALTH, (self.wealth + self._joining) * won),
            self.count + 1,
            self.total + margin,
            self.squares + margin * margin,
            self.products + margin * self.last,
            margin,
            max(self.worst, -excess),
        )

    @property
    def is_enough(self) -> bool:
        """Return whether the margins are above `LEAST` in the mean, beyond chance."""
        return self.wealth >= ENOUGH

    @property
    def correlation(self) -> float:
        """Return the correlation of a margin with the one before, from 0 to `MOST_CORRELATION`."""
        mean = self.total / self.count if self.count else 0.0
        pairs = max(0, self.count - 1)
        covariance = self.products - pairs * mean * mean + USUAL_SPREAD * USUAL_CORRELATION
        return min(MOST_CORRELATION, max(0.0, covariance / self._spread))

    @property
    def stake(self) -> float:
        """Return how many times its wealth a margin of 1 would win.

        It wins most, to the second order, where y has the mean (1 - ρ) `HOPED` and the variance of
        the margins less what those before say of them.
        """
        hoped = (1 - self.correlation) * HOPED
        variance = (1 - self.correlation**2) * self._spread / (self.count + USUAL_COUNT)
        return min(MOST_LOST / self._bound, hoped / (variance + hoped**2))

    def innovation(self, margin: float, reference: float) -> float:
        """Return what a margin says of the mean beyond what the one before has said."""
        own = margin - reference
        return own - self.correlation * (self.last - reference) if self.count else own

    def _excess(self, margin: float) -> float:
        """Return by how much a margin exceeds `LEAST`, beyond what the one before has said."""
        own, before = (x - LEAST if x else 0.0 for x in (margin, self.last))
        return own - self.correlation * before

    @property
    def _bound(self) -> float:
        """Return the largest loss that the next margin is expected to be, in (0, 1]."""
        unseen = 1 - self.count / FADING
        return min(1.0, max(LEAST_LOSS, BEYOND * self.worst, unseen))

    @property
    def _joining(self) -> float:
        """Return the part that joins before the next margin; all parts add up to 1."""
        later = LATER / ((self.count + LATER) * (self.count + LATER + 1))
        return (1 - FIRST) * later + (0.0 if self.count else FIRST)

    @property
    def _spread(self) -> float:
        """Return the sum of squared deviations from the mean, with that of the usual margins."""
        mean = self.total / self.count if self.count else 0.0
        return max(0.0, self.squares - self.count * mean * mean) + USUAL_SPREAD
