"""How often are the rules of influence wrong?

    PYTHONPATH=. python benchmarks/governance.py [RUNS] [FILE.json]

Streams of margins are drawn from a normal distribution (cut to [-1, 1]): ten sessions before the
first training, then 290 with a mean and a deviation, or 100 and then 60 after a fall to -0.15.
Each rule set says what it would have done; the one that serves is `predictor.core.governance`, and
the arrays here are held to it, run by run. Figures are shares of runs in percent, and medians.
"""

import json
import sys
from dataclasses import asdict, dataclass
from math import erf
from pathlib import Path

import numpy as np

from predictor.core.governance import EXIT_Z, MIN_OUT_OF_SAMPLE, Comparison, Governor

COLD = 10  # sessions before the first training
SESSIONS, BEFORE, AFTER = 290, 90, 60
FALLEN = -0.15
MEANS = (-0.15, -0.1, -0.05, 0.0, 0.05, 0.12, 0.3)
DEVIATIONS = (0.15, 0.25, 0.35)
PHI = np.vectorize(lambda z: 0.5 * (1 + erf(z / 2**0.5)))


@dataclass(frozen=True)
class Rules:
    """A rule set: z to leave cold start, and whether a reset in cold start clears evidence."""

    name: str
    exit_z: float
    clears_cold: bool


RULES = (
    Rules("served", EXIT_Z, clears_cold=False),
    Rules("served, exit at 1.645", 1.645, clears_cold=False),
    Rules("as first written", 1.645, clears_cold=True),
)


@dataclass
class Ran:
    """What happened in runs × sessions: α, whether it was active, resets of an active one."""

    alpha: np.ndarray
    is_active: np.ndarray
    is_reset: np.ndarray


def governed(margins: np.ndarray, rules: Rules) -> Ran:
    """Run a rule set over (runs, sessions) margins, all runs at once."""
    runs, sessions = margins.shape
    sums = np.zeros((4, runs))  # weights, squared weights, margins, squares
    drift, compared, active = np.zeros(runs), np.zeros(runs), np.zeros(runs)
    is_active = np.zeros(runs, bool)
    ran = Ran(*(np.zeros((runs, sessions), kind) for kind in (float, bool, bool)))
    for step in range(sessions):
        x = margins[:, step]
        active += is_active
        sums = sums * np.array([0.97, 0.97**2, 0.97, 0.97])[:, None]
        sums += np.array([np.ones(runs), np.ones(runs), x, x * x])
        compared += 1
        drift = np.maximum(0, drift - (x + 0.05) / 0.25)
        falls = drift > 8
        drift[falls] = 0
        cleared = falls & (is_active | rules.clears_cold)
        for values in (compared, active, *sums):
            values[cleared] = 0
        ran.is_reset[:, step] = falls & is_active
        is_active &= ~falls
        weight = np.where(sums[0] > 0, sums[0], 1)
        mean = sums[2] / weight
        variance = np.maximum(sums[3] / weight - mean**2, 1e-4) + 0.01 / weight
        n_eff = weight**2 / np.where(sums[1] > 0, sums[1], 1)
        z = np.where(sums[0] > 0, mean / np.sqrt(variance / n_eff), 0)
        leaves = ~is_active & (compared >= MIN_OUT_OF_SAMPLE) & (z > rules.exit_z)
        active[leaves] = 0
        is_active |= leaves
        floor = np.where(active < 10, 0.8, np.where(active < 20, 0.6, 0.1))
        earned = np.clip(1 - 0.9 * PHI(z), 0.1, 1)
        ran.alpha[:, step] = np.where(is_active, np.maximum(earned, floor), 1.0)
        ran.is_active[:, step] = is_active
    return ran


