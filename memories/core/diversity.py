"""Lower the scores of items that repeat a better one, so that k places show k statements.

Items are chosen greedily, best first. An item that resembles n of those already chosen (cosine
above SIMILAR_COSINE) keeps

    multiplier(n) = 1 - strength + strength · ((1 - FLOOR) · DECAY**n + FLOOR)

of its original score: 1, 0.55, 0.325, 0.2125, … at full strength, which session start uses; recall
takes its strength from the workspace's setting. Nothing is removed.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

Id = TypeVar("Id", bound=Hashable)

SIMILAR_COSINE = 0.85
DECAY = 0.5
FLOOR = 0.1


@dataclass(frozen=True, slots=True)
class DiverseItem(Generic[Id]):
    """A chosen item: its lowered score, the multiplier, and the nearest item that it repeats."""

    id: Id
    score: float
    multiplier: float
    repeats: Id | None


def choose_diverse(
    scores: Mapping[Id, float],
    vectors: Mapping[Id, NDArray[np.float32]],
    *,
    strength: float = 1.0,
    limit: int | None = None,
    exempt: Collection[Id] = (),
) -> list[DiverseItem[Id]]:
    """Choose up to ``limit`` items, best first; lower each score by the items that it repeats.

    Lazy: a score can only fall, so an outdated one at the top of the heap is computed again and
    put back.

    Parameters
    ----------
    scores : scores of at least 0 by id; of equal scores the earlier wins.
    vectors : unit vectors (dim,); an id without one repeats nothing.
    strength : the strength of the penalty, in [0, 1].
    limit : None chooses all.
    exempt : ids whose scores are not lowered, such as constraints.
    """
    ids = list(scores)
    cosines = _cosines(ids, vectors)
    similar = _as_bits(cosines > SIMILAR_COSINE)
    heap = [(-scores[i], place, 1.0) for place, i in enumerate(ids)]
    heapq.heapify(heap)
    chosen: list[DiverseItem[Id]] = []
    taken = 0  # bit set of the chosen places
    while heap and (limit is None or len(chosen) < limit):
        negative, place, multiplier = heapq.heappop(heap)
        repeated = 0 if ids[place] in exempt else similar[place] & taken
        current = multiplier_of(repeated.bit_count(), strength)
        if current < multiplier:
            heapq.heappush(heap, (-scores[ids[place]] * current, place, current))
            continue
        nearest = _nearest(cosines[place], repeated)
        repeats = None if nearest is None else ids[nearest]
        chosen.append(DiverseItem(ids[place], -negative, multiplier, repeats))
        taken |= 1 << place
    return chosen


def multiplier_of(repetitions: int, strength: float = 1.0) -> float:
    """Return the factor of an item's score after this many similar items were chosen."""
    if not repetitions:
        return 1.0
    return 1 - strength + strength * ((1 - FLOOR) * DECAY**repetitions + FLOOR)


def _cosines(
    ids: list[Id], vectors: Mapping[Id, NDArray[np.float32]]
) -> NDArray[np.float32]:  # (n, n), 0 where an id has no vector
    cosines = np.zeros((len(ids), len(ids)), dtype=np.float32)
    places = [place for place, i in enumerate(ids) if i in vectors]
    if places:
        matrix = np.stack([vectors[ids[place]] for place in places])
        cosines[np.ix_(places, places)] = matrix @ matrix.T
    return cosines


def _as_bits(is_similar: NDArray[np.bool_]) -> list[int]:
    """Return each row (n, n) as one integer, column k as bit k."""
    packed = np.packbits(is_similar, axis=1, bitorder="little")
    return [int.from_bytes(row.tobytes(), "little") for row in packed]


def _nearest(cosines: NDArray[np.float32], places: int) -> int | None:
    """Return the place with the largest cosine among a bit set of places; None if it is empty."""
    if not places:
        return None
    among = [place for place in range(places.bit_length()) if places >> place & 1]
    return max(among, key=lambda place: cosines[place])
