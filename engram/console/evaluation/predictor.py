"""Evaluate the learned ranker and its governance on simulated users: `--predictor`.

Users are simulated (`engram.console.evaluation.simulation`), in the worlds for reports, which were
not used for tuning. Rankings are measured against the truth, by nDCG@10 over sessions after the
training sessions; the model's learning curve is reported with that of the closed form and with
bounds. Then an oracle, a random ranker and the model are served under the rules of governance, by
lists that are drafted as often as in the product, and told as the status tells them.

Intervals are over users: sessions of one user are not independent of each other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np

from engram.console.evaluation.lines import InputError
from engram.console.evaluation.outcome import Figure, ModeResult
from engram.console.evaluation.simulation import curves
from engram.console.evaluation.simulation.governed import FixedRanker, GovernedSession, govern
from engram.console.evaluation.simulation.plans import REPORT, REPORT_SEEDS
from engram.console.evaluation.simulation.sessions import SimulatedSession
from memories.core.metrics import Interval, bootstrap, bootstrap_ratio
from predictor.core import rankers
from predictor.core.recipe import Recipe
from predictor.services.status.drafted_lists import describe_distance, missing_sessions

SEEDS, SESSIONS = 2, 100
SEEDS_MAX, SESSIONS_MAX = 100, 2000
WORLDS = ("habits", "across", "life")
GOVERNED_WORLD = "life"
RANKED_MAX = 50
LISTS = {"drafted": True, "other": False}
MAKERS: dict[str, curves.Maker] = {
    "model": lambda known, rng: rankers.model(known.embeddings, known.texts, rng=rng),
    "ridge": lambda known, rng: rankers.ridge(known.embeddings, known.texts, rng=rng),
}


@dataclass(frozen=True, slots=True)
class Extent:
    """The number of users of each kind, and of sessions per user.

    Raises
    ------
    InputError
        When a number is below 1 or too large.
    """

    seeds: int
    sessions: int

    def __post_init__(self) -> None:
        """Check the numbers."""
        if not 1 <= self.seeds <= SEEDS_MAX:
            raise InputError(f"--seeds must be 1 to {SEEDS_MAX}")
        if not 1 <= self.sessions <= SESSIONS_MAX:
            raise InputError(f"--sessions must be 1 to {SESSIONS_MAX}")

    @property
    def worlds(self) -> list[int]:
        """Return the seeds."""
        return [REPORT_SEEDS[0] + i for i in range(self.seeds)]

    @property
    def checkpoints(self) -> list[int]:
        """Return the numbers of sessions after which rankers are measured."""
        return [*(n for n in curves.CHECKPOINTS if n < self.sessions), self.sessions]

    def steps(self) -> int:
        """Return the number of steps of the progress bar."""
        fits = len(WORLDS) * len(MAKERS) * len(self.checkpoints)
        return self.seeds * (fits + len(_governed_rankers()))


def run(extent: Extent, *, seed: int, advance: Callable[[int], object]) -> ModeResult:
    """Measure learning curves and governed runs."""
    rows: list[dict[str, Any]] = []
    figures: dict[str, Figure] = {}
    rng = np.random.default_rng(seed)
    for world in WORLDS:
        found = [
            curves.run(
                REPORT[world],
                user,
                MAKERS,
                checkpoints=extent.checkpoints,
                advance=advance,
                record=partial(_keep, rows, f"{world}/{user}"),
            )
            for user in extent.worlds
        ]
        figures |= _curve_figures(world, found, rng)
    lives: dict[str, list[list[GovernedSession]]] = defaultdict(list)
    for name, fixed in _governed_rankers().items():
        for user in extent.worlds:
            plan = REPORT[GOVERNED_WORLD]
            lives[name].append(govern(plan, user, sessions=extent.sessions, fixed=fixed))
            advance(1)
    figures |= _governed_figures(lives, rng)
    details = {
        "worlds": ", ".join(WORLDS),
        "seeds": ", ".join(map(str, extent.worlds)),
        "sessions": extent.sessions,
        "tests a user": curves.TESTS,
        "recipe": asdict(Recipe()),
        "left cold start": {name: _influence_starts(steps) for name, steps in lives.items()},
        "compared in drafted lists": {name: _count_drafted(steps) for name, steps in lives.items()},
        "status says": {name: _last_words(steps) for name, steps in lives.items()},
    }
    return ModeResult("predictor", figures, rows, details)


def _governed_rankers() -> dict[str, FixedRanker | None]:
    chance = rankers.Random(0)

    def by_chance(session: SimulatedSession) -> Any:
        return chance.score(session.context, session.candidates)

    return {"oracle": lambda session: session.relevance, "random": by_chance, "model": None}


def _curve_figures(
    world: str, found: Sequence[curves.Curves], rng: np.random.Generator
) -> dict[str, Figure]:
    figures = {
        f"{world}: {name}": Figure(_over_users([one.bounds[name] for one in found], rng))
        for name in found[0].bounds
    }
    for name, by_sessions in found[0].learned.items():
        for n in by_sessions:
            values = [one.learned[name][n] for one in found]
            figures[f"{world}: {name} after {n}"] = Figure(_over_users(values, rng))
    return figures


def _over_users(values: Sequence[Sequence[float]], rng: np.random.Generator) -> Interval:
    """Return the mean of all users' sessions; users are drawn anew for the interval."""
    return bootstrap_ratio([sum(v) for v in values], [len(v) for v in values], rng=rng)


