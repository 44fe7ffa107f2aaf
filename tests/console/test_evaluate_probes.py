"""`evaluate --probes` and `--weights`: the shipped probes, and small cases made by hand."""

import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from engram.console.evaluation import weights
from engram.console.evaluation.baseline import regressions
from engram.console.evaluation.outcome import report
from engram.console.evaluation.probes import PROBES, ProbeRow, read, score
from engram.console.evaluation.weights import ProbePool, ScoredMemory, choose, compare, grid
from engram.kernel.models import Event, Workspace
from engram.kernel.tenancy import in_workspace
from memories.models import Memory, RecallRecord

BASELINE = Path(__file__).parents[2] / "benchmarks" / "results" / "probes_baseline.json"


def test_shipped_probes_are_no_worse_than_the_baseline_and_leave_no_trace(tenant, tmp_path):
    out, rows = tmp_path / "out.json", tmp_path / "rows.jsonl"

    call_command("evaluate", probes=PROBES, json=out, predictions=rows, baseline=BASELINE)

    found = json.loads(out.read_text())
    assert found["metrics"]["forbidden_returned"]["mean"] == 0
    assert found["metrics"]["p@1"]["n"] >= 40
    assert [entry["name"] for entry in found["provenance"]["inputs"]] == [
        "probes.jsonl", "story.jsonl",
    ]  # fmt: skip
    assert len(rows.read_text().splitlines()) == found["details"]["probes"]
    assert [w.slug for w in Workspace.objects.all()] == ["acme"]
    with in_workspace(tenant.workspace):
        assert (Memory.objects.count(), RecallRecord.objects.count()) == (0, 0)
        assert Event.objects.filter(type="memory.committed").count() == 0


def test_shipped_probes_ask_of_every_kind():
    probes = read(PROBES)
    assert {probe.category for probe in probes} == {
        "constraint", "correction", "expired", "forgotten", "lookup", "paraphrase", "provenance",
        "scope",
    }  # fmt: skip
    assert sum(bool(probe.forbidden) for probe in probes) >= 15


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"id": "1", "question": "?", "gold": ["nobody"]}', "probes.jsonl: the story has no nobo"),
        ('{"id": "1", "question": "?"}', "line 1: Value error, neither gold nor forbidden"),
    ],
)
def test_probes_that_ask_for_nothing_end_with_two(db, tmp_path, line, message):
    path = tmp_path / "probes.jsonl"
    path.write_text(line + "\n")

    with pytest.raises(CommandError, match=message) as refused:
        call_command("evaluate", probes=path)

    assert refused.value.returncode == 2


def scored(*rows):
    probes = [
        ProbeRow(id=str(n), question="?", gold=tuple(gold), forbidden=tuple(forbidden))
        for n, (_, gold, forbidden) in enumerate(rows)
    ]
    predictions = [
        {"id": str(n), "ranked": list(ranked), "gold": list(gold), "forbidden": list(forbidden)}
        for n, (ranked, gold, forbidden) in enumerate(rows)
    ]
    return score(probes, predictions, seed=0)


def test_figures_are_shares_of_probes():
    outcome = scored(
        ("abcd", "a", ""),
        ("abcd", "cd", ""),
        ("abcd", "d", "x"),
        ("abcd", "", "y"),  # has no answer: not averaged
    )

    means = {name: figure.value.mean for name, figure in outcome.figures.items()}
    assert means == {
        "p@1": pytest.approx(1 / 3),
        "p@3": pytest.approx(2 / 3),
        "mrr": pytest.approx((1 + 1 / 3 + 1 / 4) / 3),
        "forbidden_returned": 0,
    }
    assert outcome.details["not among the first three"] == ["2"]


def test_one_forbidden_memory_is_a_regression():
    clean, leaky = scored(("abc", "a", "x")), scored(("abcx", "a", "x"))

    told = regressions(report(leaky, {}), report(clean, {}))

    assert told == ["forbidden_returned 1.000 is worse than 0.000 [0.000, 0.000]"]
    assert leaky.details["returned though forbidden"] == {"0": ["x"]}


USER, SUMMARY, OWN = "user_stated", "episode_summary", "assistant_derived"


def make_pool(number, gold, *pool):
    return ProbePool(
        str(number),
        (gold,),
        tuple(ScoredMemory(name, value, kind, False) for name, value, kind in pool),
    )


def test_weights_order_the_same_pool_anew():
    probe = ProbePool(
        "1",
        ("u",),
        (
            ScoredMemory("a", 1.0, OWN, False),
            ScoredMemory("u", 0.95, USER, False),
            ScoredMemory("odd", 0.97, "unheard of", False),  # weighs as little as the least
            ScoredMemory("pin", 0.1, OWN, True),
        ),
    )
    assert probe.rank_labels((1, 1, 1)) == ["pin", "a", "odd", "u"]
    assert probe.rank_labels((1, 0.9, 0.9)) == ["pin", "u", "a", "odd"]


def test_weights_that_help_are_found_and_win_surely():
    probes = [make_pool(n, "u", ("a", 1.0, OWN), ("u", 0.72, USER)) for n in range(30)]

    outcome = compare(probes, seed=0)

    assert outcome.details["best"] == "1/1/0.7"  # nearest to all ones among those that help
    assert outcome.details["verdict"] == "the best beats the defaults"
    assert outcome.figures["p@1, best over defaults"].value.low == 1
    assert outcome.figures["p@1 of all ones"].value.mean == 0


def test_weights_that_change_nothing_stay_as_they_are():
    probes = [make_pool(n, "u", ("u", 1.0, USER), ("a", 0.2, OWN)) for n in range(30)]

    outcome = compare(probes, seed=0)

    assert outcome.details["best"] == "1/1/1"
    assert outcome.details["verdict"] == "the defaults are as good as any setting"


def test_best_weights_never_lose_p_at_1():
    means = {
        (1, 1, 1): {"p@1": 0.5, "p@3": 0.5, "mrr": 0.5},
        (1, 1, 0.9): {"p@1": 0.4, "p@3": 0.9, "mrr": 0.9},
        (1, 0.9, 0.9): {"p@1": 0.5, "p@3": 0.6, "mrr": 0.5},
        (1, 0.8, 0.8): {"p@1": 0.6, "p@3": 0.6, "mrr": 0.6},
    }
    assert choose(means) == (1, 0.8, 0.8)


def test_grid_keeps_the_order_of_trust():
    assert weights.ALL_ONES in grid()
    assert all(user >= summary >= own > 0 for user, summary, own in grid())
