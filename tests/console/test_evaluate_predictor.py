"""`evaluate --predictor` with one simulated user of few sessions."""

import json
from dataclasses import replace

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from engram.console.evaluation import predictor
from engram.console.evaluation.predictor import Extent
from engram.console.evaluation.simulation.governed import govern
from engram.console.evaluation.simulation.plans import REPORT
from memories.core.metrics import ndcg_at


@pytest.fixture(scope="module")
def written(django_db_setup, django_db_blocker, tmp_path_factory):
    folder = tmp_path_factory.mktemp("predictor")
    out, rows = folder / "out.json", folder / "rows.jsonl"
    with django_db_blocker.unblock():
        call_command("evaluate", predictor=True, seeds=1, sessions=12, json=out, predictions=rows)
    return json.loads(out.read_text()), [json.loads(line) for line in rows.read_text().splitlines()]


def test_curves_bounds_and_governed_lives_are_told(written):
    report, _ = written
    metrics = report["metrics"]
    assert report["mode"] == "predictor"
    for world in ("habits", "across", "life"):
        for ranker in ("model", "ridge"):
            assert {f"{world}: {ranker} after {n}" for n in (0, 10, 12)} <= metrics.keys()
        assert metrics[f"{world}: oracle"]["mean"] == pytest.approx(1.0)
        assert metrics[f"{world}: random"]["mean"] < metrics[f"{world}: habits known"]["mean"]
    assert metrics["oracle: largest influence"]["mean"] == 0.0  # too few sessions to earn any
    assert metrics["random: largest influence"]["lower_is_better"]
    assert report["details"]["left cold start"] == dict.fromkeys(
        ("oracle", "random", "model"), "never"
    )
    assert report["details"]["seeds"] == "9001"
    for told in ("compared in drafted lists", "status says"):
        assert report["details"][told].keys() == {"oracle", "random", "model"}
    assert "Nothing is learned yet" in report["details"]["status says"]["oracle"]
    assert {"git", "versions", "machine", "seed"} <= report["provenance"].keys()


def test_what_lives_show_in_drafted_lists_is_told():
    plan = replace(REPORT["life"], width=32, memories=300, topics=8, projects=3, pool=40)
    lives = {
        "oracle": [
            govern(plan, user, sessions=60, fixed=lambda one: one.relevance) for user in (1, 2)
        ]
    }
    figures = predictor._governed_figures(lives, np.random.default_rng(0))
    told = {name: figure.value for name, figure in figures.items()}
    drafted, others = told["oracle: margin in drafted lists"], told["oracle: margin in other lists"]
    steps = [step for life in lives["oracle"] for step in life if step.margin is not None]
    margins = [step.margin for step in steps if step.is_drafted]
    assert (drafted.n, drafted.mean) == (len(margins), pytest.approx(np.mean(margins)))
    assert drafted.n + others.n == len(steps)
    assert drafted.low > 0.2
    counts = predictor._count_drafted(lives["oracle"]).split(", ")
    assert [int(one.split(" of ")[0]) for one in counts] == [
        sum(s.is_drafted and s.margin is not None for s in life) for life in lives["oracle"]
    ]
    says = predictor._last_words(lives["oracle"]).split(" | ")
    assert all("has had a say since session" in one for one in says)


def test_anybody_can_score_the_rankings_again(written):
    report, rows = written
    ours = [r for r in rows if r["id"].startswith("life/") and r["ranker"] == "model"]
    last = [r for r in ours if r["sessions"] == 12]
    again = [
        ndcg_at(r["ranked"], {int(i): gain for i, gain in r["relevance"].items()}, 10) for r in last
    ]
    told = report["metrics"]["life: model after 12"]
    assert told["n"] == len(again)
    assert sum(again) / len(again) == pytest.approx(told["mean"], abs=1e-3)


@pytest.mark.parametrize("options", [{"seeds": 0}, {"sessions": 0}, {"sessions": 2001}])
def test_nothing_to_measure_and_too_much_are_refused(db, options):
    with pytest.raises(CommandError, match=f"--{next(iter(options))} must be 1 to") as refused:
        call_command("evaluate", predictor=True, **options)
    assert refused.value.returncode == 2


def test_checkpoints_end_with_the_last_session():
    assert Extent(1, 10).checkpoints == [0, 10]
    assert Extent(1, 45).checkpoints == [0, 10, 30, 45]
    assert Extent(3, 500).checkpoints == [0, 10, 30, 100, 300, 500]
