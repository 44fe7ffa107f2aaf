"""Fusion of two rankings and diversification, as session start applies them.

Part of the predictor's Python interface, for simulators outside the service.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np
from numpy.typing import NDArray

from memories.core.diversity import Id, choose_diverse
from memories.core.rrf import RRF_K, rrf

__all__ = ["RRF_K", "diversify", "rrf"]


def diversify(
    scores: Mapping[Id, float],
    vectors: Mapping[Id, NDArray[np.float32]],
    *,
    limit: int,
    exempt: Collection[Id] = (),
) -> dict[Id, float]:
    """Return up to ``limit`` ids with their lowered scores, best first; see `choose_diverse`."""
    chosen = choose_diverse(scores, vectors, limit=limit, exempt=exempt)
    return {one.id: one.score for one in chosen}
