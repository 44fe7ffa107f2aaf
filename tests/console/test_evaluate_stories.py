"""`evaluate --conflicts` and its scoring."""

import json

import pytest
from django.core.management import CommandError, call_command
from hypothesis import given
from hypothesis import strategies as st

from engram.console.evaluation.stories import StoryRow, pair_off, score
from engram.kernel.models import Workspace
from tests.model_server import ModelServer, completion

REVERSAL = {
    "id": "s1",
    "kind": "reversal",
    "now": "2025-07-15T12:00:00Z",
    "facts": [
        {"id": "f1", "content": "The billing service uses Postgres.", "scope": "billing",
         "agent": "ada", "session": "x", "committed_at": "2025-04-11T07:05:00Z"},
        {"id": "f2", "content": "The billing service uses MySQL.", "scope": "billing",
         "agent": "bob", "session": "y", "committed_at": "2025-05-11T07:05:00Z"},
        {"id": "f3", "content": "Lunch is at noon.", "scope": "office",
         "agent": "bob", "session": "z", "committed_at": "2025-06-11T07:05:00Z"},
    ],
    "expected": [{"fact_ids": ["f1", "f2"], "kind": "ambiguity"}],
}  # fmt: skip
RULE = "ambiguity.choice"
COHERENT = REVERSAL | {
    "id": "s2",
    "kind": "coherent",
    "facts": [REVERSAL["facts"][0], REVERSAL["facts"][2]],
    "expected": [],
}


def story(name, expected):
    facts = [
        {"id": f"f{i}", "content": f"fact {i}", "committed_at": "2025-01-01T00:00:00Z"}
        for i in range(9)
    ]
    wanted = [{"fact_ids": ids} for ids in expected]
    row = {"id": name, "now": "2025-02-01T00:00:00Z", "facts": facts, "expected": wanted}
    return StoryRow.model_validate_json(json.dumps(row))


@pytest.mark.parametrize(
    ("predicted", "expected", "hits"),
    [
        ([["f1", "f2"]], [["f1", "f2", "f3"]], 1),
        ([["f1", "f2", "f9"]], [["f1", "f2"]], 1),  # one foreign fact
        ([["f1", "f2", "f8", "f9"]], [["f1", "f2"]], 0),  # two
        ([["f1"]], [["f1", "f2"]], 0),
        ([["f1", "f1"]], [["f1", "f2"]], 0),  # one fact named twice
        ([["f1", "f2"], ["f1", "f2"]], [["f1", "f2"]], 1),  # an expected conflict counts once
        ([["f1", "f2"], ["f1", "f2", "f3"]], [["f1", "f2", "f3"], ["f1", "f2"]], 2),
        ([], [["f1", "f2"]], 0),
        ([["f1", "f2"]], [], 0),
    ],
)
def test_conflicts_match_by_two_facts_and_at_most_one_other(predicted, expected, hits):
    assert len(pair_off(predicted, expected)) == hits


def test_matching_finds_the_best_pairing():
    # The first prediction fits both, the second only the first: a greedy choice would lose one.
    predicted = [["f1", "f2", "f3"], ["f1", "f2"]]
    expected = [["f1", "f2"], ["f2", "f3"]]

    assert len(pair_off(predicted, expected)) == 2


conflict = st.lists(st.sampled_from(["f1", "f2", "f3", "f4", "f5"]), min_size=2, unique=True)


@given(st.lists(conflict, max_size=4), st.lists(conflict, max_size=4))
def test_matches_never_exceed_either_side(predicted, expected):
    assert 0 <= len(pair_off(predicted, expected)) <= min(len(predicted), len(expected))
    assert len(pair_off(expected, expected)) == len(expected)


def test_figures_are_counted_over_conflicts_and_coherent_stories():
    stories = [story("a", [["f1", "f2"], ["f3", "f4"]]), story("b", []), story("c", [])]
    predictions = [
        {"id": "a", "conflicts": [{"fact_ids": ["f1", "f2"]}]},
        {"id": "b", "conflicts": [{"fact_ids": ["f1", "f2"]}, {"fact_ids": ["f3", "f4"]}]},
        {"id": "c", "conflicts": []},
    ]

    figures = score(stories, predictions, seed=0).figures

    assert figures["precision"].value.mean == pytest.approx(1 / 3)
    assert figures["recall"].value.mean == 0.5
    assert figures["coherent_flagged"].value.mean == 0.5
    assert figures["coherent_flagged"].is_lower_better


@pytest.fixture
def stories(tmp_path):
    path = tmp_path / "stories.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in (REVERSAL, COHERENT)))
    return path


def test_the_product_reads_the_stories(db, stories, tmp_path):
    out, rows = tmp_path / "out.json", tmp_path / "rows.jsonl"

    call_command("evaluate", conflicts=stories, json=out, predictions=rows)

    [flagged, coherent] = [json.loads(line) for line in rows.read_text().splitlines()]
    [found] = flagged["conflicts"]
    assert flagged["id"] == "s1"
    assert found["fact_ids"] == ["f1", "f2"]
    assert found["detected_by"] == "rules"
    assert found["question"].endswith("?")
    assert found["rule"] == RULE
    assert json.loads(out.read_text())["details"]["precision by rule"] == {RULE: "1/1 [0.21, 1.00]"}
    assert coherent == {"id": "s2", "conflicts": []}
    metrics = json.loads(out.read_text())["metrics"]
    assert [metrics[name]["mean"] for name in ("precision", "recall", "coherent_flagged")] == [
        1.0, 1.0, 0.0,
    ]  # fmt: skip
    assert not Workspace.objects.exists()


