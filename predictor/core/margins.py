"""Discounted mean and variance of margins, and the probability that the mean is above 0."""

from __future__ import annotations

import math
from dataclasses import dataclass

DISCOUNT = 0.97  # factor of older margins with every comparison
LEAST_VARIANCE = 1e-4
PRIOR_VARIANCE = 0.01  # prior of a margin's variance, with the weight of one comparison
NORMAL_95 = 1.96
MOST_COUNTED = 900  # margins
USUAL_DEVIATION = 0.25
USUAL_WEIGHT = 20.0  # comparisons that the usual deviation counts as, so that few steps say little


@dataclass(frozen=True, slots=True)
class Margins:
    """Discounted sums over margins x: of weights, of squared weights, of x, of x² and of half the
    squared steps from each x to the next; and the last x."""

    weight: float = 0.0
    weight_squared: float = 0.0
    total: float = 0.0
    squares: float = 0.0
    steps: float = 0.0
    last: float = 0.0

    def add(self, margin: float) -> Margins:
        """Return the sums after one more margin."""
        return Margins(
            DISCOUNT * self.weight + 1,
            DISCOUNT**2 * self.weight_squared + 1,
            DISCOUNT * self.total + margin,
            DISCOUNT * self.squares + margin * margin,
            DISCOUNT * self.steps + (margin - self.last) ** 2 / 2,
            margin,
        )

    @property
    def mean(self) -> float:
        """Return the discounted mean; 0 before the first margin."""
        return self.total / self.weight if self.weight else 0.0

    @property
    def variance(self) -> float:
        """Return the variance of one margin, never 0."""
        if not self.weight:
            return PRIOR_VARIANCE
        spread = self.squares / self.weight - self.mean**2
        return max(spread, LEAST_VARIANCE) + PRIOR_VARIANCE / self.weight

    def noise(self, correlation: float) -> float:
        """Return the variance of margins around a mean that may move, at least the usual one.

        Estimated from successive differences (von Neumann 1941): a fall of the mean adds one large
        difference, while it would raise the variance around the mean so much that the cumulative
        sum detects the fall late. They are smaller by 1 - `correlation`, that of a margin with the
        one before.
        """
        usual = USUAL_DEVIATION**2
        steps = self.steps / (1 - correlation)
        return max(usual, (USUAL_WEIGHT * usual + steps) / (USUAL_WEIGHT + self.weight))

    @property
    def n_eff(self) -> float:
        """Return the effective number of margins."""
        return self.weight**2 / self.weight_squared if self.weight else 0.0

    @property
    def count(self) -> int:
        """Return how many margins were added, read from the sum of their weights; at most
        `MOST_COUNTED`, above which that sum grows no more."""
        left = max(DISCOUNT**MOST_COUNTED, 1 - (1 - DISCOUNT) * self.weight)
        return round(math.log(left) / math.log(DISCOUNT))

    @property
    def interval(self) -> tuple[float, float]:
        """Return the 95 % interval of the mean, within [-1, 1]; all of it before any margin."""
        if not self.weight:
            return -1.0, 1.0
        error = NORMAL_95 * math.sqrt(self.variance / self.n_eff)
        return max(-1.0, self.mean - error), min(1.0, self.mean + error)

    @property
    def z(self) -> float:
        """Return the mean divided by its standard error; 0 before the first margin."""
        return self.mean / math.sqrt(self.variance / self.n_eff) if self.weight else 0.0

    @property
    def confidence(self) -> float:
        """Return Φ(z), the probability that the mean is above 0."""
        return 0.5 * (1 + math.erf(self.z / math.sqrt(2)))
