"""`evaluate --histories` on a few documents."""

import json
from datetime import UTC, datetime

import pytest
from django.core.management import call_command

from engram.console.evaluation.histories import HistoryRow, score


def history(name, *values):
    entries = [
        {"time": f"2020-0{month}-01T00:00:00+02:00", "value": value, "commit": "c0ffee"}
        for month, value in enumerate(values, start=1)
    ]
    return {"id": name, "field": "status", "history": entries}


@pytest.mark.parametrize(
    ("values", "is_returning"),
    [
        (["Draft"], False),
        (["Draft", "Review", "Final"], False),
        (["Draft", "Review", "Draft"], True),
        (["Draft", "Draft", "Final"], False),  # the same value twice in a row is no return
        (["A", "B", "C", "B"], True),
    ],
)
def test_a_document_returns_when_a_value_comes_up_again(values, is_returning):
    assert HistoryRow.model_validate_json(json.dumps(history("x", *values))).is_returning == (
        is_returning
    )


def test_times_never_run_backwards_within_a_document():
    row = history("EIP-1", "Draft", "Review")
    row["history"][1]["time"] = "2019-01-01T00:00:00Z"

    moments = list(HistoryRow.model_validate_json(json.dumps(row)).moments())

    assert moments == [
        (datetime(2019, 12, 31, 22, tzinfo=UTC), "EIP-1 has status Draft"),
        (datetime(2019, 12, 31, 22, 0, 1, tzinfo=UTC), "EIP-1 has status Review"),
    ]


def test_returning_and_other_documents_are_counted_apart():
    rows = [
        {"id": "a", "returns": True, "flagged": True},
        {"id": "b", "returns": True, "flagged": False},
        {"id": "c", "returns": False, "flagged": False},
    ]

    outcome = score(rows, {"cards": 1})

    assert outcome.figures["returning_flagged"].value.mean == 0.5
    assert outcome.figures["others_flagged"].value.mean == 0.0
    assert outcome.details["returning"] == "1 of 2 flagged"


def test_the_product_reads_the_histories(db, tmp_path):
    path, out, rows = (tmp_path / name for name in ("h.jsonl", "out.json", "rows.jsonl"))
    documents = [
        history("EIP-3", "Draft", "Review", "Draft"),
        history("EIP-4", "Draft", "Review", "Final"),
        history("EIP-5", "Draft"),
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in documents))

    call_command("evaluate", histories=path, json=out, predictions=rows)

    found = [json.loads(line) for line in rows.read_text().splitlines()]
    assert [(row["id"], row["returns"]) for row in found] == [
        ("EIP-3", True), ("EIP-4", False), ("EIP-5", False),
    ]  # fmt: skip
    assert [row["flagged"] for row in found[1:]] == [False, False]
    report = json.loads(out.read_text())
    assert report["details"]["statements"] == 7
    assert sum(report["details"]["commits"].values()) == 7
