"""Is the learned ranker better than what is simpler, how fast is it, who gets influence?

    BENCH_SIZE=full PYTHONPATH=. python benchmarks/learned_ranker.py [--only quality|speed|governed]
        [--tuning] [--seeds N] [--until SESSIONS] [--json OUT]

Users are simulated (`engram.console.evaluation.simulation`). Figures are from the worlds for
reports; `--tuning` takes those on which constants may be chosen. Quality is nDCG@10 against the
truth after so many sessions, with intervals over users and the worst of them; speed is on the clock
and of processor time, in one thread, beside torch where it can be imported; governed runs show
whether influence goes to who earned it. Prints tables and one line of JSON.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import importlib.util
import json
import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.ground import trees
from engram.console.evaluation.simulation import curves, plans
from engram.console.evaluation.simulation.governed import GovernedSession, govern
from engram.console.evaluation.simulation.life import live
from engram.console.evaluation.simulation.plans import HABITS, LIFE, WorldPlan
from engram.console.evaluation.simulation.sessions import Simulator
from predictor.core import rankers
from predictor.core.metrics import bootstrap
from predictor.core.scorer import Recipe, Scorer
from predictor.core.types import Candidates, LabelledSession

IS_FULL = os.environ.get("BENCH_SIZE", "full") == "full"
QUALITY_WORLDS = ("habits", "across", "life", "important", "parity")
PARTS = ("quality", "speed", "governed")
GOVERNED_WORLDS = ("life", "parity", "drift")
GOVERNED_SESSIONS = 300 if IS_FULL else 30
ALPHA_EVERY = 50 if IS_FULL else 10
GOALS = {("habits", 500): 0.75, ("across", 500): 0.57}
HAS_TREES = importlib.util.find_spec("sklearn") is not None
HAS_LAMBDAMART = trees.has_lambdamart()
HAS_TORCH = importlib.util.find_spec("torch") is not None

MAKERS: dict[str, curves.Maker] = {
    "model": lambda known, rng: rankers.model(known.embeddings, known.texts, rng=rng),
    "ridge": lambda known, rng: rankers.ridge(known.embeddings, known.texts, rng=rng),
}
if HAS_TREES:
    MAKERS["trees"] = lambda known, rng: trees.Trees(known, content=False)
    MAKERS["trees, content"] = lambda known, rng: trees.Trees(known, content=True)
if HAS_LAMBDAMART:
    MAKERS["LambdaMART"] = lambda known, rng: trees.LambdaMart(known, content=False)
    MAKERS["LambdaMART, content"] = lambda known, rng: trees.LambdaMart(known, content=True)


def scale_down(plan: WorldPlan) -> WorldPlan:
    """Return the plan, or a toy of its kind."""
    if IS_FULL:
        return plan
    return replace(plan, width=32, memories=300, topics=8, projects=3, pool=40)


def quality(
    worlds: dict[str, WorldPlan], seeds: Sequence[int], names: Sequence[str], *, until: int
) -> dict[str, Any]:
    """Measure learning curves up to `until` sessions and print one table a world."""
    checkpoints = [n for n in curves.CHECKPOINTS if n <= until] if IS_FULL else [0, 10]
    result: dict[str, Any] = {}
    for world in names:
        found = [
            curves.run(
                scale_down(worlds[world]),
                seed,
                MAKERS,
                checkpoints=checkpoints,
                clock=time.process_time,
            )
            for seed in seeds
        ]
        bounds = {name: over([f.bounds[name] for f in found]) for name in found[0].bounds}
        learned = {
            name: {n: over([f.learned[name][n] for f in found]) for n in by_sessions}
            for name, by_sessions in found[0].learned.items()
        }
        cpu = {
            name: round(
                float(np.median([f.fit_cpu_seconds[name][checkpoints[-1]] for f in found])), 2
            )
            for name in MAKERS
        }
        print_curves(world, checkpoints, bounds, learned, cpu)
        gains = gains_of(found)
        print_gains(gains)
        result[world] = {
            "bounds": bounds,
            "learned": learned,
            "gains": gains,
            "last_fit_cpu_seconds": cpu,
        }
    return result


def over(values: Sequence[Sequence[float]]) -> dict[str, float]:
    """Return the mean over users with its interval."""
    found = bootstrap([float(np.mean(v)) for v in values], rng=np.random.default_rng(0))
    return {"mean": round(found.mean, 3), "low": round(found.low, 3), "high": round(found.high, 3)}


def gains_of(users: Sequence[curves.Curves]) -> dict[str, dict[int, dict[str, float]]]:
    """Return each ranker's gain over the baseline, user by user: mean, interval, worst user."""
    gains: dict[str, dict[int, dict[str, float]]] = {}
    for name, by_sessions in users[0].learned.items():
        for n in by_sessions:
            own = [np.mean(u.learned[name][n]) - np.mean(u.bounds["baseline"]) for u in users]
            worst = round(float(min(own)), 3)
            gains.setdefault(name, {})[n] = over([[float(gain)] for gain in own]) | {"worst": worst}
    return gains


