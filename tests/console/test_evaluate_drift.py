"""`evaluate --drift` on a few pairs."""

import json

from django.core.management import call_command

from engram.console.evaluation.drift import DriftRow, figures
from engram.console.evaluation.levels import DRIFT, levels_met
from engram.console.evaluation.outcome import Figure
from memories.core.metrics import wilson

BEFORE = "# Kiln\n\nThe kiln is fired on Tuesdays. Glazes are mixed by Ines. Shelves are white."
PAIRS = [
    {"id": "1", "memory": "The kiln is fired on Tuesdays ([[kiln]]).", "note_before": BEFORE,
     "note_after": BEFORE.replace("Tuesdays", "Fridays"), "drifted": True},
    {"id": "2", "memory": "The kiln is fired on Tuesdays ([[kiln]]).", "note_before": BEFORE,
     "note_after": BEFORE.replace("white", "grey"), "drifted": False},
    {"id": "3", "memory": "When the kiln is fired: [[kiln]]", "note_before": BEFORE,
     "note_after": BEFORE.replace("Tuesdays", "Fridays"), "drifted": False},
]  # fmt: skip


def test_every_pair_is_judged_on_both_notes(db, tmp_path):
    path, out, rows = (tmp_path / name for name in ("p.jsonl", "out.json", "rows.jsonl"))
    path.write_text("".join(json.dumps(row) + "\n" for row in PAIRS))

    call_command("evaluate", drift=path, json=out, predictions=rows)

    found = [json.loads(line) for line in rows.read_text().splitlines()]
    assert [(row["id"], row["before"], row["after"]) for row in found] == [
        ("1", False, True), ("2", False, False), ("3", False, False),
    ]  # fmt: skip
    assert 0 < found[0]["distance_before"] < found[0]["distance_after"] < 1
    assert found[0]["reasons"]
    content = json.loads(out.read_text())
    metrics = content["metrics"]
    assert (metrics["precision"]["mean"], metrics["recall"]["mean"]) == (1.0, 1.0)
    assert metrics["before_flagged"]["mean"] == 0.0
    assert content["details"]["embedding model"] == "all-MiniLM-L6-v2"
    assert content["details"]["threshold"] == 0.5
    assert content["details"]["levels"] == {"first level": "met", "goal": "met"}


def test_figures_count_flags_by_label():
    rows = [
        DriftRow(id=str(n), memory="m", note_before="b", note_after="a", drifted=drifted)
        for n, drifted in enumerate([True, True, False, None])
    ]
    flags = [True, False, True, True]
    found = figures(rows, [{"before": False, "after": flag} for flag in flags])
    assert {name: (figure.value.mean, figure.value.n) for name, figure in found.items()} == {
        "precision": (0.5, 2), "recall": (0.5, 2), "quiet_flagged": (1.0, 1),
        "before_flagged": (0.0, 4),
    }  # fmt: skip


def test_a_flag_on_the_note_before_is_right_where_memory_and_note_disagree_from_the_start():
    rows = [
        DriftRow(id="1", memory="m", note_before="n", note_after="n", drifted=True),
        DriftRow(id="2", memory="m", note_before="n", note_after="n", drifted=False),
    ]
    found = figures(rows, [{"before": True, "after": True}] * 2)
    assert (found["before_flagged"].value.mean, found["before_flagged"].value.n) == (1.0, 1)
    assert "before_flagged" not in figures(rows[:1], [{"before": True, "after": True}])


def test_levels_say_what_misses_them():
    def of(precision, recall, before):
        return {
            "precision": Figure(wilson(precision, 100)),
            "recall": Figure(wilson(recall, 100)),
            "before_flagged": Figure(wilson(before, 100), is_lower_better=True),
        }

    assert levels_met(of(95, 90, 2), DRIFT) == {"first level": "met", "goal": "met"}
    assert levels_met(of(85, 70, 5), DRIFT) == {
        "first level": "met",
        "goal": "missed: precision 0.850 below 0.95; recall 0.700 below 0.9;"
        " before_flagged 0.050 above 0.02",
    }
    assert levels_met(of(99, 69, 6), DRIFT)["first level"] == (
        "missed: recall 0.690 below 0.7; before_flagged 0.060 above 0.05"
    )
    without = {name: one for name, one in of(99, 99, 0).items() if name != "precision"}
    assert levels_met(without, DRIFT)["goal"] == "missed: precision not measured"
