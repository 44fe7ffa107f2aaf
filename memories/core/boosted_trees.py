"""Evaluate gradient-boosted decision trees (Friedman 2001) that were fitted elsewhere.

Trees are rows of arrays: an inner node compares one feature with a threshold and names its two
children; a leaf names itself, and has a value. A feature that is not known (NaN) goes to the side
that was chosen for it when the trees were fitted.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class BoostedTrees:
    """Trees for k classes over f features, all nodes of all trees in one row of arrays.

    `roots` (t,) are the nodes where trees begin, and `classes` (t,) the class that each adds to;
    `features`, `thresholds`, `left`, `right`, `unknown_left` and `values` are of nodes.
    """

    names: tuple[str, ...]
    baseline: Floats
    roots: NDArray[np.int32]
    classes: NDArray[np.int8]
    features: NDArray[np.int16]
    thresholds: NDArray[np.float32]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    unknown_left: NDArray[np.bool_]
    values: NDArray[np.float32]

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read trees that `save` wrote."""
        with np.load(path, allow_pickle=False) as stored:
            fields = {name: stored[name] for name in stored.files}
        names = tuple(map(str, fields.pop("names")))
        return cls(names=names, **fields)

    def save(self, path: Path) -> None:
        """Write the trees to a file of arrays."""
        fields: dict[str, Any] = {name: getattr(self, name) for name in self.__slots__}
        np.savez_compressed(path, **fields)

    def probabilities(self, features: Floats) -> Floats:
        """Return the probabilities of the classes (k,) for the features (f,) of one row."""
        nodes = self.roots.copy()
        is_unknown = np.isnan(features)
        going = np.arange(len(nodes))  # the trees that have not reached a leaf
        while len(going):
            at = nodes[going]
            asked = self.features[at]
            goes_left = (features[asked] <= self.thresholds[at]) | (
                is_unknown[asked] & self.unknown_left[at]
            )
            reached = np.where(goes_left, self.left[at], self.right[at])
            nodes[going] = reached
            going = going[self.left[reached] != reached]
        scores = self.baseline + np.bincount(
            self.classes, weights=self.values[nodes], minlength=len(self.baseline)
        )
        odds = np.exp(scores - scores.max())
        chances: Floats = odds / odds.sum()
        return chances
