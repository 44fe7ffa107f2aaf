"""`evaluate --gate` on a few pairs."""

import json

from django.core.management import call_command

from engram.console.evaluation.pairs import PairRow, score

PAIRS = [
    {"id": "1", "a": "The cache expires after 10 minutes.",
     "b": "the cache  expires after 10 minutes.", "relation": "same"},
    {"id": "2", "a": "The primary database runs in us-east-1.",
     "b": "The primary database runs in us-west-2.", "relation": "contradicts"},
    {"id": "3", "a": "The cafeteria opens at eight.", "b": "Builds run on ARM machines.",
     "relation": "different"},
]  # fmt: skip


def test_the_gate_answers_every_pair(db, tmp_path):
    path, out, rows = (tmp_path / name for name in ("p.jsonl", "out.json", "rows.jsonl"))
    path.write_text("".join(json.dumps(row) + "\n" for row in PAIRS))

    call_command("evaluate", gate=path, json=out, predictions=rows)

    found = [json.loads(line) for line in rows.read_text().splitlines()]
    assert [(row["id"], row["outcome"], row["relation"]) for row in found] == [
        ("1", "duplicate", None),
        ("2", "kept_apart", "contradicts"), ("3", "created", "different"),
    ]  # fmt: skip
    assert found[1]["cosine"] > 0.6
    metrics = json.loads(out.read_text())["metrics"]
    assert metrics["contradictions_merged"]["mean"] == 0.0
    assert metrics["same_merged"]["mean"] == 1.0
    assert metrics["different_merged"]["n"] == 1
    assert "entailments_vetoed" not in metrics


def test_a_statement_that_the_product_refuses_does_not_end_the_run(db, tmp_path):
    path, rows = tmp_path / "p.jsonl", tmp_path / "rows.jsonl"
    secret = {
        "id": "4",
        "a": "Bees sleep.",
        "b": "The password is hunter2hunter2",
        "relation": "same",
    }
    path.write_text("".join(json.dumps(row) + "\n" for row in [secret, PAIRS[0]]))

    call_command("evaluate", gate=path, predictions=rows)

    found = [json.loads(line) for line in rows.read_text().splitlines()]
    assert [(row["id"], row["outcome"]) for row in found] == [("4", "refused"), ("1", "duplicate")]


def test_labels_of_either_kind_are_scored():
    pairs = [
        PairRow(id="1", a="x", b="y", nli="ENTAILMENT"),
        PairRow(id="2", a="x", b="y", nli="ENTAILMENT"),
        PairRow(id="3", a="x", b="y", nli="CONTRADICTION"),
        PairRow(id="4", a="x", b="y", nli="NEUTRAL"),
    ]
    rows = [
        {"outcome": "kept_apart", "relation": "contradicts"},
        {"outcome": "merged", "relation": "same"},
        {"outcome": "merged", "relation": "refines"},
        {"outcome": "created", "relation": None},
    ]

    outcome = score(pairs, rows)

    figures = {name: figure.value.mean for name, figure in outcome.figures.items()}
    assert figures == {
        "contradictions_merged": 1.0,
        "contradictions_vetoed": 0.0,
        "entailments_vetoed": 0.5,
    }
    assert outcome.details["label → relation"] == {
        "contradiction → refines": 1,
        "entailment → contradicts": 1,
        "entailment → same": 1,
        "neutral → not compared": 1,
    }