def print_gains(gains: dict[str, dict[int, dict[str, float]]]) -> None:
    """Print the gains over the baseline, each with that of the worst user."""
    print("gain over the baseline, and of the worst user")
    for name, by_sessions in gains.items():
        cells = (
            f"{t['mean']:+.3f} [{t['low']:+.3f}, {t['high']:+.3f}] {t['worst']:+.3f}"
            for t in by_sessions.values()
        )
        print(f"{name:<20}" + "".join(f"{cell:>32}" for cell in cells))


def print_curves(
    world: str,
    checkpoints: Sequence[int],
    bounds: dict[str, dict[str, float]],
    learned: dict[str, dict[int, dict[str, float]]],
    cpu: dict[str, float],
) -> None:
    """Print the table of a world, and whether it reached its goals."""
    print(
        f"\n{world}: "
        + ", ".join(f"{name} {figures['mean']:.3f}" for name, figures in bounds.items())
    )
    print(
        f"{'after sessions':<20}" + "".join(f"{n:>22}" for n in checkpoints) + f"{'fit cpu s':>11}"
    )
    for name, by_sessions in learned.items():
        cells = (f"{t['mean']:.3f} [{t['low']:.3f}, {t['high']:.3f}]" for t in by_sessions.values())
        print(f"{name:<20}" + "".join(f"{cell:>22}" for cell in cells) + f"{cpu[name]:>11}")
    own = {n: figures["mean"] for n, figures in learned["model"].items()}
    goals = [
        (f"after {n}", own[n], goal) for (of, n), goal in GOALS.items() if of == world and n in own
    ]
    goals.append(("untrained, the baseline", own[0], bounds["baseline"]["mean"]))
    for name in sorted(learned.keys() - {"model"}):
        if 30 in own:
            goals.append((f"after 30, {name}", own[30], learned[name][30]["mean"]))
    for name, mean, goal in goals:
        print(f"goal {name} {goal:.3f}: {'reached' if mean >= goal else 'MISSED'} ({mean:.3f})")


def speed() -> dict[str, Any]:
    """Measure scoring and training."""
    repeats, sessions = (2000, 500) if IS_FULL else (50, 12)
    rows: dict[str, dict[str, float | str]] = {}
    for width in (384, 768):
        rows |= scoring_rows(width, repeats)
    plan = scale_down(plans.TUNING["habits"])
    simulator = Simulator(plan, 11, sessions=sessions)
    lessons = lessons_of(simulator, sessions)
    known = curves.known_at(simulator, 0)
    rng = np.random.default_rng(0)
    initial, fits = [], []
    for _ in range(3):
        began = time.process_time()
        scorer = Scorer.initial(None, known.embeddings, rng=rng, texts=known.texts)
        initial.append(time.process_time() - began)
        fits.append(scorer.fit(lessons, rng=rng).cpu_seconds)
    recipe = Recipe()
    rows[f"initial model of {len(known.texts)} memories"] = {"cpu_s": median(initial)}
    rows[f"train {sessions} sessions, {recipe.epochs} epochs"] = {"cpu_s": median(fits)}
    if HAS_TORCH:
        from benchmarks.ground import torch_model

        began = time.process_time()
        torch_model.train(lessons, epochs=recipe.epochs, batch=recipe.batch)
        rows["the same in torch"] = {"cpu_s": round(time.process_time() - began, 2)}
    print(f"\n{'speed':<44}" + "".join(f"{name:>14}" for name in ("p50 ms", "p95 ms", "cpu s")))
    for name, row in rows.items():
        cells = (row.get(key, "") for key in ("p50_ms", "p95_ms", "cpu_s"))
        print(f"{name:<44}" + "".join(f"{cell:>14}" for cell in cells))
    if not HAS_TORCH:
        print("not installed: torch (nothing to compare speed with)")
    return rows


