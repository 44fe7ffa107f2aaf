"""Figures of the evidence before and after a comparison: those everybody reads, and statistics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from engram.kernel.labels import figure
from memories.core.shares import percent
from predictor.core.betting import ENOUGH, LEAST
from predictor.core.governance import DRIFT_LIMIT
from predictor.models import Comparison
from predictor.serializers.record import present_evidence


class Figure(NamedTuple):
    """A figure of the evidence: its title, its key, how it is written and what it means."""

    title: str
    key: str
    write: Callable[[Any], str]
    meaning: str = ""


def _in(shape: str) -> Callable[[float], str]:
    return lambda value: figure(value, shape)


def _has_a_say(phase: str) -> str:
    return {"ramp": "growing", "active": "yes"}.get(phase, "no")


PLAIN: Final = (
    Figure("It has a say", "phase", _has_a_say),
    Figure("Baseline’s weight", "alpha", percent),
    Figure("Success rate", "success_rate", percent),
)
STATISTICS: Final = (
    Figure(
        "Mean margin", "mean_margin", _in("+.3f"),
        "How much better the learned order was on average, newer sessions counting more.",
    ),
    Figure(
        "Standard errors above 0", "z", _in("+.2f"),
        "How far that mean lies above no difference, in steps by which chance alone moves it; 2"
        " and more are rarely chance.",
    ),
    Figure(
        "Sessions compared, after weighing", "n_eff", _in(".1f"),
        "How many sessions the mean rests on; an old one counts for less than one.",
    ),
    Figure(
        f"Evidence that its lead is above {LEAST}", "wealth", _in(".1f"),
        "An e-value: what bets on a lead of the learned order have made of a stake of 1. From"
        f" {ENOUGH:.0f} on it earns a say.",
    ),
    Figure(
        "Evidence that it has fallen", "drift_sum", _in(".2f"),
        "A CUSUM: it grows with each session in which the learned order was worse, and shrinks"
        f" with each in which it was better. Above {DRIFT_LIMIT:.0f} it loses its say.",
    ),
    Figure(
        "Baseline’s weight by the fixed rule", "literal_alpha", percent,
        "What a simpler rule would give, for comparison; it changes nothing.",
    ),
)  # fmt: skip


class Change(NamedTuple):
    """A figure before and after a comparison, as the page writes it; "–" where there is none."""

    title: str
    before: str
    after: str
    meaning: str


def changes_of(
    figures: Sequence[Figure], before: Comparison | None, after: Comparison
) -> list[Change]:
    """Return what a comparison changed in figures of the evidence."""
    then = {} if before is None else present_evidence(before)
    now = present_evidence(after)
    return [
        Change(
            one.title, _written(one, then.get(one.key)), _written(one, now[one.key]), one.meaning
        )
        for one in figures
    ]


def _written(one: Figure, value: Any) -> str:
    return "–" if value is None else one.write(value)