def literal(margins: np.ndarray) -> Ran:
    """Run the source document's rules: a tie loses, a reset sets the success rate to a half."""
    runs, sessions = margins.shape
    rate, low, active = np.full(runs, 0.5), np.zeros(runs), np.zeros(runs)
    ever = np.zeros(runs, bool)
    recent = np.zeros((runs, 0))
    ran = Ran(*(np.zeros((runs, sessions), kind) for kind in (float, bool, bool)))
    for step in range(sessions):
        active += ever
        won = (margins[:, step] > 1e-9).astype(float)
        rate = 0.9 * rate + 0.1 * won
        recent = np.column_stack([recent, won])[:, -10:]
        ever |= recent.mean(axis=1) > 0.4 if recent.shape[1] >= 10 else False
        low = np.where(rate < 0.3, low + 1, 0)
        falls = low >= 10
        rate[falls], low[falls] = 0.5, 0
        floor = np.where(active < 10, 0.8, np.where(active < 20, 0.6, 0.0))
        ran.alpha[:, step] = np.where(ever, np.maximum(1 - rate, floor), 1.0)
        ran.is_active[:, step] = ever
        ran.is_reset[:, step] = falls & ever
    return ran


def drawn(mean: float, deviation: float, runs: int, sessions: int, seed: int) -> np.ndarray:
    """Draw (runs, sessions) margins."""
    rng = np.random.default_rng([seed, runs])
    return rng.normal(mean, deviation, (runs, sessions)).clip(-1, 1)


def held(margins: np.ndarray) -> None:
    """Hold the arrays to the governor that serves."""
    ran = governed(margins, RULES[0])
    for run, row in enumerate(margins):
        governor = Governor.initial()
        for _ in range(COLD):
            governor = governor.update(Comparison(None, "not trained"))
        for step, x in enumerate(row):
            one = Comparison(float(x), is_trained=True, is_out_of_sample=True)
            governor = governor.update(one)
            assert abs(governor.alpha - ran.alpha[run, step]) < 1e-9, (run, step)


def told(ran: Ran) -> dict[str, float | None]:
    """Sum up runs at one mean margin."""
    left = ran.is_active.any(axis=1)
    first = ran.is_active.argmax(axis=1)[left] + COLD + 1
    return {
        "left_cold_start": round(100 * left.mean(), 2),
        "median_session_of_it": float(np.median(first)) if left.any() else None,
        "gained_over_20_percent": round(100 * (ran.alpha < 0.8 - 1e-9).any(axis=1).mean(), 2),
        "lost_it_by_a_reset": round(100 * ran.is_reset.any(axis=1).mean(), 2),
        "mean_alpha_at_the_end": round(float(ran.alpha[:, -1].mean()), 3),
    }


def found(ran: Ran) -> dict[str, float | None]:
    """Sum up how long a fall of an active predictor goes unnoticed."""
    was_active = ran.is_active[:, BEFORE - 1]
    resets = ran.is_reset[was_active, BEFORE:]
    seen = resets.any(axis=1)
    delays = np.where(seen, resets.argmax(axis=1) + 1, np.inf)
    median = float(np.median(delays)) if was_active.any() else np.inf
    return {
        "median_sessions_to_a_reset": median if np.isfinite(median) else None,
        "found_within_60": round(100 * seen.mean(), 2) if was_active.any() else None,
    }


def main() -> None:
    """Print the tables, and write them when asked to."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    held(drawn(0.0, 0.25, 20, SESSIONS, 1))
    result = []
    for deviation in DEVIATIONS:
        sets = [(rules.name, lambda m, r=rules: governed(m, r)) for rules in RULES]
        for name, run in [*sets, ("source document", literal)]:
            row = {"rules": name, "deviation": deviation, "margins": {}}
            for mean in MEANS:
                row["margins"][mean] = told(run(drawn(mean, deviation, runs, SESSIONS, 2)))
            good = drawn(0.12, deviation, runs, BEFORE, 3)
            fallen = drawn(FALLEN, deviation, runs, AFTER, 4)
            row["fall"] = found(run(np.column_stack([good, fallen])))
            result.append(row)
            print(f"\n{name}, deviation {deviation}; fall from 0.12 to {FALLEN}: {row['fall']}")
            for mean, figures in row["margins"].items():
                print(f"  {mean:+.2f}", *(f"{key} {value}" for key, value in figures.items()))
    if len(sys.argv) > 2:
        told_of = {"runs": runs, "rules": [asdict(rules) for rules in RULES], "results": result}
        Path(sys.argv[2]).write_text(json.dumps(told_of, indent=1) + "\n")


if __name__ == "__main__":
    main()