def lessons_of(simulator: Simulator, wanted: int) -> list[LabelledSession]:
    """Return so many sessions to learn from, each with its whole pool labelled."""
    rng = np.random.default_rng(0)
    lessons: list[LabelledSession] = []
    while len(lessons) < wanted:
        session = simulator.session(len(lessons))
        labelled = live(session, simulator.plan, None, alpha=1.0, rng=rng).labelled
        if labelled is not None:
            lessons.append(labelled)
    return lessons


def median(values: Sequence[float]) -> float:
    """Return the median, rounded."""
    return round(float(np.median(values)), 2)


def scoring_rows(width: int, repeats: int) -> dict[str, dict[str, float | str]]:
    """Measure scoring of 80 candidates, and of 4,000 prepared ones."""
    rows: dict[str, dict[str, float | str]] = {}
    for name, plan in {"80 embedded": HABITS, "80, a fifth text only": LIFE}.items():
        simulator = Simulator(replace(plan, width=width, memories=400), 1, sessions=8)
        session = simulator.session(7)
        known = curves.known_at(simulator, 7)
        rng = np.random.default_rng(0)
        scorer = Scorer.initial(None, known.embeddings, rng=rng, texts=known.texts)
        scorer.fit(lessons_of(simulator, 6), rng=rng)  # an untrained one returns the baseline
        context, pool = session.context, session.candidates
        rows[f"score {name}, width {width}"] = time_calls(
            partial(scorer.score, context, pool), repeats
        )
        if plan is LIFE:
            continue
        if HAS_TORCH:
            from benchmarks.ground import torch_model

            call = torch_model.scoring(context, pool)
            rows[f"the same in torch, width {width}"] = time_calls(call, repeats)
        ready = scorer.prepare(repeat_candidates(pool, 50))
        rows[f"score {len(ready):,} prepared, width {width}"] = time_calls(
            partial(scorer.score, context, ready), repeats
        )
    return rows


def repeat_candidates(pool: Candidates, times: int) -> Candidates:
    """Return the same candidates several times."""
    return replace(
        pool,
        embeddings=np.tile(pool.embeddings, (times, 1)),
        is_embedded=np.tile(pool.is_embedded, times),
        token_buckets=list(pool.token_buckets) * times,
        signals=np.tile(pool.signals, (times, 1)),
        log_effectiveness=np.tile(pool.log_effectiveness, times),
        baseline=None if pool.baseline is None else np.tile(pool.baseline, times),
    )


