"""What standardises the model's inputs: means, scales and principal directions, for any rows."""

from __future__ import annotations

import numpy as np

from predictor.core.weights import Floats

DIRECTIONS = 128  # training changes the projection within so many directions
MAX_ROWS = 4_000
MEAN_PRIOR = 8  # pseudo-rows at zero that shrink the mean of few rows
_POWER_STEPS = 6
_OVERSAMPLE = 32
_LEAST_DEVIATION = 1e-6  # of the mean: a smaller one is rounding


def mean_of(embeddings: Floats) -> Floats:
    """Return the mean (native,) of (n, native) rows, shrunk to zero when there are few."""
    total = embeddings.sum(axis=0, dtype=np.float64)
    return np.asarray(total / (len(embeddings) + MEAN_PRIOR), dtype=np.float32)


def principal_directions(centred: Floats, size: int, *, rng: np.random.Generator) -> Floats:
    """Return orthonormal columns (native, min(size, native)), principal directions first.

    Subspace iteration (Halko, Martinsson and Tropp 2011) on at most `MAX_ROWS` rows. When the rows
    span fewer dimensions, the remaining columns are random.
    """
    native = centred.shape[1]
    rows = centred[:: -(-len(centred) // MAX_ROWS)] if len(centred) > MAX_ROWS else centred
    rows = np.asarray(rows, dtype=np.float64)
    width = min(size + _OVERSAMPLE, native)
    columns = np.linalg.qr(rng.standard_normal((native, width)))[0]
    floor = 1e-6 * float(np.square(rows).sum()) / native + 1e-12
    for _ in range(_POWER_STEPS):
        columns = np.linalg.qr(rows.T @ (rows @ columns) + floor * columns)[0]
    inner = rows @ columns
    values, vectors = np.linalg.eigh(inner.T @ inner)
    best = np.argsort(-values, kind="stable")[: min(size, native)]
    return np.asarray(columns @ vectors[:, best], dtype=np.float32)


def means_and_scales(rows: Floats) -> tuple[Floats, Floats]:
    """Return means and inverse deviations of the columns of (n, columns).

    The inverse is 0 for a constant column, so that it is standardised to zero.
    """
    rows = np.asarray(rows, dtype=np.float64)
    mean, deviation = rows.mean(axis=0), rows.std(axis=0)
    varies = deviation > _LEAST_DEVIATION * np.maximum(1, np.abs(mean))
    scale = np.divide(1, deviation, out=np.zeros_like(deviation), where=varies)
    return mean.astype(np.float32), scale.astype(np.float32)
