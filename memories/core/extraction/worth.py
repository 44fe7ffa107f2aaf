"""Estimate whether a statement would help a conversation that does not have this transcript.

A logistic regression on the features of `memories/core/extraction/features.py`, fitted on
statements that people marked as worth keeping; `benchmarks/worth.py` fits it and measures it on
authors and sessions left out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

WEIGHTS_FILE: Final = Path(__file__).with_name("worth.npz")


@dataclass(frozen=True, slots=True)
class Weights:
    """Weights (f,) of the features by name, and the log odds of a statement that has none."""

    names: tuple[str, ...]
    weights: NDArray[np.float64]
    bias: float

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read weights that `save` wrote."""
        with np.load(path, allow_pickle=False) as stored:
            names = tuple(map(str, stored["names"]))
            return cls(names, stored["weights"], float(stored["bias"]))

    def save(self, path: Path) -> None:
        """Write the weights to a file of arrays."""
        np.savez_compressed(
            path, names=np.array(self.names), weights=self.weights, bias=np.float64(self.bias)
        )

    def worth_of(self, features: Mapping[str, float]) -> float:
        """Return the probability (0..1) that a statement is worth keeping."""
        row = np.array([features[name] for name in self.names])
        return 1 / (1 + math.exp(-(float(row @ self.weights) + self.bias)))


def worth_of(features: Mapping[str, float]) -> float:
    """Return the probability (0..1) that a statement is worth keeping, by the weights in use."""
    return _weights().worth_of(features)


@cache
def _weights() -> Weights:
    return Weights.load(WEIGHTS_FILE)
