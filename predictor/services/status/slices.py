"""Success rates of the predictor by project and by top-level scope, for display only.

The global rate may hide that the predictor ranks well for one project and badly for another.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from predictor.core.literal_rules import RATE, START
from predictor.models import Comparison, Outcome

SLICES = 5  # shown: those with the most sessions
COMPARISONS_READ = 2_000  # the newest; older ones hardly weigh in an exponential mean
WORTH = {Outcome.WIN: 1.0, Outcome.TIE: 0.5, Outcome.LOSS: 0.0}


@dataclass(frozen=True, slots=True)
class Slice:
    """The success rate of one project or top-level scope."""

    name: str
    sessions: int
    success_rate: float


@dataclass(frozen=True, slots=True)
class Slices:
    """The projects and top-level scopes with the most compared sessions."""

    projects: tuple[Slice, ...]
    scopes: tuple[Slice, ...]


def slices() -> Slices:
    """Return the slices of the current workspace."""
    newest = Comparison.objects.filter(is_evidence=True).order_by("-created_at", "-id")
    rows = list(
        newest.values_list("session__project", "session__scope", "outcome")[:COMPARISONS_READ]
    )
    rows.reverse()
    return Slices(
        projects=_most((project, outcome) for project, _, outcome in rows),
        scopes=_most((scope.partition("/")[0], outcome) for _, scope, outcome in rows),
    )


def _most(named: Iterable[tuple[str, str]]) -> tuple[Slice, ...]:
    """Return the slices with the most sessions; sessions without a name are ignored."""
    rates: dict[str, float] = defaultdict(lambda: START)
    counts: dict[str, int] = defaultdict(int)
    for name, outcome in named:
        if name:
            rates[name] = (1 - RATE) * rates[name] + RATE * WORTH[Outcome(outcome)]
            counts[name] += 1
    most = sorted(counts, key=lambda name: (-counts[name], name))[:SLICES]
    return tuple(Slice(name, counts[name], rates[name]) for name in most)
