"""Fuse two rankings into one by reciprocal rank fusion (Cormack et al. 2009), weighted.

Session start fuses the baseline and the learned ranker by it, because their scores have different
scales.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TypeVar

Id = TypeVar("Id", bound=Hashable)

RRF_K = 12


def rrf(
    baseline: Sequence[Id], predictor: Sequence[Id], *, alpha: float, k: int = RRF_K
) -> dict[Id, float]:
    """Fuse two rankings, best first: α/(k + rank in baseline) + (1 - α)/(k + rank in predictor).

    Ranks start at 1; an id that a ranking of n ids lacks has rank n + 1 there. The result is in
    fused order; ties keep the baseline's order.

    Parameters
    ----------
    alpha : the baseline's weight in [0, 1]; 1 gives the baseline's order exactly.
    """
    ranks_b = {i: rank for rank, i in enumerate(dict.fromkeys(baseline), 1)}
    ranks_p = {i: rank for rank, i in enumerate(dict.fromkeys(predictor), 1)}
    fused = {
        i: alpha / (k + ranks_b.get(i, len(ranks_b) + 1))
        + (1 - alpha) / (k + ranks_p.get(i, len(ranks_p) + 1))
        for i in [*ranks_b, *ranks_p]
    }
    return dict(sorted(fused.items(), key=lambda item: -item[1]))
