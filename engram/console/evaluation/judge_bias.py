"""Measure how much a judge's ratings go by a memory's place in the list, and by its length.

Place: the same memories are rated in several orders. What a memory has by itself is its mean over
the orders; the rest of each rating is set against the place, 0 the first and 1 the last. With
`balanced_orders` of four each memory stands once in each quarter of the list, so that its mean has
an equal part of each, whatever shape the bias has.

Length: a memory has one length in all orders. Ratings and lengths are each compared within the
memories of one session that a person found equally relevant; also by that relevance, because a
judge to which length means relevance raises long ones of no use, and need not raise those of use.

Intervals are of 95 %, by resampling sessions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from memories.core.metrics import RESAMPLES, Interval

Floats = NDArray[np.float64]
Sums = tuple[float, float]  # of products and of squares, of one session

CLASSES: Final = {
    "of no use": (0.0, 0.0),
    "of some use": (np.nextafter(0.0, 1.0), np.nextafter(1.0, 0.0)),
    "of use": (1.0, 1.0),
}
QUARTERS: Final = ("first", "second", "third", "fourth")
ORDERS: Final = (2, 4)


@dataclass(frozen=True, slots=True)
class RatedSession:
    """The ratings of a session's memories in several orders.

    Parameters
    ----------
    places : (orders, memories) of each memory in each order, 0 the first, 1 the last.
    ratings : (orders, memories) by the judge, 0 to 1. Orders 0 and 1, 2 and 3 are each other's
        reverse.
    lengths : (memories,) in characters, as the judge read them.
    relevance : (memories,) by a person.
    """

    places: Floats
    ratings: Floats
    lengths: Floats
    relevance: Floats


def balanced_orders(size: int, count: int, rng: np.random.Generator) -> list[list[int]]:
    """Return two or four orders of 0 … size - 1: one drawn, its reverse, and both turned by half.

    Raises
    ------
    ValueError
        When `count` is neither 2 nor 4.
    """
    if count not in ORDERS:
        raise ValueError("two orders or four")
    drawn = [int(index) for index in rng.permutation(size)]
    turned = drawn[size // 2 :] + drawn[: size // 2]
    return [drawn, drawn[::-1], turned, turned[::-1]][:count]


def places_of(orders: Sequence[Sequence[int]]) -> Floats:
    """Return where each item stands in each order, (orders, items), 0 the first and 1 the last."""
    return np.argsort(np.array(orders), axis=1) / max(1, len(orders[0]) - 1)


def position_bias(sessions: Sequence[RatedSession], rng: np.random.Generator) -> dict[str, Any]:
    """Return the slope of the rating from first to last place, and its mean by quarter.

    The same of the mean of two orders, by the place in the first of both, where there are four.
    """
    spread = max(float(np.ptp(one.ratings, axis=0).max()) for one in sessions)
    single = [(one.places, one.ratings) for one in sessions]
    found = {
        "largest difference of a memory between orders": round(spread, 4),
        **_by_place(single, rng, "one order"),
    }
    if all(len(one.ratings) == max(ORDERS) for one in sessions):
        means = [(one.places[::2], (one.ratings[::2] + one.ratings[1::2]) / 2) for one in sessions]
        found |= _by_place(means, rng, "two orders averaged")
    return found


def length_bias(sessions: Sequence[RatedSession], rng: np.random.Generator) -> dict[str, Any]:
    """Return the slope of the rating for twice the length, and its mean by quarter of lengths."""
    doublings = [np.log2(one.lengths) for one in sessions]
    pairs = [
        (_within(log, one.relevance), _within(one.ratings.mean(axis=0), one.relevance))
        for log, one in zip(doublings, sessions, strict=True)
    ]
    slopes = {"slope of the rating by twice the length": as_json(_slope(pairs, rng))}
    for name, (low, high) in CLASSES.items():
        kept = [(low <= one.relevance) & (one.relevance <= high) for one in sessions]
        parts = [(x[keep], y[keep]) for (x, y), keep in zip(pairs, kept, strict=True)]
        slopes[f"slope of the rating by twice the length, memories {name}"] = as_json(
            _slope(parts, rng)
        )
    edges = np.quantile(np.concatenate(doublings), (0.25, 0.5, 0.75))
    quarters = [np.searchsorted(edges, log, side="left") for log in doublings]
    rated = [rating for _, rating in pairs]
    return {
        **slopes,
        "rating by quarter of the lengths": _by_quarter(quarters, rated),
        "lengths between the quarters": [round(float(2**edge)) for edge in edges],
    }


def as_json(value: Interval) -> dict[str, float]:
    """Return an interval in the format of the report, in four decimals."""
    return {
        "mean": round(value.mean, 4),
        "low": round(value.low, 4),
        "high": round(value.high, 4),
        "n": value.n,
    }


def _by_place(
    rated: Sequence[tuple[Floats, Floats]], rng: np.random.Generator, name: str
) -> dict[str, Any]:
    """Return the figures of (places, ratings), each (orders, memories), of each session."""
    pairs = [(_centred(places), _centred(ratings)) for places, ratings in rated]
    quarters = [np.minimum(3, (places * 4).astype(int)) for places, _ in rated]
    return {
        f"slope of the rating from first to last place, {name}": as_json(_slope(pairs, rng)),
        f"rating by quarter of the list, {name}": _by_quarter(
            quarters, [ratings for _, ratings in pairs]
        ),
    }


def _centred(values: Floats) -> Floats:
    """Return values (orders, memories) without each memory's mean over the orders."""
    centred: Floats = values - values.mean(axis=0)
    return centred


def _within(values: Floats, classes: Floats) -> Floats:
    """Return values (memories,) without the mean of their class."""
    found = values.copy()
    for one in np.unique(classes):
        found[classes == one] -= values[classes == one].mean()
    return found


def _slope(pairs: Sequence[tuple[Floats, Floats]], rng: np.random.Generator) -> Interval:
    """Return the least squares slope over all sessions of centred (x, y), with its interval.

    0 where nothing varies.
    """
    sums = np.array([((x * y).sum(), (x * x).sum()) for x, y in pairs])
    drawn = sums[rng.integers(0, len(sums), (RESAMPLES, len(sums)))].sum(axis=1)
    total, squares = sums.sum(axis=0)
    if not squares > 0:
        return Interval(0.0, 0.0, 0.0, len(sums))
    slopes = drawn[:, 0][drawn[:, 1] > 0] / drawn[:, 1][drawn[:, 1] > 0]
    low, high = np.quantile(slopes, (0.025, 0.975))
    return Interval(float(total / squares), float(low), float(high), len(sums))


def _by_quarter(quarters: Sequence[NDArray[Any]], values: Sequence[Floats]) -> dict[str, float]:
    """Return the mean of centred values by quarter, of those that have any."""
    places = np.concatenate([one.ravel() for one in quarters])
    found = np.concatenate([one.ravel() for one in values])
    return {
        name: round(float(found[places == number].mean()), 4)
        for number, name in enumerate(QUARTERS)
        if (places == number).any()
    }
