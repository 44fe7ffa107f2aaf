"""The mean margin of late, and how sure one may be that it is above 0."""

from __future__ import annotations

import math
from dataclasses import dataclass

DISCOUNT = 0.97  # of older margins, a comparison
LEAST_VARIANCE = 1e-4
PRIOR_VARIANCE = 0.01  # a margin's deviation is taken for 0.1, with the weight of one comparison


@dataclass(frozen=True, slots=True)
class Margins:
    """Discounted sums over margins x: of weights, of squared weights, of x and of x²."""

    weight: float = 0.0
    weight_squared: float = 0.0
    total: float = 0.0
    squares: float = 0.0

    def added(self, margin: float) -> Margins:
        """Return the sums after one more margin."""
        return Margins(
            DISCOUNT * self.weight + 1,
            DISCOUNT**2 * self.weight_squared + 1,
            DISCOUNT * self.total + margin,
            DISCOUNT * self.squares + margin * margin,
        )

    @property
    def mean(self) -> float:
        """Return the discounted mean; 0 before the first."""
        return self.total / self.weight if self.weight else 0.0

    @property
    def variance(self) -> float:
        """Return the variance of one margin, never 0."""
        if not self.weight:
            return PRIOR_VARIANCE
        spread = self.squares / self.weight - self.mean**2
        return max(spread, LEAST_VARIANCE) + PRIOR_VARIANCE / self.weight

    @property
    def n_eff(self) -> float:
        """Return how many margins of equal weight these are worth."""
        return self.weight**2 / self.weight_squared if self.weight else 0.0

    @property
    def z(self) -> float:
        """Return the mean over its standard error; 0 before the first."""
        return self.mean / math.sqrt(self.variance / self.n_eff) if self.weight else 0.0

    @property
    def confidence(self) -> float:
        """Return Φ(z), how sure one may be that the mean is above 0."""
        return 0.5 * (1 + math.erf(self.z / math.sqrt(2)))
