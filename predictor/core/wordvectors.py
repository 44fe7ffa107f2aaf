"""Fit word vectors without labels, so that the mean over a text's words is near its embedding."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from predictor.core.weights import Floats

MAX_TEXTS = 2_000
MAX_WORDS = 200_000  # of all texts together: bounds time and memory
PENALTY = 0.005
_STEPS = 40
_ENOUGH = 1e-4  # stop when the residual has this share of its first length


def word_vectors(buckets: Sequence[NDArray[np.integer]], targets: Floats, *, size: int) -> Floats:
    """Fit E (size, d) so that the mean of a text's rows is near its target.

    Ridge regression in dual form, E = Mᵀ (M Mᵀ + λ)⁻¹ targets, M (n, size) the mean-pooling matrix,
    solved by conjugate gradients without building M Mᵀ. Uses the first `MAX_TEXTS` texts.

    Parameters
    ----------
    buckets : n texts' word buckets.
    targets : (n, d).
    """
    out = np.zeros((size, targets.shape[1]), dtype=np.float32)
    used = _limit_buckets(buckets)
    if not used:
        return out
    pooling = _Pooling([buckets[i] for i in used], size)
    out[pooling.columns] = pooling.transposed_product(
        _solve(pooling, np.asarray(targets[used], dtype=np.float32))
    )
    return out


def _limit_buckets(buckets: Sequence[NDArray[np.integer]]) -> list[int]:
    used: list[int] = []
    words = 0
    for i, each in enumerate(buckets):
        words += len(each)
        if len(used) == MAX_TEXTS or words > MAX_WORDS:
            break
        if len(each):
            used.append(i)
    return used


class _Pooling:
    """M, (n, columns): row i holds 1/n_i at the columns of text i's n_i words."""

    def __init__(self, buckets: Sequence[NDArray[np.integer]], size: int) -> None:
        counts = np.array([len(each) for each in buckets], dtype=np.int64)
        flat = np.concatenate(buckets)
        self.columns, self._column = np.unique(flat, return_inverse=True)
        self._shares = np.repeat(1 / counts, counts).astype(np.float32)[:, None]
        self._starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
        order = np.argsort(self._column, kind="stable")
        self._row = np.repeat(np.arange(len(buckets)), counts)[order]
        self._shares_by_column = self._shares[order]
        self._column_starts = np.searchsorted(self._column[order], np.arange(len(self.columns)))

    def transposed_product(self, rows: Floats) -> Floats:
        """Return Mᵀ rows, (columns, d)."""
        parts = rows[self._row] * self._shares_by_column
        return np.asarray(np.add.reduceat(parts, self._column_starts, axis=0))

    def product(self, columns: Floats) -> Floats:
        """Return M columns, (n, d)."""
        parts = columns[self._column] * self._shares
        return np.asarray(np.add.reduceat(parts, self._starts, axis=0))


def _solve(pooling: _Pooling, targets: Floats) -> Floats:
    """Return (M Mᵀ + λ)⁻¹ targets by conjugate gradients, each column independently."""
    answer = np.zeros_like(targets)
    residual = targets.copy()
    step = residual.copy()
    length = np.einsum("ij,ij->j", residual, residual)
    enough = _ENOUGH**2 * length
    for _ in range(_STEPS):
        if (length <= enough).all():
            break
        product = pooling.product(pooling.transposed_product(step)) + np.float32(PENALTY) * step
        slope = np.einsum("ij,ij->j", step, product)
        rate = np.divide(length, slope, out=np.zeros_like(length), where=slope > 0)
        answer += rate * step
        residual -= rate * product
        before, length = length, np.einsum("ij,ij->j", residual, residual)
        turn = np.divide(length, before, out=np.zeros_like(length), where=before > 0)
        step = residual + turn * step
    return answer
