"""Weights of a linear model on the vectors of one embedding model, kept in a file of arrays."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Weights:
    """For features made of vectors of one embedding `model`: their `mean` (n,), and `weights`.

    `weights` are (n + 1,) for one score or (n + 1, k) for k, the last row being what is added.
    """

    model: str
    mean: Floats
    weights: Floats

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read weights that `save` wrote."""
        with np.load(path, allow_pickle=False) as stored:
            return cls(str(stored["model"]), stored["mean"], stored["weights"])

    def save(self, path: Path) -> None:
        """Write the weights to a file of arrays, in single precision."""
        mean, weights = self.mean.astype(np.float32), self.weights.astype(np.float32)
        np.savez_compressed(path, model=np.array(self.model), mean=mean, weights=weights)

    def scores(self, features: Floats) -> Floats:
        """Return the score () or the k scores (k,) of features (n,)."""
        return np.asarray(np.append(features - self.mean, 1.0) @ self.weights)
