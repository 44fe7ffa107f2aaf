"""`evaluate --matrix` on files of a few lines (census pitfall 41)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from engram.console.evaluation import matrix
from engram.console.evaluation.retrieval import QuestionRow
from engram.kernel.models import Workspace
from engram.kernel.tenancy import in_workspace
from memories.core.graph_effect import Structure
from memories.models import EntityDue
from memories.services.index.entities import mark_due
from memories.services.recall.recall import RecallAnswer

MEMORIES = [
    {"id": "1", "ds": "a", "title": "Falcon", "text": "A ferry that Harbour Lines built in Oslo."},
    {"id": "2", "ds": "a", "title": "Harbour Lines", "text": "Its director is Ines Duarte."},
    {"id": "3", "ds": "a", "title": "Canteen", "text": "It closes at three."},
    {"id": "4", "ds": "b", "title": "Falcon", "text": "A bird of prey. Osprey is another."},
    {"id": "5", "ds": "b", "title": "Osprey", "text": "It eats fish."},
]
QUESTIONS = [
    {"id": "q1", "ds": "a", "question": "Who is director of what built Falcon?",
     "gold": ["1", "2"], "type": "2hop"},
    {"id": "q2", "ds": "a", "question": "When does the canteen close?", "gold": ["3"]},
    {"id": "q3", "ds": "b", "question": "What does Osprey eat?", "gold": ["5"], "type": "lookup"},
]  # fmt: skip


def write(folder: Path, memories: list[dict[str, Any]]) -> list[Path]:
    paths = [folder / "memories.jsonl", folder / "questions.jsonl"]
    for path, rows in zip(paths, (memories, QUESTIONS), strict=True):
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return paths


def evaluate(folder: Path, **options: Any) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    out, rows = folder / "out.json", folder / "rows.jsonl"
    paths = write(folder, MEMORIES)
    call_command("evaluate", matrix=paths, json=out, predictions=rows, **options)
    return json.loads(out.read_text()), [json.loads(line) for line in rows.read_text().splitlines()]


def test_each_question_is_asked_in_four_cells(db: None, tmp_path: Path) -> None:
    report, rows = evaluate(tmp_path)
    assert [(row["id"], row["cell"]) for row in rows] == [
        (question, cell)
        for question in ("q1", "q2", "q3")
        for cell in ("plain", "graph", "plain+rerank", "graph+rerank")
    ]
    assert all(set(row["ranked"]) <= {"1", "2", "3"} for row in rows if row["id"] != "q3")
    assert all(set(row["ranked"]) <= {"4", "5"} for row in rows if row["id"] == "q3")
    assert report["details"]["verdict"] == "insufficient_power"
    assert report["details"]["invariant"]["walked"] > 0
    assert report["details"]["invariant"]["outside the scored list"] == 0
    effect = report["details"]["graph_effect (recall@5, multi_hop and temporal)"]
    assert effect["n"] == 2
    assert effect["low"] <= effect["mean"] <= effect["high"]
    assert report["metrics"]["graph recall@5"]["n"] == 3
    assert report["provenance"]["inputs"][0]["name"] == "memories.jsonl"
    assert not Workspace.objects.filter(name="Evaluation").exists()


def test_categories_choose_questions(db: None, tmp_path: Path) -> None:
    _, rows = evaluate(tmp_path, categories=["2hop"])
    assert {row["id"] for row in rows} == {"q1"}
    _, rows = evaluate(tmp_path, categories=["temporal", "b"])
    assert {row["id"] for row in rows} == {"q2", "q3"}


def test_what_is_due_is_written_before_the_first_question(
    db: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    due: list[int] = []
    ask = matrix._ask

    def noted(workspace: Workspace, *given: Any, **named: Any) -> None:
        with in_workspace(workspace):
            due.append(EntityDue.objects.count())
        ask(workspace, *given, **named)

    monkeypatch.setattr(matrix, "_ask", noted)
    monkeypatch.setattr(matrix, "store", _stored_and_due)
    evaluate(tmp_path)
    assert set(due) == {0}


_store = matrix.store


def _stored_and_due(workspace: Workspace, *given: Any, **named: Any) -> Any:
    names = _store(workspace, *given, **named)
    with in_workspace(workspace):
        mark_due()
    return names


def test_without_links_a_cell_with_links_is_refused(db: None, tmp_path: Path) -> None:
    memories = [
        {"id": str(number), "ds": ds, "text": text}
        for number, (ds, text) in enumerate(
            [("a", "it rains"), ("a", "soup is hot"), ("a", "we walk"), ("b", "birds eat")], 1
        )
    ]
    memories.append({"id": "5", "ds": "b", "text": "fish swim"})
    with pytest.raises(CommandError, match="no memory of a has a link"):
        call_command("evaluate", matrix=write(tmp_path, memories))


def test_output_of_links_outside_of_the_list_is_no_measurement(
    db: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recall = matrix.recall

    def beside(*given: Any, **named: Any) -> RecallAnswer:
        answer = recall(*given, **named)
        return RecallAnswer(answer.results[:1], "", answer.associations)

    monkeypatch.setattr(matrix, "recall", beside)
    report, _ = evaluate(tmp_path)
    assert report["details"]["invariant"]["outside the scored list"] > 0
    assert report["details"]["verdict"] == "insufficient_power"


def test_categories_go_with_the_matrix(db: None, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="--categories goes with --matrix"):
        call_command("evaluate", retrieval=write(tmp_path, MEMORIES), categories=["2hop"])


def test_the_label_of_the_data_set_says_the_structure() -> None:
    row = QuestionRow(id="1", question="When?", gold=("1",), category="single_hop")
    assert matrix.structure(row) == Structure.LOOKUP
