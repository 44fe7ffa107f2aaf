"""`evaluate --retrieval` on files of a few lines."""

import json
from datetime import UTC, datetime

import pytest
from django.core.management import CommandError, call_command

from engram.console.evaluation.retrieval import MemoryRow, parse_time, store
from engram.console.scratch import scratch_workspace
from engram.kernel.models import Event, Workspace
from engram.kernel.tenancy import in_workspace
from memories.models import Memory, RecallRecord

MEMORIES = [
    {"id": "1", "conv": "a", "session": 1, "seq": 0, "time": "1:56 pm on 8 May, 2023",
     "speaker": "Ada", "text": "Where did you buy that telescope?"},
    {"id": "2", "conv": "a", "session": 1, "seq": 1, "time": "1:56 pm on 8 May, 2023",
     "speaker": "Bob", "text": "In Lisbon, last spring.", "caption": "a brass telescope"},
    {"id": "3", "conv": "a", "session": 1, "seq": 2, "time": "1:56 pm on 8 May, 2023",
     "speaker": "Ada", "text": "Sounds great."},
    {"id": "4", "conv": "a", "session": 2, "seq": 3, "time": "2:00 pm on 9 May, 2023",
     "speaker": "Ada", "text": "Sounds great."},
    {"id": "5", "ds": "b", "title": "Port Blair", "text": "It is the capital of the Andamans."},
]  # fmt: skip
QUESTIONS = [
    {"id": "q1", "conv": "a", "question": "What did Bob buy in Lisbon?", "gold": ["2"],
     "category": "single"},
    {"id": "q2", "conv": "a", "question": "Who paid?", "gold": [], "category": "open"},
    {"id": "q3", "conv": "a", "question": "Who stole it?", "gold": ["3"],
     "category": "adversarial"},
    {"id": "q4", "ds": "b", "question": "Which town is the capital of the Andamans?",
     "gold": ["5"], "type": "2hop"},
]  # fmt: skip


@pytest.fixture
def files(tmp_path):
    paths = tmp_path / "memories.jsonl", tmp_path / "questions.jsonl"
    for path, rows in zip(paths, (MEMORIES, QUESTIONS), strict=True):
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return list(paths)


def evaluate(files, tmp_path, **options):
    out, rows = tmp_path / "out.json", tmp_path / "rows.jsonl"
    call_command("evaluate", retrieval=files, json=out, predictions=rows, **options)
    return json.loads(out.read_text()), [json.loads(line) for line in rows.read_text().splitlines()]


def test_answers_are_ranked_and_measured(db, files, tmp_path, capsys):
    report, rows = evaluate(files, tmp_path)

    ranked = {row["id"]: row["ranked"] for row in rows}
    assert list(ranked) == ["q1", "q2", "q3", "q4"]
    assert ranked["q1"][0] == "2"
    assert ranked["q4"] == ["5"]
    assert sorted(ranked["q1"]) == ["1", "2", "3", "4"]  # "3" and "4" are one memory
    assert report["metrics"]["p@1"] == {
        "mean": 1.0, "low": 1.0, "high": 1.0, "n": 2, "lower_is_better": False,
    }  # fmt: skip
    assert report["details"]["by category"]["2hop"] == {
        "n": 1.0, "recall@10": 1.0, "ndcg@10": 1.0,
    }  # fmt: skip
    assert "recall@10" in capsys.readouterr().out


def test_ids_sort_as_the_rows_so_that_every_run_breaks_ties_the_same_way(db):
    rows = [MemoryRow(id=str(n), ds="b", text=f"Crate {n} is in the shed.") for n in range(30)]
    with scratch_workspace() as workspace:
        names = store(workspace, rows, now=datetime(2025, 1, 1, tzinfo=UTC), advance=lambda _: None)
    assert [names[i] for i in sorted(names)] == [[row.id] for row in rows]


