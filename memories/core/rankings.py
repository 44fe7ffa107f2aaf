"""Two rankings into one, and no five memories that say the same.

Reciprocal rank fusion (Cormack et al. 2009) weighted by α, the baseline's influence; then a
penalty for what resembles memories already chosen.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Hashable, Mapping, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Id = TypeVar("Id", bound=Hashable)

RRF_K = 12
SIMILAR_COSINE = 0.85
DIVERSITY_DECAY = 0.5
DIVERSITY_FLOOR = 0.1


def rrf(
    baseline: Sequence[Id], predictor: Sequence[Id], *, alpha: float, k: int = RRF_K
) -> dict[Id, float]:
    """Fuse two rankings, best first: α/(k + rank in baseline) + (1 - α)/(k + rank in predictor).

    Ranks start at 1; an id that a ranking of n ids lacks has rank n + 1 there. The answer is in
    fused order; ties stay in the baseline's order.

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


def diversify(
    scores: Mapping[Id, float],
    vectors: Mapping[Id, NDArray[np.float32]],
    *,
    limit: int,
    exempt: Collection[Id] = (),
) -> dict[Id, float]:
    """Choose up to ``limit`` ids, best first, each score lowered for what it repeats.

    The multiplier 0.9 · 0.5ⁿ + 0.1 (1, 0.55, 0.325, 0.2125 …) applies once to the original score;
    n counts the ids already chosen with cosine above 0.85. Greedy and lazy: a score can only fall,
    so an outdated one at the top of the heap is recomputed and put back.

    Parameters
    ----------
    scores : positive fused scores by id; ties are won by the earlier one.
    vectors : unit vectors (dim,); an id without one repeats nothing.
    exempt : ids that keep their score, such as constraints.
    """
    order = {i: position for position, i in enumerate(scores)}
    repeats = _repeats(order, vectors)
    heap = [(-score, order[i], i) for i, score in scores.items()]
    heapq.heapify(heap)
    chosen: dict[Id, float] = {}
    taken = 0  # the positions of the chosen, as bits
    while heap and len(chosen) < limit:
        negative, position, i = heapq.heappop(heap)
        if i not in exempt:
            overlaps = (repeats[position] & taken).bit_count()
            multiplier = (1 - DIVERSITY_FLOOR) * DIVERSITY_DECAY**overlaps + DIVERSITY_FLOOR
            current = scores[i] * multiplier
            if -current > negative:
                heapq.heappush(heap, (-current, position, i))
                continue
        chosen[i] = -negative
        taken |= 1 << position
    return chosen


def _repeats(order: Mapping[Id, int], vectors: Mapping[Id, NDArray[np.float32]]) -> list[int]:
    """Return for each position, as bits, those whose vectors say the same."""
    found = [0] * len(order)
    known = [i for i in order if i in vectors]
    if known:
        matrix = np.stack([vectors[i] for i in known])  # (n, dim)
        is_same = np.zeros((len(known), len(order)), dtype=bool)
        is_same[:, [order[i] for i in known]] = matrix @ matrix.T > SIMILAR_COSINE
        packed = np.packbits(is_same, axis=1, bitorder="little")
        for i, row in zip(known, packed, strict=True):
            found[order[i]] = int.from_bytes(row.tobytes(), "little")
    return found
