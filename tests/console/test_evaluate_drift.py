"""`evaluate --drift` on a few pairs."""

import json
from functools import partial
from hashlib import blake2b

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from engram.console.doctor.configuration import drift_calibration
from engram.console.evaluation.drift import figures
from engram.console.evaluation.drift_pairs import DriftRow
from engram.console.evaluation.levels import DRIFT, levels_met
from engram.console.evaluation.outcome import Figure
from engram.kernel.models import Workspace
from engram.kernel.tenancy import in_workspace
from memories.core.drift.parts import words_of
from memories.core.metrics import wilson
from memories.models import PredictionError
from memories.services.drift.calibrations import FILE, calibration_of
from tests.conftest import Tenant
from tests.memories.drift_world import BEFORE as RELEASE
from tests.memories.drift_world import check, errors, put, recall, remember
from tests.model_server import ModelServer

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
    assert levels_met(without, DRIFT)["goal"] == "not measured: precision"


# Notes of one sentence about each of many things; in half of the pairs that thing is another one.
THINGS = ["anvils", "bellows", "chisels", "drills", "easels", "funnels", "gauges", "hammers",
          "irons", "jigs", "knives", "lathes", "mallets", "nails", "ovens", "pliers", "quills",
          "rasps", "saws", "tongs"]  # fmt: skip
PLACES = ["attic", "barn", "cellar", "depot", "garage"]


def workshop_pairs():
    for n, thing in enumerate(THINGS):
        place, keeper = PLACES[n % 5], THINGS[n - 1].title()
        said = f"The {thing} are kept in the {place} beside the door."
        note = f"# {thing.title()}\n\n{said} Master {keeper} counts them.\n"
        other = note.replace(said, f"Visitors of shop {n} leave their coats at the counter.")
        told = note.replace(said, f"Whoever wants {thing} finds them in the {place}, by the door.")
        memory = f"The {thing} are kept in the {place} beside the door ([[{thing}]])."
        for is_drifted, after in ((True, other), (False, told)):
            yield {"id": f"{n}-{is_drifted}", "memory": memory, "note_before": note,
                   "note_after": after, "drifted": is_drifted}  # fmt: skip


def bag_of_words(texts):
    """Return vectors of another model: the words of a text, each at a place of its own."""
    rows = np.zeros((len(texts), 64))
    for row, text in zip(rows, texts, strict=True):
        for word in words_of(text):
            row[int.from_bytes(blake2b(word.encode(), digest_size=4).digest()) % 64] += 1
        row[0] += 0.01
    return rows.tolist()


@pytest.fixture
def other_model(settings, tmp_path):
    """Embed by a model that is not built in."""
    settings.ENGRAM_HOME = tmp_path
    with ModelServer() as server:
        server.answer_embeddings(bag_of_words)
        settings.ENGRAM_EMBEDDING = settings.ENGRAM_EMBEDDING | {
            "provider": "openai", "model": "words", "base_url": server.base_url,
        }  # fmt: skip
        yield "words"


@pytest.fixture
def pairs(tmp_path):
    path = tmp_path / "workshop.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in workshop_pairs()))
    return path


def test_another_embedding_model_is_calibrated_and_then_judges_vanished_support(
    db, tenant: Tenant, other_model, pairs, tmp_path
):
    """Without it a note that lost what a memory says, or is about something else, tells nothing."""
    Workspace.objects.filter(pk=tenant.workspace.pk).update(embedding_model=other_model)
    tenant.workspace.refresh_from_db()
    assert drift_calibration().level == "warn"
    memory = remember(tenant)
    put(tenant, RELEASE)
    check(tenant)
    gone = RELEASE.replace(
        "The licence review is an open blocker for the release.", "Lunch is served at noon."
    )
    put(tenant, gone)
    check(tenant)
    foreign = partial(tenant.agent.post, "context", {"task": "Which violin strings suit me?"})
    assert (recall(tenant), errors(tenant.reader)) == ([memory], [])
    assert foreign().status_code == 200
    with in_workspace(tenant.workspace):
        assert not PredictionError.objects.exists()

    out = tmp_path / "out.json"
    call_command("evaluate", drift=pairs, calibrate=True, json=out)
    report = json.loads(out.read_text())
    assert report["details"]["embedding model"] == other_model
    assert report["metrics"]["precision"]["mean"] > 0.8
    assert report["metrics"]["recall"]["mean"] > 0.8
    assert report["details"]["levels"]["first level"] == "met"
    found = calibration_of(other_model)
    assert found is not None
    assert 0 < found.low_overlap < found.weak < 1
    assert drift_calibration().level == "ok"

    assert check(tenant) == 1  # judged again, though neither memory nor note changed
    recall(tenant)
    assert [row["memory_id"] for row in errors(tenant.reader)] == [memory]
    foreign()
    with in_workspace(tenant.workspace):
        assert PredictionError.objects.filter(error_type="low_overlap").exists()


def test_the_figures_of_a_calibration_are_of_pairs_that_it_was_not_fitted_to(
    db, other_model, pairs, tmp_path
):
    """Labels without a cause can be learned by heart, and must not be found again."""
    rows = [json.loads(line) for line in pairs.read_text().splitlines()]
    for n, row in enumerate(rows):
        row["drifted"] = n % 4 < 2
    pairs.write_text("".join(json.dumps(row) + "\n" for row in rows))
    out = tmp_path / "out.json"
    call_command("evaluate", drift=pairs, calibrate=True, json=out)
    assert json.loads(out.read_text())["metrics"]["precision"]["mean"] < 0.7


def test_too_few_pairs_are_no_calibration(db, other_model, tmp_path):
    path = tmp_path / "p.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in PAIRS))
    with pytest.raises(CommandError, match="to calibrate takes 5 drifted pairs"):
        call_command("evaluate", drift=path, calibrate=True)
    assert calibration_of(other_model) is None
    with pytest.raises(CommandError, match="--calibrate goes with --drift"):
        call_command("evaluate", gate=path, calibrate=True)


@pytest.mark.parametrize("content", ["", "[]", '{"words": {"weights": [1]}}', '{"words": 3}'])
def test_a_file_of_calibrations_that_is_broken_is_named_and_breaks_nothing(
    db, settings, tmp_path, content
):
    settings.ENGRAM_HOME = tmp_path
    (tmp_path / FILE).write_text(content)
    assert calibration_of("words") is None
    assert calibration_of("all-MiniLM-L6-v2") is not None
    assert drift_calibration().level == "fail"
