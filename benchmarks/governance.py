"""How often are the rules of influence wrong?

    BENCH_SIZE=full PYTHONPATH=. python benchmarks/governance.py [RUNS] [FILE.json]

Streams of margins are drawn from a normal distribution (cut to [-1, 1]): ten sessions before the
first training, then 290 with a mean and a deviation, or 100 and then 60 after a fall from 0.12 to
-0.15; as they are, each correlated by 0.3 with the one before, with 40 % of them ties, or with 30 %
of the sessions void. Ties lower the mean; with `same mean` the other margins are larger by as much.
At means of at most 0 the streams have 1,000 sessions. Each rule set says what it would have done;
the one that serves is `predictor.core.governance`, and the arrays here are held to it, run by run.
It sees the margins of those sessions only whose lists are drafted, with the probability that it
asks for; the others see all. Figures are shares of runs in percent, medians, and what the sessions
of a run gained in the mean: the margin times the ranker's share of influence.
What exposure does to margins, and what drafts cost, is measured by `benchmarks/exposure.py`.
"""

import json
import os
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from math import erf
from pathlib import Path

import numpy as np

from predictor.core.betting import (
    BEYOND,
    ENOUGH,
    FADING,
    FIRST,
    HOPED,
    LATER,
    LEAST,
    LEAST_LOSS,
    MOST_CORRELATION,
    MOST_LOST,
    MOST_WEALTH,
    USUAL_CORRELATION,
    USUAL_COUNT,
    USUAL_SPREAD,
)
from predictor.core.governance import (
    ALARM,
    COLD_SHARE,
    DOUBTFUL_SHARE,
    DOUBTFUL_Z,
    DRIFT_LIMIT,
    DRIFT_SLACK,
    HARMFUL_SHARE,
    HARMFUL_Z,
    MIN_OUT_OF_SAMPLE,
    SERVING_SHARE,
    Governor,
    SessionOutcome,
)

IS_FULL = os.environ.get("BENCH_SIZE", "full") == "full"
RUNS, HELD_RUNS = (2000, 10) if IS_FULL else (40, 1)
COLD = 10  # sessions before the first training
SESSIONS, LONG, BEFORE, AFTER = (290, 990, 90, 60) if IS_FULL else (60, 90, 90, 60)
HELD_SESSIONS = 290
FALLEN = -0.15
MEANS = (-0.15, -0.1, -0.05, 0.0, 0.05, 0.1, 0.12, 0.3)
DEVIATIONS = (0.15, 0.25, 0.35) if IS_FULL else (0.25,)
STREAMS = {  # shares of ties and of void sessions, and the correlation with the one before
    "plain": (0.0, 0.0, 0.0),
    "correlated": (0.0, 0.0, 0.3),
    "40 % ties": (0.4, 0.0, 0.0),
    "30 % void": (0.0, 0.3, 0.0),
}
SAME_MEAN = ", same mean"  # the other margins are larger by what ties take from the mean
PHI = np.vectorize(lambda z: 0.5 * (1 + erf(z / 2**0.5)))


@dataclass(frozen=True)
class GovernorRules:
    """A rule set: the z to leave cold start, None for bets; whether a reset in cold start clears
    evidence, and whether there is one only; whether drift is measured by how much margins vary, or
    by 0.25; whether what a margin says is less where it follows the one before; and whether only
    drafted lists count, and ties change nothing in the cumulative sum."""

    name: str
    exit_z: float | None = None
    clears_cold: bool = False
    is_once_cold: bool = True
    is_scaled: bool = True
    is_innovation: bool = True
    is_drafted: bool = True
    drift_limit: float = DRIFT_LIMIT
    slack: float = DRIFT_SLACK


BEFORE_DRAFTS = {"is_drafted": False, "slack": 0.05}
SERVED = GovernorRules("served")
RULES = (
    SERVED,
    GovernorRules(
        "served before: z above 2", 2.0, is_innovation=False, drift_limit=8, **BEFORE_DRAFTS
    ),
    GovernorRules(
        "as first written", 1.645, True, False, False, False, drift_limit=8, **BEFORE_DRAFTS
    ),
)


@dataclass
class RunsTrace:
    """What happened in runs × sessions: α, whether it was active, resets of an active one and of
    one in cold start, and whether the list was drafted."""

    alpha: np.ndarray
    is_active: np.ndarray
    is_reset: np.ndarray
    is_cold_reset: np.ndarray
    is_drafted: np.ndarray

    @classmethod
    def zeros(cls, shape: tuple[int, int]) -> "RunsTrace":
        """Return arrays of zeros, to be filled in."""
        return cls(*(np.zeros(shape, kind) for kind in (float, bool, bool, bool, bool)))


