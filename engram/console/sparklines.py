"""Small charts as SVG paths, 240 wide and 56 high: a line, or columns where values are unknown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

WIDTH, HEIGHT = 240, 56
MARGIN = 3  # above the largest value, and below 0
COLUMN = 0.7  # of the width of a step


@dataclass(frozen=True, slots=True)
class Sparkline:
    """Values from left to right as SVG paths, scaled to the largest; None is unknown.

    With unknown values among them there is no line: each known one is a column of `columns`.
    """

    values: tuple[float | None, ...]
    line: str = ""
    area: str = ""
    columns: str = ""

    @property
    def peak(self) -> float:
        """Return the largest known value; 0 without any."""
        return max((value for value in self.values if value is not None), default=0)

    @property
    def is_single(self) -> bool:
        """Return whether one value alone is known, which is no course."""
        return sum(value is not None for value in self.values) == 1


def sparkline(values: Sequence[float | None]) -> Sparkline:
    """Draw values: as a line over a filled area, or as columns if any of them is unknown."""
    known = [value for value in values if value is not None]
    peak = max(known, default=0) or 1
    heights = [None if value is None else _height(value / peak) for value in values]
    if None in heights or not heights:
        return Sparkline(tuple(values), columns=_columns(heights))
    step = WIDTH / max(len(values) - 1, 1)
    points = [f"{index * step:.1f} {y}" for index, y in enumerate(heights)]
    line = f"M{points[0]}L" + "L".join(points)
    return Sparkline(tuple(values), line, f"{line}L{WIDTH} {HEIGHT}L0 {HEIGHT}Z")


def _height(share: float) -> float:
    return round(HEIGHT - MARGIN - (HEIGHT - 2 * MARGIN) * share, 1)


def _columns(heights: Sequence[float | None]) -> str:
    """Return the outlines of the columns; that of 0 is as high as the margin."""
    step = WIDTH / max(len(heights), 1)
    lefts = [(index + (1 - COLUMN) / 2) * step for index in range(len(heights))]
    return "".join(
        f"M{left:.1f} {HEIGHT}V{y}H{left + COLUMN * step:.1f}V{HEIGHT}Z"
        for left, y in zip(lefts, heights, strict=True)
        if y is not None
    )
