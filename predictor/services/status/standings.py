"""Measure how each ranker orders the judged candidates of sessions, by nDCG@10.

Unjudged is unknown, never 0: an order of whose first ten too few were judged has no figure of its
own, and a figure over few sessions says little.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from typing import Any, Final, NamedTuple
from uuid import UUID

import numpy as np

from predictor.core.comparison import TOP
from predictor.core.metrics import Interval, bootstrap, ndcg

ENOUGH_JUDGED = 0.9
ENOUGH_SESSIONS = 10
Row = Mapping[str, Any]
# The sort key of each ranker's order, best first; None where it has no opinion on a candidate.
RANKERS: Final[Mapping[str, Callable[[Row], float | None]]] = {
    "source": lambda row: _descending(row["effectiveness"]),
    "cosine": lambda row: _descending(row["cosine"]),
    "baseline": lambda row: row["baseline_rank"],
    "linear": lambda row: _descending(row["linear_score"]),
    "model": lambda row: row["predictor_rank"],
    "served": lambda row: row["rank"],
}
BASELINE: Final = "baseline"


class Measured(NamedTuple):
    """One order in one session: its nDCG@10, and the share of its first ten that was judged."""

    ndcg: float
    judged_share: float


@dataclass(frozen=True, slots=True)
class Standing:
    """One ranker: mean nDCG@10 of the judged memories, and its mean difference to the baseline.

    `ndcg.n` is the number of sessions in which it has an order, `gain.n` of those compared.
    `gain` is paired over the sessions that both ordered; None for the baseline itself, and without
    such sessions. `judged_share` is the share of its first ten that the judge has rated.
    """

    ranker: str
    ndcg: Interval
    gain: Interval | None
    judged_share: float

    @property
    def is_known(self) -> bool:
        """Return whether enough of its first ten were judged to speak of its quality."""
        return self.judged_share >= ENOUGH_JUDGED

    @property
    def is_enough(self) -> bool:
        """Return whether it has an order in enough sessions to speak of its quality."""
        return self.ndcg.n >= ENOUGH_SESSIONS


def measure(rows: Sequence[Row], relevance: Mapping[UUID, float]) -> dict[str, Measured]:
    """Return the figures of the rankers that have an order of a session's candidates, by name.

    Empty where no candidate is of any use. `relevance` is by memory, of those judged.
    """
    judged = {i: relevance[i] for row in rows if (i := row["memory_id"]) in relevance}
    found: dict[str, Measured] = {}
    if not any(worth > 0 for worth in judged.values()):
        return found
    for name, key_of in RANKERS.items():
        keyed = [(key, row["memory_id"]) for row in rows if (key := key_of(row)) is not None]
        if keyed:
            first = nsmallest(TOP, keyed)
            order = [memory for _, memory in sorted(pair for pair in keyed if pair[1] in judged)]
            share = sum(pair[1] in judged for pair in first) / len(first)
            found[name] = Measured(ndcg(order, judged, TOP), share)
    return found


def standings(
    sessions: Sequence[Mapping[str, Measured]], rng: np.random.Generator
) -> tuple[Standing, ...]:
    """Return the rankers that have an order in some of these sessions, with their figures."""
    named = (name for name in RANKERS if any(name in one for one in sessions))
    return tuple(_stand(name, [one for one in sessions if name in one], rng) for name in named)


def _stand(
    name: str, sessions: Sequence[Mapping[str, Measured]], rng: np.random.Generator
) -> Standing:
    own = bootstrap([one[name].ndcg for one in sessions], rng=rng)
    differences = [one[name].ndcg - one[BASELINE].ndcg for one in sessions if BASELINE in one]
    is_compared = name != BASELINE and differences
    return Standing(
        ranker=name,
        ndcg=own,
        gain=bootstrap(differences, rng=rng) if is_compared else None,
        judged_share=float(np.mean([one[name].judged_share for one in sessions])),
    )


def _descending(value: float | None) -> float | None:
    return None if value is None else -value