def test_a_memory_that_the_product_refuses_is_not_found_and_named(db, files, tmp_path, capsys):
    secret = {"id": "6", "ds": "b", "text": "The password is hunter2hunter2, in the Andamans."}
    long = {"id": "7", "ds": "b", "text": "Andamans " * 1000}
    files[0].write_text(files[0].read_text() + f"{json.dumps(secret)}\n{json.dumps(long)}\n")

    report, rows = evaluate(files, tmp_path)

    assert rows[-1] == {"id": "q4", "ranked": ["5"]}
    assert report["details"]["memories refused"] == ["6", "7"]
    assert "memories refused: ['6', '7']\n" in capsys.readouterr().out


def test_gold_that_no_memory_of_the_group_has_is_named(db, files, tmp_path):
    asked = {"id": "q5", "ds": "b", "question": "Which capital?", "gold": ["5", "2", "lost"]}
    files[1].write_text(files[1].read_text() + json.dumps(asked) + "\n")

    report, _ = evaluate(files, tmp_path)

    assert report["details"]["gold that no memory has"] == ["2", "lost"]


def test_nothing_is_said_of_losses_where_there_are_none(db, files, tmp_path):
    report, _ = evaluate(files, tmp_path)

    assert set(report["details"]) == {"questions asked", "by category"}


def test_report_says_where_its_figures_come_from(db, files, tmp_path):
    report, _ = evaluate(files, tmp_path)

    provenance = report["provenance"]
    assert [entry["name"] for entry in provenance["inputs"]] == [
        "memories.jsonl", "questions.jsonl",
    ]  # fmt: skip
    assert provenance["embedding_model"] == "all-MiniLM-L6-v2"
    assert {"git", "seed", "workspace_settings", "fusion", "bm25", "versions", "seconds"} <= set(
        provenance
    )


def test_nothing_is_left_behind(tenant, files, tmp_path):
    with in_workspace(tenant.workspace):
        before = Event.objects.count()

    evaluate(files, tmp_path)

    assert [w.slug for w in Workspace.objects.all()] == ["acme"]
    with in_workspace(tenant.workspace):
        assert Event.objects.count() == before
        assert (Memory.objects.count(), RecallRecord.objects.count()) == (0, 0)


def test_a_run_equals_its_own_baseline_and_loses_to_a_better_one(db, files, tmp_path, capsys):
    report, _ = evaluate(files, tmp_path)
    baseline = tmp_path / "baseline.json"
    baseline.write_text(json.dumps(report))
    evaluate(files, tmp_path, baseline=baseline)

    report["metrics"]["mrr"] |= {"mean": 1.2, "low": 1.1}
    baseline.write_text(json.dumps(report))
    with pytest.raises(SystemExit) as stopped:
        evaluate(files, tmp_path, baseline=baseline)

    assert stopped.value.code == 1
    assert "mrr 1.000 is worse than 1.200" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name_and_line", "message"),
    [
        (
            ("memories", '{"id": "9", "conv": "a"}'),
            "line 6: Value error, text or content is missing",
        ),
        (("memories", '{"id": "1", "conv": "a", "text": "x"}'), "stand more than once: 1"),
        (("memories", '{"id": "9", "text": "x", "time": "soon"}'), "line 6: time: Value error"),
        (("questions", '{"id": "q9", "conv": "z", "question": "?"}'), "q9 asks of a group without"),
        (("questions", "{"), "questions.jsonl, line 5: Invalid JSON"),
    ],
)
def test_wrong_lines_end_with_two(db, files, tmp_path, name_and_line, message):
    name, line = name_and_line
    path = tmp_path / f"{name}.jsonl"
    path.write_text(path.read_text() + line + "\n")

    with pytest.raises(CommandError, match=message) as refused:
        evaluate(files, tmp_path)

    assert refused.value.returncode == 2


def test_times_of_both_kinds_are_read():
    moment = datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
    assert parse_time("1:56 pm on 8 May, 2023") == moment
    assert parse_time("2023-05-08T13:56:00Z") == moment
    assert parse_time("2023-05-08T15:56:00+02:00") == moment
    assert parse_time("2023-05-08T13:56:00") == moment
    with pytest.raises(ValueError, match="no time that can be read"):
        parse_time("yesterday")
