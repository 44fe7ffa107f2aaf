"""Coordinates of a card's timeline: members for yes above, the others below, by time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Final

# In percent of the drawing's width.
LEFT: Final = 12.0
WIDTH: Final = 76.0
LABEL_ROOM: Final = 20.0


@dataclass(frozen=True, slots=True)
class Point:
    """One member: its horizontal position in percent, its side, and whether its date is shown."""

    number: int
    at: datetime
    x: float
    is_yes: bool
    is_labelled: bool


@dataclass(frozen=True, slots=True)
class Stretch:
    """The way from one statement to the next; `turn` is up, down, or flat on either side."""

    x: float
    width: float
    turn: str


@dataclass(frozen=True, slots=True)
class Arc:
    """The points of a story and the ways between them."""

    points: tuple[Point, ...]
    stretches: tuple[Stretch, ...]


def arc_of(story: Sequence[tuple[datetime, bool]]) -> Arc | None:
    """Return the timeline of (time, says yes) pairs, oldest first; None for fewer than two.

    Half of each distance is proportional to time and half is constant, so that simultaneous members
    stay apart.
    """
    if len(story) < 2:
        return None
    first, last = story[0][0], story[-1][0]
    span = (last - first).total_seconds()
    points: list[Point] = []
    labelled = -LABEL_ROOM
    for position, (at, is_yes) in enumerate(story):
        even = position / (len(story) - 1)
        share = (at - first).total_seconds() / span if span > 0 else even
        x = round(LEFT + WIDTH * (even + share) / 2, 2)
        is_last = position == len(story) - 1
        fits = x - labelled >= LABEL_ROOM and (is_last or LEFT + WIDTH - x >= LABEL_ROOM)
        if fits:
            labelled = x
        points.append(Point(position + 1, at, x, is_yes, fits))
    stretches = tuple(
        Stretch(a.x, round(b.x - a.x, 2), _turn(a.is_yes, b.is_yes)) for a, b in pairwise(points)
    )
    return Arc(tuple(points), stretches)


def _turn(was_yes: bool, is_yes: bool) -> str:
    if was_yes == is_yes:
        return "above" if is_yes else "below"
    return "up" if is_yes else "down"
