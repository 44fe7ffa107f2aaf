"""Comparing a run with an earlier one."""

import json

import pytest

from engram.console.evaluation.baseline import read_baseline, regressions
from engram.console.evaluation.lines import InputError


def run(mode="retrieval", sha="abc", **means):
    metrics = {
        name: {
            "mean": mean,
            "low": mean - 0.05,
            "high": mean + 0.05,
            "n": 9,
            "lower_is_better": name.endswith("flagged"),
        }
        for name, mean in means.items()
    }
    return {"mode": mode, "metrics": metrics, "provenance": {"inputs": [{"sha256": sha}]}}


def test_inside_the_interval_is_no_regression():
    assert regressions(run(recall=0.66, flagged=0.14), run(recall=0.7, flagged=0.1)) == []
    assert regressions(run(recall=0.99, flagged=0.0), run(recall=0.7, flagged=0.1)) == []


def test_outside_the_interval_on_the_wrong_side_is_told():
    told = regressions(run(recall=0.64, flagged=0.16), run(recall=0.7, flagged=0.1))

    assert told == [
        "recall 0.640 is worse than 0.700 [0.650, 0.750]",
        "flagged 0.160 is worse than 0.100 [0.050, 0.150]",
    ]


def test_a_figure_that_vanished_is_a_regression():
    assert regressions(run(), run(recall=0.7)) == ["recall is not measured any more"]


def test_runs_of_other_modes_or_files_are_not_compared():
    with pytest.raises(InputError, match="of mode gate, not retrieval"):
        regressions(run(), run(mode="gate"))
    with pytest.raises(InputError, match="on other files"):
        regressions(run(), run(sha="def"))


@pytest.mark.parametrize("content", ["", "[]", '{"metrics": 3}', "{"])
def test_files_that_are_no_report_are_refused(tmp_path, content):
    path = tmp_path / "baseline.json"
    path.write_text(content)

    with pytest.raises(InputError, match="not a report of an earlier run"):
        read_baseline(path)


def test_a_report_is_read_back(tmp_path):
    path = tmp_path / "baseline.json"
    path.write_text(json.dumps(run(recall=0.7)))

    assert read_baseline(path) == run(recall=0.7)