def draw_coins(shape: tuple[int, int]) -> np.ndarray:
    """Return the numbers below which a draft share must not lie for a list to be drafted."""
    return np.random.default_rng([9, *shape]).random(shape)


def draft_shares(is_active: np.ndarray, drift: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Return the probability of a draft, as `predictor.core.governance` does."""
    doubtful = np.where(z > HARMFUL_Z, DOUBTFUL_SHARE, HARMFUL_SHARE)
    cold = np.where(z > DOUBTFUL_Z, COLD_SHARE, doubtful)
    return np.where(is_active, np.where(drift > ALARM, COLD_SHARE, SERVING_SHARE), cold)


def run_rules(
    margins: np.ndarray, rules: GovernorRules, serving: np.ndarray | None = None
) -> RunsTrace:
    """Run a rule set over (runs, sessions) margins, NaN where void, all runs at once.

    `serving` are the margins as they are measured where the ranker serves, if they differ.
    """
    runs, sessions = margins.shape
    coins = draw_coins(margins.shape)
    sums = np.zeros((6, runs))  # weights, squared weights, margins, squares, steps; the last margin
    discounts = np.array([0.97, 0.97**2, 0.97, 0.97, 0.97, 0.0])[:, None]
    drift, compared, active, resets = (np.zeros(runs) for _ in range(4))
    # Wealth, count, sums of x, x², x times the one before; the last x, the largest loss.
    bets = np.zeros((7, runs))
    is_active = np.zeros(runs, bool)
    ran = RunsTrace.zeros(margins.shape)
    for step in range(sessions):
        told = margins[:, step]
        told = told if serving is None else np.where(is_active, serving[:, step], told)
        is_compared = ~np.isnan(told)
        if rules.is_drafted:
            enough = np.where(compared < MIN_OUT_OF_SAMPLE, 0, z_scores(sums))
            ran.is_drafted[:, step] = coins[:, step] < draft_shares(is_active, drift, enough)
            is_compared &= ran.is_drafted[:, step]
        x = np.where(is_compared, told, 0.0)
        one = np.ones(runs)
        added = discounts * sums + np.array([one, one, x, x * x, (x - sums[5]) ** 2 / 2, x])
        sums = np.where(is_compared, added, sums)
        active += is_active
        compared += is_compared
        rho = correlations(bets) if rules.is_innovation else np.zeros(runs)
        before = np.where(bets[1] > 0, rho * (bets[5] + rules.slack), 0)
        noise = np.maximum(0.0625, (20 * 0.0625 + sums[4] / (1 - rho)) / (20 + sums[0]))
        scale = (noise / 0.25 if rules.is_scaled else 0.25) * (1 + rho)
        counts = is_compared & (x != 0) if rules.is_drafted else is_compared
        fallen = np.maximum(0, drift - (x + rules.slack - before) / scale)
        drift = np.where(counts, fallen, drift)
        bets = np.where(is_compared, after_bet(bets, x), bets)
        drift[rules.is_once_cold & ~is_active & (resets > 0)] = 0
        falls = drift > rules.drift_limit
        drift[falls] = 0
        resets += falls
        cleared = falls & (is_active | rules.clears_cold)
        for values in (compared, active, *sums, *bets):
            values[cleared] = 0
        ran.is_reset[:, step] = falls & is_active
        ran.is_cold_reset[:, step] = falls & ~is_active
        is_active &= ~falls
        z = z_scores(sums)
        is_enough = bets[0] >= ENOUGH if rules.exit_z is None else z > rules.exit_z
        leaves = ~is_active & (compared >= MIN_OUT_OF_SAMPLE) & is_enough
        active[leaves] = 0
        is_active |= leaves
        floor = np.where(active < 10, 0.8, np.where(active < 20, 0.6, 0.1))
        earned = np.clip(1 - 0.9 * PHI(z), 0.1, 1)
        ran.alpha[:, step] = np.where(is_active, np.maximum(earned, floor), 1.0)
        ran.is_active[:, step] = is_active
    return ran


def correlations(bets: np.ndarray) -> np.ndarray:
    """Return the correlation of a margin with the one before, as `predictor.core.betting` does."""
    mean = bets[2] / np.maximum(bets[1], 1)
    covariance = bets[4] - np.maximum(bets[1] - 1, 0) * mean**2 + USUAL_SPREAD * USUAL_CORRELATION
    return np.clip(covariance / spreads(bets), 0, MOST_CORRELATION)


def spreads(bets: np.ndarray) -> np.ndarray:
    """Return the sums of squared deviations, with that of the usual margins."""
    mean = bets[2] / np.maximum(bets[1], 1)
    return np.maximum(bets[3] - bets[1] * mean**2, 0) + USUAL_SPREAD


def after_bet(bets: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return the state of the bets after one more margin."""
    wealth, count, total, squares, products, last, worst = bets
    rho = correlations(bets)
    later = LATER / ((count + LATER) * (count + LATER + 1))
    joining = (1 - FIRST) * later + np.where(count, 0, FIRST)
    hoped = (1 - rho) * HOPED
    variance = (1 - rho**2) * spreads(bets) / (count + USUAL_COUNT)
    bound = np.minimum(
        1, np.maximum.reduce([BEYOND * worst, 1 - count / FADING, 0 * x + LEAST_LOSS])
    )
    stake = np.minimum(MOST_LOST / bound, hoped / (variance + hoped**2))
    own, before = (np.where(margins == 0, 0, margins - LEAST) for margins in (x, last))
    excess = own - rho * before
    wealth = np.minimum(MOST_WEALTH, (wealth + joining) * (1 + stake * np.maximum(-bound, excess)))
    sums = total + x, squares + x * x, products + x * last
    return np.array([wealth, count + 1, *sums, x, np.maximum(worst, -excess)])


def z_scores(sums: np.ndarray) -> np.ndarray:
    """Return how many standard errors each mean margin lies above 0."""
    weight = np.where(sums[0] > 0, sums[0], 1)
    mean = sums[2] / weight
    variance = np.maximum(sums[3] / weight - mean**2, 1e-4) + 0.01 / weight
    n_eff = weight**2 / np.where(sums[1] > 0, sums[1], 1)
    return np.where(sums[0] > 0, mean / np.sqrt(variance / n_eff), 0)


def run_source_rules(margins: np.ndarray) -> RunsTrace:
    """Run the source document's rules: a tie loses, a reset sets the success rate to a half."""
    runs, sessions = margins.shape
    rate, low, active = np.full(runs, 0.5), np.zeros(runs), np.zeros(runs)
    ever = np.zeros(runs, bool)
    recent = np.full((runs, 10), np.nan)
    ran = RunsTrace.zeros(margins.shape)
    for step in range(sessions):
        active += ever
        is_compared = ~np.isnan(margins[:, step])
        won = (margins[:, step] > 1e-9).astype(float)
        rate = np.where(is_compared, 0.9 * rate + 0.1 * won, rate)
        recent = np.where(is_compared[:, None], np.column_stack([recent[:, 1:], won]), recent)
        ever |= recent.mean(axis=1) > 0.4  # NaN until there are ten
        low = np.where(is_compared, np.where(rate < 0.3, low + 1, 0), low)
        falls = low >= 10
        rate[falls], low[falls] = 0.5, 0
        floor = np.where(active < 10, 0.8, np.where(active < 20, 0.6, 0.0))
        ran.alpha[:, step] = np.where(ever, np.maximum(1 - rate, floor), 1.0)
        ran.is_active[:, step] = ever
        ran.is_reset[:, step] = falls & ever
    return ran


def draw_margins(
    mean: float, deviation: float, shape: tuple[int, int], seed: int, stream: str
) -> np.ndarray:
    """Draw (runs, sessions) margins; NaN is void."""
    ties, void, correlation = STREAMS[stream.removesuffix(SAME_MEAN)]
    mean = mean / (1 - ties) if stream.endswith(SAME_MEAN) else mean
    rng = np.random.default_rng([seed, shape[0]])
    noise = rng.normal(0, deviation, shape)
    for step in range(1, shape[1] if correlation else 0):
        noise[:, step] *= (1 - correlation**2) ** 0.5
        noise[:, step] += correlation * noise[:, step - 1]
    margins = (mean + noise).clip(-1, 1)
    kind = rng.random(shape)
    return np.where(kind < ties, 0.0, np.where(kind < ties + void, np.nan, margins))


def check_against_governor(margins: np.ndarray) -> None:
    """Compare the arrays with the governor that serves."""
    ran, coins = run_rules(margins, RULES[0]), draw_coins(margins.shape)
    for run, row in enumerate(margins):
        governor = Governor.initial()
        for _ in range(COLD):
            governor = governor.update(SessionOutcome(None, "not trained"))
        for step, x in enumerate(row):
            margin_and_reason = (None, "flat") if np.isnan(x) else (float(x), "")
            is_drafted = bool(coins[run, step] < governor.draft_share)
            one = SessionOutcome(
                *margin_and_reason, is_trained=True, is_out_of_sample=True, is_drafted=is_drafted
            )
            governor = governor.update(one)
            assert abs(governor.alpha - ran.alpha[run, step]) < 1e-9, (run, step)
            is_reset = ran.is_reset[run, step] | ran.is_cold_reset[run, step]
            assert governor.is_reset == is_reset, (run, step)


def mean_gain(ran: RunsTrace, mean: float) -> float:
    """Return what a session gained in the mean by the weight that those before it had earned."""
    return round(float((1 - ran.alpha[:, :-1]).mean()) * mean, 4) + 0.0  # no -0.0


def summarise(ran: RunsTrace, margins: np.ndarray, mean: float) -> dict[str, float | None]:
    """Sum up runs at one mean margin."""
    left = ran.is_active.any(axis=1)
    first = ran.is_active.argmax(axis=1)[left]
    told = ~np.isnan(margins) & (ran.is_drafted if ran.is_drafted.any() else True)
    until = np.cumsum(told[left], axis=1)[np.arange(len(first)), first]
    is_fallen = (ran.is_reset | ran.is_cold_reset).any(axis=1)
    active = ran.is_active[:, :-1]
    return {
        "left_cold_start": round(100 * left.mean(), 2),
        "median_session_of_it": float(np.median(first)) + COLD + 1 if left.any() else None,
        "median_compared_then": float(np.median(until)) if left.any() else None,
        "fall_called": round(100 * is_fallen.mean(), 2),
        "drafted_cold": share_of(ran.is_drafted[:, 1:], ~active),
        "drafted_active": share_of(ran.is_drafted[:, 1:], active),
        "gained_over_20_percent": round(100 * (ran.alpha < 0.8 - 1e-9).any(axis=1).mean(), 2),
        "lost_it_by_a_reset": round(100 * ran.is_reset.any(axis=1).mean(), 2),
        "resets_in_cold_start": round(float(ran.is_cold_reset.sum(axis=1).mean()), 2),
        "mean_alpha_at_the_end": round(float(ran.alpha[:, -1].mean()), 3),
        "mean_gain": mean_gain(ran, mean),
    }


def share_of(values: np.ndarray, among: np.ndarray) -> float | None:
    """Return the share of true values, in percent; None among nothing."""
    return round(100 * float(values[among].mean()), 1) if among.any() else None


def summarise_fall(ran: RunsTrace) -> dict[str, float | None]:
    """Sum up how long a fall of an active predictor goes unnoticed."""
    was_active = ran.is_active[:, BEFORE - 1]
    resets = ran.is_reset[was_active, BEFORE:]
    if not was_active.any():
        return dict.fromkeys(("median_sessions_to_a_reset", "found_within_60", "mean_gain"))
    seen = resets.any(axis=1)
    delays = np.where(seen, resets.argmax(axis=1) + 1, np.inf)
    median = float(np.median(delays))
    after = RunsTrace(ran.alpha[was_active, BEFORE - 1 :], *(np.zeros((0, 0)),) * 4)
    return {
        "median_sessions_to_a_reset": median if np.isfinite(median) else None,
        "found_within_60": round(100 * float(seen.mean()), 2),
        "mean_gain": mean_gain(after, FALLEN),
    }


def measure_rules(
    name: str, run: Callable[[np.ndarray], RunsTrace], deviation: float, stream: str, runs: int
):
    """Return and print what a rule set does on one kind of stream."""
    margins = {}
    for mean in MEANS:
        shape = (runs, LONG if mean <= 0 else SESSIONS)
        drawn = draw_margins(mean, deviation, shape, 2, stream)
        margins[mean] = summarise(run(drawn), drawn, mean)
    good = draw_margins(0.12, deviation, (runs, BEFORE), 3, stream)
    fallen = draw_margins(FALLEN, deviation, (runs, AFTER), 4, stream)
    fall = summarise_fall(run(np.column_stack([good, fallen])))
    print(f"\n{name}, deviation {deviation}, {stream}; fall from 0.12 to {FALLEN}: {fall}")
    for mean, figures in margins.items():
        print(f"  {mean:+.2f}", *(f"{key} {value}" for key, value in figures.items()))
    row = {"rules": name, "deviation": deviation, "stream": stream}
    return {**row, "margins": margins, "fall": fall}


def main() -> None:
    """Print the tables, and write them to a file if one is named."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    for stream in STREAMS:
        for mean, deviation in ((0.0, 0.25), (0.05, 0.35), (-0.15, 0.25)):
            check_against_governor(
                draw_margins(mean, deviation, (HELD_RUNS, HELD_SESSIONS), 1, stream)
            )
    sets = [(rules.name, partial(run_rules, rules=rules)) for rules in RULES]
    result = [
        measure_rules(name, run, deviation, stream, runs)
        for stream in (*STREAMS, "40 % ties" + SAME_MEAN)
        for deviation in DEVIATIONS
        for name, run in [*sets, ("source document", run_source_rules)]
    ]
    if len(sys.argv) > 2:
        report = {"runs": runs, "rules": [asdict(rules) for rules in RULES], "results": result}
        Path(sys.argv[2]).write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
