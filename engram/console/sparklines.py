"""Small line charts as SVG paths: 240 wide, 56 high, unknown values left open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

WIDTH, HEIGHT = 240, 56
MOST_ALONE = 10  # width of the line of one value


@dataclass(frozen=True, slots=True)
class Sparkline:
    """Values from left to right as SVG paths, scaled to the largest; None is unknown."""

    values: tuple[float | None, ...]
    line: str
    area: str

    @property
    def peak(self) -> float:
        """Return the largest known value; 0 without any."""
        return max((value for value in self.values if value is not None), default=0)

    @property
    def is_single(self) -> bool:
        """Return whether one value alone is known, which is no course."""
        return sum(value is not None for value in self.values) == 1


def sparkline(values: Sequence[float | None]) -> Sparkline:
    """Draw values; the area is filled only where all of them are known."""
    peak = max((value for value in values if value is not None), default=0) or 1
    step = WIDTH / max(len(values) - 1, 1)
    values = list(values)
    drawn: list[str] = []
    is_open = False
    for index, value in enumerate(values):
        if value is None:
            is_open = False
            continue
        x, y = round(index * step, 1), round(HEIGHT - 3 - (HEIGHT - 6) * value / peak, 1)
        is_alone = not is_open and values[index + 1 : index + 2] in ([], [None])
        # A value between unknown ones is a short level line: a dot looks like dirt.
        width = min(step, MOST_ALONE) if is_alone else 0
        left = max(0, min(x - width / 2, WIDTH - width))
        begun = f"M{left:g} {y}L{left + width:g} {y}" if is_alone else f"M{x} {y}L{x} {y}"
        drawn.append(f"L{x} {y}" if is_open else begun)
        is_open = True
    line = "".join(drawn)
    is_whole = bool(values) and None not in values
    area = f"{line}L{WIDTH} {HEIGHT}L0 {HEIGHT}Z" if is_whole else ""
    return Sparkline(tuple(values), line, area)
