"""Damping what repeats something better placed, so that k places hold k statements.

Taken greedily, best first: a memory whose vector is all but the same as that of one already taken
loses up to `strength` of its score,

    damping = 1 - strength · max(0, (cosine - NEAR) / (1 - NEAR)),

with the most similar of those taken. Nothing is removed: what is worth it still comes, later.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

Id = TypeVar("Id")

NEAR = 0.85


@dataclass(frozen=True, slots=True)
class Damped(Generic[Id]):
    """One memory in its place, the factor of its score, and what it nearly repeats."""

    id: Id
    damping: float
    repeats: Id | None


def damp(
    scored: Sequence[tuple[Id, float]],
    vectors: Mapping[Id, NDArray[np.float32]],
    strength: float,
) -> list[Damped[Id]]:
    """Return the scored memories in their new order; ties stay in the order they came in.

    Parameters
    ----------
    scored : memories with their scores, best first.
    vectors : unit vectors; a memory without one repeats nothing.
    """
    ids = [i for i, _ in scored]
    scores = np.array([score for _, score in scored])
    width = len(next(iter(vectors.values()))) if vectors else 1
    matrix = np.stack([vectors.get(i, np.zeros(width, np.float32)) for i in ids]) if ids else None
    nearness = np.zeros(len(ids))
    nearest = np.full(len(ids), -1)
    is_taken = np.zeros(len(ids), dtype=bool)
    taken: list[Damped[Id]] = []
    while matrix is not None and len(taken) < len(ids):
        damping = 1 - strength * nearness
        best = int(np.argmax(np.where(is_taken, -np.inf, scores * damping)))
        repeated = ids[nearest[best]] if nearest[best] >= 0 else None
        taken.append(Damped(ids[best], float(damping[best]), repeated))
        is_taken[best] = True
        found = np.clip((matrix @ matrix[best] - NEAR) / (1 - NEAR), 0, 1)
        is_nearer = found > nearness
        nearness, nearest = np.where(is_nearer, found, nearness), np.where(is_nearer, best, nearest)
    return taken
