"""Means and scales that standardise columns to mean 0 and deviation 1."""

from __future__ import annotations

import numpy as np

from predictor.core.weights import Floats

_LEAST = 1e-6  # of the mean: a smaller deviation is rounding


def means_and_scales(rows: Floats) -> tuple[Floats, Floats]:
    """Return means and inverse deviations of the columns of (n, columns).

    The inverse is 0 for a constant column, so that it is standardised to zero.
    """
    rows = np.asarray(rows, dtype=np.float64)
    mean, deviation = rows.mean(axis=0), rows.std(axis=0)
    varies = deviation > _LEAST * np.maximum(1, np.abs(mean))
    scale = np.divide(1, deviation, out=np.zeros_like(deviation), where=varies)
    return mean.astype(np.float32), scale.astype(np.float32)
