"""`evaluate --extraction` on a few transcripts."""

import json

import pytest
from django.core.management import CommandError, call_command

from engram.kernel.models import Job, Workspace

ROWS = [
    {
        "id": "1",
        "transcript": "User: hello, the build is red\nAgent: I'll look.\nUser: For the record: from"
        " now on Mirjam owns the staging cluster.\nAgent: Noted.\nUser: thanks, bye\n",
        "memories": [],
        "keep": [
            {"fact": "Mirjam owns the staging cluster from now on.",
             "quote": "from now on Mirjam owns the staging cluster"}
        ],
        "refuse": [
            {"text": "I'll look.", "reason": "status_chatter"},
            {"text": "thanks, bye", "reason": "status_chatter"},
        ],
    },
    {
        "id": "2",
        "transcript": "User: remember that lunch is at noon\nAgent: ok\n",
        "memories": [{"text": "Lunch is at noon."}],
        "keep": [],
        "refuse": [{"text": "lunch is at noon", "reason": "already_known"}],
    },
    {
        "id": "3",
        "transcript": "User: Is it raining?\nAgent: No.\n",
        "keep": [{"fact": "It is dry.", "quote": "No."}],
        "refuse": [{"text": "Is it raining?", "reason": "question"}],
    },
    {"id": "4", "transcript": ""},
]  # fmt: skip


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return path


def test_every_transcript_is_answered_and_scored(db, tmp_path, path):
    out, rows = tmp_path / "out.json", tmp_path / "rows.jsonl"
    call_command("evaluate", extraction=path, against="requests", json=out, predictions=rows)
    found = [json.loads(line) for line in rows.read_text().splitlines()]
    assert [row["id"] for row in found] == ["1", "2", "3", "4"]
    [kept] = found[0]["kept"]
    assert kept["fact"] == "From now on Mirjam owns the staging cluster."
    assert kept.keys() == {"fact", "quote", "confidence"}
    assert [one["reason"] for one in found[1]["refused"] if "noon" in one["text"]] == [
        "already_known"
    ]
    report = json.loads(out.read_text())
    metrics = report["metrics"]
    assert metrics["precision"]["mean"] == 1.0
    assert (metrics["recall"]["mean"], metrics["recall"]["n"]) == (0.5, 2)
    assert metrics["refusals_stored"]["mean"] == 0.0
    assert (metrics["p@1"]["mean"], metrics["mrr"]["mean"]) == (0.5, 0.5)
    reasons = report["details"]["refusals by reason"]
    assert reasons["question"] == {"labelled": 1, "stored": 0, "same reason": 1}
    assert report["details"]["verdict"] == "ship"  # as good as the other
    assert Workspace.objects.count() == 0
    assert Job._base_manager.count() == 0


def test_an_extractor_that_finds_less_is_paused(db, tmp_path, path):
    out = tmp_path / "out.json"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    rows[0]["transcript"] = rows[0]["transcript"].replace("For the record: ", "")
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    call_command("evaluate", extraction=path, extractor="requests", against="floor", json=out)
    report = json.loads(out.read_text())
    assert report["details"]["verdict"] == "pause"
    assert report["details"]["p@1 over the other"]["mean"] < 0


def test_a_model_is_not_asked_where_there_is_none(db, path):
    with pytest.raises(CommandError, match="no language model"):
        call_command("evaluate", extraction=path, extractor="model")
    with pytest.raises(CommandError, match="go with --extraction"):
        call_command("evaluate", gate=path, against="rules")
