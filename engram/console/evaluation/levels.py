"""Say which of the project's levels the figures of a run reach.

Levels are of the figures themselves, not of their intervals: of a small file read both.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from engram.console.evaluation.outcome import Figure

Level = Mapping[str, float]  # by figure: at least, or at most where lower is better

DRIFT: Final[Mapping[str, Level]] = {
    "first level": {"precision": 0.85, "recall": 0.7, "before_flagged": 0.05},
    "goal": {"precision": 0.95, "recall": 0.9, "before_flagged": 0.02},
}
EXTRACTION: Final[Mapping[str, Level]] = {
    "first level": {"precision": 0.6, "recall": 0.4, "refusals_stored": 0.1},
    "goal": {"precision": 0.8, "recall": 0.6, "refusals_stored": 0.05},
}


def levels_met(figures: Mapping[str, Figure], levels: Mapping[str, Level]) -> dict[str, str]:
    """Return by level "met", what misses it, or what of it the file does not measure."""
    return {name: _verdict(figures, level) for name, level in levels.items()}


def _verdict(figures: Mapping[str, Figure], level: Level) -> str:
    measured = {name: figures[name] for name in level if name in figures}
    missed = [_missed(name, figure, level[name]) for name, figure in measured.items()]
    if reasons := "; ".join(filter(None, missed)):
        return f"missed: {reasons}"
    left = [name for name in level if name not in measured]
    return f"not measured: {', '.join(left)}" if left else "met"


def _missed(name: str, figure: Figure, bound: float) -> str:
    """Return why a figure misses a bound, "" when it does not."""
    mean = figure.value.mean
    if figure.is_lower_better:
        return f"{name} {mean:.3f} above {bound:g}" if mean > bound else ""
    return f"{name} {mean:.3f} below {bound:g}" if mean < bound else ""
