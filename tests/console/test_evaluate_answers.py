"""`evaluate --conflicts STORIES --answers ANSWERS`: facts with what their writers answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from engram.console.evaluation.written_answers import read_answers
from memories.core.answers import Answer

ASKED = "Who approves refunds?"
STORY = {
    "id": "s1",
    "kind": "ambiguity",
    "now": "2025-07-15T12:00:00Z",
    "facts": [
        {"id": "f1", "content": "Refunds cross the desk of the support lead.", "scope": "shop",
         "agent": "ada", "session": "x", "committed_at": "2025-04-11T07:05:00Z"},
        {"id": "f2", "content": "Money back? The treasurer has the last word.", "scope": "shop",
         "agent": "bob", "session": "y", "committed_at": "2025-05-11T07:05:00Z"},
    ],
    "expected": [{"fact_ids": ["f1", "f2"], "kind": "ambiguity"}],
}  # fmt: skip


def row(fact: str, answer: str, **fields: Any) -> dict[str, Any]:
    told = [{"q": ASKED, "a": answer}]
    return {"file": "stories.jsonl", "story": "s1", "fact": fact, "answers": told, **fields}


@pytest.fixture
def stories(tmp_path: Path) -> Path:
    path = tmp_path / "stories.jsonl"
    path.write_text(json.dumps(STORY) + "\n")
    return path


def written(tmp_path: Path, *rows: dict[str, Any]) -> Path:
    path = tmp_path / "answers.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in rows))
    return path


@pytest.mark.usefixtures("db")
def test_what_only_answers_tell_is_found_with_them(stories: Path, tmp_path: Path) -> None:
    answers = written(tmp_path, row("f1", "the support lead"), row("f2", "the treasurer"))
    out = tmp_path / "rows.jsonl"
    call_command("evaluate", conflicts=stories, predictions=out)
    assert json.loads(out.read_text())["conflicts"] == []
    call_command("evaluate", conflicts=stories, answers=answers, predictions=out)
    [card] = json.loads(out.read_text())["conflicts"]
    assert (card["fact_ids"], card["rule"]) == (["f1", "f2"], "ambiguity.two-answers")


def test_rows_of_other_story_files_are_left_out(stories: Path, tmp_path: Path) -> None:
    path = written(
        tmp_path, row("f1", "Ana"), row("f2", "Ben", file="others.jsonl"), row("f3", "Cy", file="")
    )
    assert read_answers(path, stories) == {
        ("s1", "f1"): (Answer(ASKED, "Ana"),),
        ("s1", "f3"): (Answer(ASKED, "Cy"),),
    }


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([row("f1", "Ana", file="others.jsonl")], "has no answers for the facts of stories.jsonl"),
        ([row("f1", "")], "line 1: answers.0.a"),
        ([row("f1", "Ana", answers=[{"q": "x", "a": "y"}] * 4)], "line 1: answers"),
    ],
)
@pytest.mark.usefixtures("db")
def test_a_file_that_does_not_fit_is_refused(
    stories: Path, tmp_path: Path, rows: list[dict[str, Any]], reason: str
) -> None:
    with pytest.raises(CommandError, match=reason):
        call_command("evaluate", conflicts=stories, answers=written(tmp_path, *rows))


@pytest.mark.usefixtures("db")
def test_answers_go_with_stories_only(stories: Path, tmp_path: Path) -> None:
    answers = written(tmp_path, row("f1", "Ana"))
    with pytest.raises(CommandError, match="--answers goes with --conflicts"):
        call_command("evaluate", gate=stories, answers=answers)
