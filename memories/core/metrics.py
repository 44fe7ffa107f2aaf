"""Measure rankings, with confidence intervals.

Recall, reciprocal rank and normalised discounted cumulative gain with binary or graded relevance
(Järvelin & Kekäläinen 2002), and percentile bootstrap intervals over queries (Efron 1979). An id
counts once, at its best rank.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

Id = TypeVar("Id", bound=Hashable)

RESAMPLES = 2000


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean over ``n`` queries with its confidence interval."""

    mean: float
    low: float
    high: float
    n: int


def recall_at(ranked: Sequence[Id], gold: Collection[Id], k: int) -> float:
    """Return the share of ``gold`` among the first ``k``, in [0, 1].

    Raises
    ------
    ValueError
        When ``gold`` is empty: recall is then undefined.
    """
    wanted = _check_gold(gold)
    return len(wanted.intersection(_once(ranked)[:k])) / len(wanted)


def precision_at(ranked: Sequence[Id], gold: Collection[Id], k: int) -> float:
    """Return the share of the first ``k`` places with a member of ``gold``, in [0, 1]."""
    return len(_check_gold(gold).intersection(_once(ranked)[:k])) / k


def reciprocal_rank(ranked: Sequence[Id], gold: Collection[Id]) -> float:
    """Return one over the rank of the first member of ``gold``, 0 when there is none."""
    wanted = _check_gold(gold)
    return next((1 / rank for rank, i in enumerate(_once(ranked), 1) if i in wanted), 0.0)


def ndcg_at(ranked: Sequence[Id], gains: Mapping[Id, float], k: int) -> float:
    """Return the discounted gain of the first ``k`` over that of the best order, in [0, 1].

    Parameters
    ----------
    gains : relevance by id, clamped to [0, 1]; ids that are not in it gain nothing. Binary
        relevance is ``dict.fromkeys(gold, 1.0)``.

    Raises
    ------
    ValueError
        When no gain is above 0: nDCG is then undefined.
    """
    clamped = {i: min(1.0, max(0.0, gain)) for i, gain in gains.items()}
    best = _sum_discounted(sorted(clamped.values(), reverse=True)[:k])
    if not best > 0:
        raise ValueError("nDCG needs at least one gain above 0")
    return min(1.0, _sum_discounted([clamped.get(i, 0.0) for i in _once(ranked)[:k]]) / best)


def bootstrap(
    values: Sequence[float],
    *,
    rng: np.random.Generator,
    level: float = 0.95,
    resamples: int = RESAMPLES,
) -> Interval:
    """Return the mean of ``values`` (one a query, n ≥ 1) with its percentile bootstrap interval."""
    sample = np.asarray(values, dtype=np.float64)
    if sample.size == 0:
        raise ValueError("no values to average")
    means = sample[rng.integers(0, sample.size, (resamples, sample.size))].mean(axis=1)
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(sample.mean()), float(low), float(high), int(sample.size))


def bootstrap_difference(
    after: Sequence[float],
    before: Sequence[float],
    *,
    rng: np.random.Generator,
    level: float = 0.95,
) -> Interval:
    """Return the mean of ``after`` - ``before``, paired by query, with its interval."""
    pairs = zip(after, before, strict=True)
    return bootstrap([a - b for a, b in pairs], rng=rng, level=level)


def bootstrap_ratio(
    parts: Sequence[float],
    wholes: Sequence[float],
    *,
    rng: np.random.Generator,
    level: float = 0.95,
    resamples: int = RESAMPLES,
) -> Interval:
    """Return Σ parts / Σ wholes, with an interval from resampling their common units.

    For figures such as precision over conflicts, counted story by story: a story with three wrong
    predictions is one unit, not three. `n` is the total of ``wholes``; 0 gives [0, 1].

    Parameters
    ----------
    parts, wholes : (units,) each part at most its whole, wholes at least 0.
    """
    counts = np.array([parts, wholes], dtype=np.float64).reshape(2, -1)
    total = counts[1].sum()
    if total == 0:
        return Interval(0.0, 0.0, 1.0, 0)
    units = counts.shape[1]
    sums = counts[:, rng.integers(0, units, (resamples, units))].sum(axis=2)
    ratios = sums[0][sums[1] > 0] / sums[1][sums[1] > 0]
    low, high = np.quantile(ratios, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(counts[0].sum() / total), float(low), float(high), int(total))


def wilson(successes: int, n: int, *, z: float = 1.959964) -> Interval:
    """Return ``successes / n`` with its Wilson score interval; [0, 1] for n = 0."""
    if n == 0:
        return Interval(0.0, 0.0, 1.0, 0)
    share = successes / n
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return Interval(share, max(0.0, centre - half), min(1.0, centre + half), n)


def _sum_discounted(gains: Sequence[float]) -> float:
    return math.fsum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))


def _once(ranked: Sequence[Id]) -> list[Id]:
    return list(dict.fromkeys(ranked))


def _check_gold(gold: Collection[Id]) -> frozenset[Id]:
    if not gold:
        raise ValueError("a query without gold says nothing about a ranking")
    return frozenset(gold)
