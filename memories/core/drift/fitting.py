"""Fit the calibration of an embedding model to labelled pairs of memories and notes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memories.core.drift.calibration import Calibration
from memories.core.drift.evidence import FEATURES, Evidence

RIDGE: Final = 2.0
STEPS, RATE = 4000, 0.3
# Where the bounds of the built-in model lie: .3 is above this share of the cosines of memories to
# notes of other matters, .45 this far from there to the median cosine of memories to their own.
LOW_OVERLAP_AT: Final = 0.96
WEAK_AT: Final = 0.3

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Labelled:
    """What the changed support of a memory says, and whether the memory drifted."""

    evidence: Evidence
    is_drifted: bool
    weight: float = 1.0


def fit(cases: Sequence[Labelled], base: Calibration) -> Calibration:
    """Return `base` with weights fitted to labelled cases, by gradient descent with a ridge."""
    rows: Floats = np.array([case.evidence.features for case in cases])
    wanted: Floats = np.array([float(case.is_drifted) for case in cases])
    counts: Floats = np.array([case.weight for case in cases])
    given: Floats = base.of_deliberateness * np.array(
        [case.evidence.deliberateness for case in cases]
    )
    mean, spread = rows.mean(0), rows.std(0) + 1e-9
    scaled = (rows - mean) / spread
    weights, bias, total = np.zeros(len(FEATURES)), 0.0, counts.sum()
    for _ in range(STEPS):
        error = counts * (1 / (1 + np.exp(-(scaled @ weights + bias + given))) - wanted)
        weights -= RATE * (scaled.T @ error + RIDGE * weights) / total
        bias -= RATE * float(error.sum() / total)
    plain = weights / spread
    return replace(
        base,
        weights=tuple(round(float(weight), 3) for weight in plain),
        bias=round(float(bias - plain @ mean), 3),
    )


def with_bounds(
    calibration: Calibration, own: Sequence[float], foreign: Sequence[float]
) -> Calibration:
    """Return a calibration with the bounds of the nearest passage.

    `own` are cosines of memories to the nearest statement of their note, `foreign` to that of notes
    about other matters.
    """
    low = float(np.quantile(np.asarray(foreign), LOW_OVERLAP_AT))
    weak = low + WEAK_AT * (float(np.median(np.asarray(own))) - low)
    return replace(calibration, low_overlap=round(low, 3), weak=round(weak, 3))