def time_calls(call: Callable[[], object], repeats: int) -> dict[str, float | str]:
    """Call often; the first tenth warms up."""
    samples = []
    for i in range(repeats + repeats // 10):
        began = time.perf_counter()
        call()
        if i >= repeats // 10:
            samples.append((time.perf_counter() - began) * 1000)
    p50, p95 = np.percentile(samples, [50, 95])
    return {"p50_ms": round(float(p50), 3), "p95_ms": round(float(p95), 3)}


def measure_governed(worlds: dict[str, WorldPlan], seeds: Sequence[int]) -> dict[str, Any]:
    """Run users under the rules of governance and print their influence."""
    chance = rankers.Random(0)
    lives: dict[str, list[list[GovernedSession]]] = {}
    for world in GOVERNED_WORLDS:
        plan = scale_down(worlds[world])
        lives[f"model, {world}"] = [govern(plan, s, sessions=GOVERNED_SESSIONS) for s in seeds]
    plan = scale_down(worlds["life"])
    for name, fixed in {
        "oracle, life": lambda session: session.relevance,
        "random, life": lambda session: chance.score(session.context, session.candidates),
    }.items():
        lives[name] = [govern(plan, s, sessions=GOVERNED_SESSIONS, fixed=fixed) for s in seeds]
    print(f"\ngoverned: the baseline's weight (median) and the gain, every {ALPHA_EVERY} sessions")
    result = {name: summarise(steps) for name, steps in lives.items()}
    for name, row in result.items():
        alphas = " ".join(f"{alpha:.2f}" for alpha in row["alpha"])
        gains = " ".join(f"{gain:+.3f}" for gain in row["gain"])
        print(
            f"{name:<14} alpha {alphas}   gain {gains}   left cold start {row['left']}"
            f"   resets {row['resets']}   trainings {row['trainings']}, rejected {row['rejected']}"
        )
    return result


def summarise(users: Sequence[Sequence[GovernedSession]]) -> dict[str, Any]:
    """Summarise runs: weights, gains over the baseline, resets, gates."""
    least = min(len(steps) for steps in users)
    marks = range(ALPHA_EVERY, least + 1, ALPHA_EVERY)
    first = [next((n for n, s in enumerate(steps, 1) if s.alpha < 1), None) for steps in users]
    return {
        "alpha": [round(float(np.median([u[n - 1].alpha for u in users])), 3) for n in marks],
        "gain": [
            round(
                float(
                    np.mean([s.served - s.baseline for u in users for s in u[n - ALPHA_EVERY : n]])
                ),
                3,
            )
            for n in marks
        ],
        "left": first,
        "resets": [[n for n, s in enumerate(steps, 1) if s.is_reset] for steps in users],
        "trainings": sum(bool(s.training) for steps in users for s in steps),
        "rejected": sum("rejected" in s.training for steps in users for s in steps),
    }


def main() -> None:
    """Run the selected parts."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", action="append", choices=PARTS, help="may be repeated")
    parser.add_argument("--world", action="append", choices=QUALITY_WORLDS, help="of quality")
    parser.add_argument("--tuning", action="store_true", help="the worlds for tuning")
    parser.add_argument("--seeds", type=int, default=5 if IS_FULL else 1)
    parser.add_argument("--until", type=int, default=curves.CHECKPOINTS[-1], help="sessions")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    parts = options.only or PARTS
    is_tuning = options.tuning or not IS_FULL  # a toy measures nothing
    worlds = plans.TUNING if is_tuning else plans.REPORT
    first = (plans.TUNING_SEEDS if is_tuning else plans.REPORT_SEEDS)[0]
    seeds = [first + i for i in range(options.seeds)]
    if not HAS_TREES:
        print("not installed: scikit-learn (make bench-venv); boosted trees are left out")
    if not HAS_LAMBDAMART:
        print("not usable: lightgbm (make bench-venv; it needs libgomp); LambdaMART is left out")
    result: dict[str, Any] = {
        "benchmark": "learned_ranker",
        "size": "full" if IS_FULL else "toy",
        "worlds": "tuning" if is_tuning else "report",
        "seeds": seeds,
        "recipe": asdict(Recipe()),
    }
    if "quality" in parts:
        result["quality"] = quality(
            worlds, seeds, options.world or QUALITY_WORLDS, until=options.until
        )
    if "speed" in parts:
        result["speed"] = speed()
    if "governed" in parts:
        result["governed"] = measure_governed(worlds, seeds)
    result |= {
        "numpy": np.__version__,
        "python": platform.python_version(),
        "load_average": [round(load, 2) for load in os.getloadavg()],
        "processors": os.cpu_count(),
    }
    print(json.dumps(result))
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