def _governed_figures(
    lives: Mapping[str, Sequence[Sequence[GovernedSession]]], rng: np.random.Generator
) -> dict[str, Figure]:
    """Return the largest influence of each ranker, the gain of its sessions, and the margins.

    The margins are as judged, of drafted lists, which influence depends on, and of the others.
    """
    figures = {}
    for name, users in lives.items():
        influence = [1 - min(step.alpha for step in steps) for steps in users]
        gain = [float(np.mean([s.served - s.baseline for s in steps])) for steps in users]
        figures[f"{name}: largest influence"] = Figure(
            bootstrap(influence, rng=rng), is_lower_better=name == "random"
        )
        figures[f"{name}: gain over the baseline"] = Figure(bootstrap(gain, rng=rng))
        for kind, is_drafted in LISTS.items():
            margins = [_margins(steps, is_drafted=is_drafted) for steps in users]
            if any(margins):
                figures[f"{name}: margin in {kind} lists"] = Figure(_over_users(margins, rng))
    return figures


def _margins(steps: Sequence[GovernedSession], *, is_drafted: bool) -> list[float]:
    """Return the margins of the sessions whose list was drafted, or was not."""
    return [s.margin for s in steps if s.margin is not None and s.is_drafted is is_drafted]


def _count_drafted(users: Sequence[Sequence[GovernedSession]]) -> str:
    """Return for each user in how many of the compared sessions the list was drafted."""
    told = []
    for steps in users:
        drafted, others = (len(_margins(steps, is_drafted=one)) for one in (True, False))
        told.append(f"{drafted} of {drafted + others}")
    return ", ".join(told)


def _last_words(users: Sequence[Sequence[GovernedSession]]) -> str:
    """Return for each user what the status would say at the end of how far adoption is."""
    last = [steps[-1].governor for steps in users if steps]
    said = (describe_distance(one, missing_sessions(one), mode="on") for one in last)
    return " | ".join(said)


def _influence_starts(users: Sequence[Sequence[GovernedSession]]) -> str:
    """Return for each user the first session in which the predictor had influence."""
    first = [next((n for n, s in enumerate(steps, 1) if s.alpha < 1), None) for steps in users]
    return " ".join("never" if n is None else str(n) for n in first)


def _keep(rows: list[dict[str, Any]], user: str, ranked: curves.Ranked) -> None:
    session = ranked.session
    ids = session.ids.tolist()
    gains = zip(ids, session.relevance.tolist(), strict=True)
    rows.append(
        {
            "id": f"{user}/{session.index}",
            "ranker": ranked.ranker,
            "sessions": ranked.learned_from,
            "ranked": [ids[i] for i in ranked.order[:RANKED_MAX]],
            "relevance": {str(i): round(gain, 4) for i, gain in gains if gain > 0},
        }
    )
