"""Metrics of the learned ranker: nDCG over judged memories, and expected calibration error.

`ndcg` and the intervals are those of recall (`memories.core.metrics`).
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from memories.core.metrics import Interval, bootstrap, bootstrap_difference, ndcg_at, wilson

__all__ = [
    "Interval",
    "bootstrap",
    "bootstrap_difference",
    "expected_calibration",
    "ndcg",
    "wilson",
]

Id = TypeVar("Id", bound=Hashable)


def ndcg(ranked: Sequence[Id], relevance: Mapping[Id, float], k: int = 10) -> float:
    """Compute nDCG@k over the judged ids only, in [0, 1].

    Ids of ``ranked`` without a judgement are removed first: counting them as irrelevant would
    favour the ranker that chose which memories were judged.

    Raises
    ------
    ValueError
        When no judged id has relevance above 0.
    """
    return ndcg_at([i for i in ranked if i in relevance], relevance, k)


def expected_calibration(
    predicted: NDArray[np.floating], observed: NDArray[np.floating], *, bins: int = 10
) -> float:
    """Return the expected calibration error over bins of equal width (Naeini et al. 2015).

    Σ_b n_b / n · |mean predicted - mean observed|.

    Parameters
    ----------
    predicted, observed : (n,) each in [0, 1]; n = 0 gives 0.
    """
    predicted = np.asarray(predicted, dtype=np.float64)
    observed = np.asarray(observed, dtype=np.float64)
    if predicted.shape != observed.shape or predicted.ndim != 1:
        raise ValueError(f"shapes differ: {predicted.shape} and {observed.shape}")
    if predicted.size == 0:
        return 0.0
    index = np.clip((predicted * bins).astype(np.int64), 0, bins - 1)
    gaps = np.bincount(index, weights=predicted - observed, minlength=bins)
    return float(np.abs(gaps).sum() / predicted.size)
