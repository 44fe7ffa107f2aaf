"""Draft a list from two rankings in turn, by coin, so that both are shown alike.

What a session was shown is judged more relevant, because its transcript was written afterwards, so
a ranking looks better when it chose the list than when it did not. In a list that both draft, each
has as many places as the other, and which of them is first in each pair of places is a coin
(team-draft interleaving: Radlinski, Kurup and Joachims 2008). Being shown then raises the measured
quality of both rankings by the same amount in the mean, whatever the amount, and their difference
has the sign that it has without. `benchmarks/exposure.py` measures this, and what it costs.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from random import Random
from typing import Final, Generic, Literal, NamedTuple, TypeVar

Id = TypeVar("Id", bound=Hashable)
Side = Literal["baseline", "predictor"]
SIDES: Final[tuple[Side, Side]] = ("baseline", "predictor")
PROPENSITY: Final = 0.5  # with which a place is a side's: by the coin of its pair


class Pick(NamedTuple, Generic[Id]):
    """A place of a drafted list: what is there, and the side that chose it."""

    id: Id
    side: Side


def draft(
    orders: Mapping[Side, Sequence[Id]],
    *,
    places: int,
    chars: Mapping[Id, int],
    budget_chars: int,
    rng: Random,
) -> list[Pick[Id]]:
    """Return the picks in the order of the places, at most `places` that fit the budget together.

    In each pair of places a coin says which side is first, and the other is second. A side picks
    the best of its order that is not picked yet and fits.

    Parameters
    ----------
    orders : the same ids for both sides, best first.
    chars : the length of each in characters.
    """
    left, taken, picks = budget_chars, set[Id](), list[Pick[Id]]()
    first = SIDES[0]
    for place in range(places):
        first = SIDES[rng.random() < PROPENSITY] if place % 2 == 0 else _other(first)
        fitting = (i for i in orders[first] if i not in taken and chars[i] <= left)
        found = next(fitting, None)
        if found is None:  # nor is there one for the other side
            break
        taken.add(found)
        left -= chars[found]
        picks.append(Pick(found, first))
    return picks


def _other(side: Side) -> Side:
    return SIDES[side == SIDES[0]]
