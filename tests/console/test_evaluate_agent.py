"""`evaluate --conflicts STORIES --agent`: the simulated agent and what it is asked."""

import json

import pytest
from django.core.management import CommandError, call_command

from conflicts.models import JudgedRelation
from engram.console.evaluation.agent import StoryCards, label, score
from engram.console.evaluation.stories import StoryRow
from engram.kernel.models import Workspace

FACTS = [
    {"id": "f1", "scope": "checkout", "session": "a", "committed_at": "2025-01-10T09:00:00Z",
     "content": "Design reviews for the Halden checkout redesign are chaired by the platform "
     "guild."},
    {"id": "f2", "scope": "office", "session": "b", "committed_at": "2025-02-10T09:00:00Z",
     "content": "Lunch is at noon."},
    {"id": "f3", "scope": "checkout", "session": "c", "committed_at": "2025-04-10T09:00:00Z",
     "content": "The Halden checkout redesign has its design reviews chaired by Ingrid from "
     "payments."},
]  # fmt: skip
SEMANTIC = {
    "id": "s1",
    "kind": "ambiguity",
    "now": "2025-07-15T12:00:00Z",
    "facts": FACTS,
    "expected": [{"fact_ids": ["f1", "f3"], "kind": "ambiguity"}],
}
COHERENT = SEMANTIC | {"id": "s2", "kind": "coherent", "expected": []}


@pytest.fixture
def stories(tmp_path):
    path = tmp_path / "stories.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in (SEMANTIC, COHERENT)))
    return path


def test_the_agent_answers_by_the_labels_what_commits_ask(db, stories, tmp_path):
    out, rows = tmp_path / "out.json", tmp_path / "rows.jsonl"

    call_command("evaluate", conflicts=stories, agent=True, json=out, predictions=rows)

    [told, coherent] = [json.loads(line) for line in rows.read_text().splitlines()]
    question = {"fact": "f3", "other": "f1"}
    assert told["questions"] == [question | {"relation": "contradicts", "outcome": "opened"}]
    assert coherent["questions"] == [question | {"relation": "different", "outcome": "noted"}]
    assert [c["fact_ids"] for c in told["conflicts"]] == [["f1", "f3"]]
    assert coherent["conflicts"] == []
    report = json.loads(out.read_text())
    metrics = {name: figure["mean"] for name, figure in report["metrics"].items()}
    assert (metrics["recall"], metrics["recall without asking"]) == (1.0, 0.0)
    assert metrics["questions_per_commit"] == pytest.approx(2 / 6)
    assert report["mode"] == "conflicts with an agent"
    assert not Workspace.objects.exists()


def test_what_facts_answer_is_committed_with_them_with_and_without_the_agent(db, stories, tmp_path):
    asked, out = "Does the platform guild chair the design reviews?", tmp_path / "out.json"
    answers, told = tmp_path / "answers.jsonl", {"f1": "yes", "f3": "no"}
    answers.write_text(
        "".join(
            json.dumps({"story": "s1", "fact": fact, "answers": [{"q": asked, "a": answer}]}) + "\n"
            for fact, answer in told.items()
        )
    )

    call_command("evaluate", conflicts=stories, agent=True, answers=answers, json=out)

    metrics = json.loads(out.read_text())["metrics"]
    assert (metrics["recall"]["mean"], metrics["recall without asking"]["mean"]) == (1.0, 1.0)


def test_questions_are_counted_by_commit():
    rows = [StoryRow.model_validate_json(json.dumps(row)) for row in (SEMANTIC, COHERENT)]
    nothing = [{"id": row.id, "conflicts": []} for row in rows]
    asked = {"fact": "f3", "other": "f1", "relation": JudgedRelation.DIFFERENT, "outcome": "noted"}

    found = score(rows, nothing, [StoryCards([], [asked] * 3), StoryCards()], seed=0)

    assert found.figures["questions_per_commit"].value.mean == 0.5
    assert found.figures["questions_per_commit"].is_lower_better
    assert (found.details["questions"], found.details["answers"]) == (3, {"different": 3})


def test_the_agent_needs_stories(db, tmp_path):
    with pytest.raises(CommandError, match="--agent goes with --conflicts"):
        call_command("evaluate", gate=tmp_path / "pairs.jsonl", agent=True)


REVERSAL = {
    "id": "s3",
    "now": "2025-07-15T12:00:00Z",
    "facts": [
        {"id": f"f{n}", "content": text, "committed_at": f"2025-0{n}-10T09:00:00Z"}
        for n, text in enumerate(
            (
                "Outgoing messages are queued on SQS.",
                "Replaced SQS by RabbitMQ for outgoing messages.",
                "RabbitMQ runs on three nodes.",
                "Outgoing messages wait in SQS.",
                "The office moved from Bergen to Oslo.",
                "Idea: we could switch the office to Oslo.",
            ),
            start=1,
        )
    ],
    "expected": [{"fact_ids": ["f1", "f2", "f3", "f4"], "kind": "reversal"}],
}


@pytest.mark.parametrize(
    ("fact", "others", "relation"),
    [
        ("f2", ["f1"], "replaces"),
        ("f3", ["f2"], "different"),
        ("f4", ["f1"], "same"),
        ("f4", ["f2"], "contradicts"),
        ("f4", ["f1", "f2"], "contradicts"),
        ("f5", ["f1"], "replaces"),
        ("f6", ["f1"], "different"),
    ],
)
def test_the_agent_tells_an_announced_change_from_a_contradiction(fact, others, relation):
    story = StoryRow.model_validate_json(json.dumps(REVERSAL))
    assert label(story, fact, others) == relation
