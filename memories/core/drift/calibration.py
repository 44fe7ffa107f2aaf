"""Weights and thresholds of the evidence, by embedding model.

A fall of similarity means another thing with another model, so that a model without a calibration
is judged by claims and answers only. `benchmarks/drift.py` fits those of the built-in models and
measures them on files left out; `evaluate --drift PAIRS --calibrate` does for any model, and
`memories/services/drift/calibrations.py` keeps what it found.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from memories.core.drift.evidence import FEATURES, Evidence


@dataclass(frozen=True, slots=True)
class Calibration:
    """A logistic model of the evidence: `weights` in the order of FEATURES, `bias`, `threshold`.

    `of_deliberateness` is not fitted: how many harmless rewordings a file has beside how many
    rewritten notes is its author's choice. The weights are, given it. `low_overlap` is the cosine
    of a task to the nearest passage below which no note is about it; `weak` that below which one of
    another context is no answer; `near_phrases` that of two phrases from which they may be names of
    one thing, below -1 or equal where that was not measured, so that replaced phrases are not
    looked for.
    """

    weights: tuple[float, ...] = (0.0,) * len(FEATURES)
    bias: float = 0.0
    of_deliberateness: float = 2.0
    threshold: float = 0.5
    low_overlap: float = 0.3
    weak: float = 0.45
    near_phrases: float = -1.0

    def probability(self, evidence: Evidence) -> float:
        """Return how likely the memory has drifted, 0..1."""
        pairs = zip(self.weights, evidence.features, strict=True)
        total = self.bias + self.of_deliberateness * evidence.deliberateness
        total += sum(weight * feature for weight, feature in pairs)
        return 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))


CALIBRATIONS: Final[Mapping[str, Calibration]] = {
    "all-MiniLM-L6-v2": Calibration(
        weights=(5.952, -0.339, 5.901, -2.381, 0.081, 0.825, -0.303, -1.402, 3.292),
        bias=-0.876,
        near_phrases=0.45,
    ),
    "all-MiniLM-L6-v2-int8": Calibration(
        weights=(5.429, -0.078, 6.025, -2.675, -0.225, 0.693, -0.494, -0.979, 2.698),
        bias=-0.381,
        near_phrases=0.45,
    ),
}
