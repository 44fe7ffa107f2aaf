"""Figures of extraction in the docs are those of the measurements that are committed."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import pytest

from tests.documented import read
from tests.homes import SOURCE

TUNING = "docs/tuning.md"
RESULTS = SOURCE / "benchmarks" / "results"
# Rows of the table, by how they begin, with where their figures are.
ROWS = {
    "fourteen transcripts of another author": ("evaluate_extraction_own_2", ""),
    "the development file (36 sessions": ("worth", "author left out/J1"),
    "forty transcripts of people": ("worth", "author left out/P1"),
    "the ten own transcripts": ("worth", "author left out/X1"),
    "a tenth of the development sessions": ("worth", "sessions left out, J1"),
    "a tenth of the forty transcripts": ("worth", "sessions left out, P1"),
}
SHARES = ("precision", "recall", "refusals_stored")


def measured(name: str, path: str = "") -> Mapping[str, Any]:
    """Return a report, or the part of it that a path of names leads to."""
    found = json.loads((RESULTS / f"{name}.json").read_text())
    for part in filter(None, path.split("/")):
        found = found[part]
    return found  # type: ignore[no-any-return]


def table() -> dict[str, list[str]]:
    """Return the cells behind the first of each row of the table, by the first."""
    section = read(TUNING).partition("## Extraction")[2].partition("| left out |")[2]
    lines = section.partition("\n\n")[0].splitlines()[2:]
    cells = [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in lines]
    return {first: rest for first, *rest in cells}


def test_every_row_of_the_table_has_its_measurement() -> None:
    rows = table()
    assert len(rows) == len(ROWS)
    assert all(sum(row.startswith(begin) for row in rows) == 1 for begin in ROWS)


@pytest.mark.parametrize("begin", ROWS)
def test_a_row_of_the_table_has_the_measured_figures(begin: str) -> None:
    [cells] = [rest for first, rest in table().items() if first.startswith(begin)]
    report = measured(*ROWS[begin])
    if "metrics" in report:
        shares = [report["metrics"][name]["mean"] for name in SHARES]
        facts = report["details"]["facts"]
    else:
        shares = [report[name] for name in SHARES]
        facts = report["facts"]
    written = [cell.removesuffix(" %") for cell in cells]
    assert int(written[0]) == facts
    # Half a unit of the last digit, and what rounding in the report may add.
    assert [float(cell) for cell in written[1:3]] == pytest.approx(shares[:2], abs=0.0056)
    assert float(written[3]) == pytest.approx(100 * shares[2], abs=0.056)


def test_the_requests_of_the_files_are_counted() -> None:
    [counts] = re.findall(r"files of transcripts \((\d+), (\d+), (\d+) and (\d+)\)", read(TUNING))
    names = [f"evaluate_extraction_own{suffix}" for suffix in ("", "_2", "_3", "_4")]
    found = [measured(name, "metrics/requests_kept") for name in names]
    assert [int(count) for count in counts] == [one["n"] for one in found]
    assert all(one["mean"] == 1 for one in found)


def test_worth_by_confidence_is_as_measured() -> None:
    text = " ".join(read(TUNING).split())
    [counts] = re.findall(
        r"at \.9 were worth keeping in (\d+) of (\d+) cases, at \.6 and \.7 in (\d+) of (\d+)", text
    )
    by_confidence = measured("worth", "by confidence, sessions left out")
    groups = [["0.9"], ["0.6", "0.7"]]
    expected = [
        sum(by_confidence[name][count] for name in names)
        for names in groups
        for count in ("right", "facts")
    ]
    assert [int(count) for count in counts] == expected


def test_what_noise_costs_is_as_measured() -> None:
    [written] = re.findall(r"\(p@1 \u2212(\.\d+) \[\u2212(\.\d+), \u2212(\.\d+)\]", read(TUNING))
    found = measured("evaluate_extraction_floor", "details")["p@1 over the other"]
    expected = [-found[name] for name in ("mean", "low", "high")]
    assert [float(figure) for figure in written] == pytest.approx(expected, abs=0.0051)