SILENT = REVERSAL | {
    "id": "s3",
    "facts": [
        REVERSAL["facts"][0] | {"content": "Releases are announced in the garden newsletter."},
        REVERSAL["facts"][1] | {"content": "People hear of releases from the town crier only."},
    ],
}


def write_stories(tmp_path):
    path = tmp_path / "stories.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in (SILENT, COHERENT)))
    return path


def answer(request):
    if request.body["response_format"]["json_schema"]["name"] == "indexreading":
        return completion(json.dumps({"notes": []}))
    _, *lines = request.body["messages"][1]["content"].split("\n")
    numbers = [int(line.split(" ", 1)[0]) for line in lines if "releases" in line.lower()]
    found = {
        "facts": numbers,
        "reasoning": "The newsletter and the town crier are both named.",
        "kind": "ambiguity",
        "yes": numbers[:1],
        "question": "Are releases announced in the garden newsletter?",
        "severity": "low",
    }
    return completion(json.dumps({"findings": [found] if numbers else []}))


def read_json_lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_with_model_the_configured_one_reads_the_stories_as_well(db, tmp_path, settings):
    path, out, rows = write_stories(tmp_path), tmp_path / "out.json", tmp_path / "p.jsonl"
    with ModelServer() as server:
        server.answer_chat(answer)
        settings.ENGRAM_LLM = settings.ENGRAM_LLM | {"base_url": server.base_url}
        call_command("evaluate", "--conflicts", path, "--model", json=out, predictions=rows)
        calls = len(server.requests)
        server.answer_chat(completion("no"))
        with pytest.raises(RuntimeError, match="detection failed: gpt-4o-mini answered no fitting"):
            call_command("evaluate", "--conflicts", path, "--model")
    cards = [row["conflicts"] for row in read_json_lines(rows)]
    assert [[c["detected_by"] for c in found] for found in cards] == [["narrative"], []]
    assert cards[0][0]["reasoning"] == "The newsletter and the town crier are both named."
    report = json.loads(out.read_text())
    details = report["details"]
    assert report["mode"] == "conflicts with a model"
    assert (details["model"], details["model batches"], details["model tokens"]) == (
        "gpt-4o-mini", calls, 120 * calls,
    )  # fmt: skip
    assert details["model cost in US dollars"] == pytest.approx(
        calls * (100 * 0.15 + 20 * 0.6) / 1e6, abs=1e-4
    )
    assert details["model seconds"] >= 0


def test_with_model_it_answers_for_the_writers_first(db, tmp_path, settings):
    path, rows = write_stories(tmp_path), tmp_path / "p.jsonl"

    def answers(request):
        if request.body["response_format"]["json_schema"]["name"] != "indexreading":
            return completion('{"findings": []}')
        notes = []
        for line in request.body["messages"][1]["content"].split("\n"):
            number, fields = line.split(" ", 1)
            says = json.loads(fields)["says"].lower()
            told = [word for word in ("garden newsletter", "town crier") if word in says]
            given = [{"question": "Where are releases announced?", "answer": word, "was": None}
                     for word in told]  # fmt: skip
            notes.append({"note": int(number), "answers": given})
        return completion(json.dumps({"notes": notes}))

    with ModelServer() as server:
        server.answer_chat(answers)
        settings.ENGRAM_LLM = settings.ENGRAM_LLM | {"base_url": server.base_url}
        call_command("evaluate", "--conflicts", path, "--model", predictions=rows)
    cards = [row["conflicts"] for row in read_json_lines(rows)]
    assert [[(c["detected_by"], c["rule"]) for c in found] for found in cards] == [
        [("rules", "ambiguity.two-answers")], [],
    ]  # fmt: skip


def test_without_model_a_configured_one_is_not_called(db, tmp_path, settings):
    path, rows = write_stories(tmp_path), tmp_path / "p.jsonl"
    with ModelServer() as server:
        server.answer_chat(answer)
        settings.ENGRAM_LLM = settings.ENGRAM_LLM | {"base_url": server.base_url}
        call_command("evaluate", "--conflicts", path, predictions=rows)
        assert server.requests == []
    assert [row["conflicts"] for row in read_json_lines(rows)] == [[], []]


def test_a_model_without_an_endpoint_is_refused_with_what_to_set(db, tmp_path, settings):
    settings.ENGRAM_LLM = settings.ENGRAM_LLM | {"base_url": None, "api_key": None}
    with pytest.raises(CommandError, match="set OPENAI_BASE_URL"):
        call_command("evaluate", "--conflicts", write_stories(tmp_path), "--model")
    for other, said in (
        (["--probes"], "--model goes with --conflicts or with --judge"),
        (
            ["--conflicts", tmp_path / "stories.jsonl", "--agent"],
            "--model does not go with --agent",
        ),
    ):
        with pytest.raises(CommandError, match=said):
            call_command("evaluate", *map(str, other), "--model")


def test_expected_conflicts_must_name_facts_of_their_story(db, stories):
    row = REVERSAL | {"id": "s3", "expected": [{"fact_ids": ["f1", "f7"]}]}
    stories.write_text(json.dumps(row) + "\n")

    with pytest.raises(CommandError, match=r"s3 expects unknown facts \{'f7'\}"):
        call_command("evaluate", conflicts=stories)
