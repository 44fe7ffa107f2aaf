"""`evaluate --extraction` on a few transcripts."""

import json
from hashlib import sha256

import pytest
from django.core.management import CommandError, call_command

from engram.kernel.models import Job, Workspace
from memories.core.extraction.prompt import INSTRUCTIONS
from tests.model_server import ModelServer, completion

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
    assert report["details"]["levels"] == {
        "first level": "met", "goal": "missed: recall 0.500 below 0.6",
    }  # fmt: skip
    assert Workspace.objects.count() == 0
    assert Job._base_manager.count() == 0


def test_requests_are_counted_by_their_label_and_others_named_for_what_they_are(db, tmp_path, path):
    """A request that the rules do not see is missed, and not left out of the figure."""
    out = tmp_path / "out.json"
    call_command("evaluate", extraction=path, json=out)
    metrics = json.loads(out.read_text())["metrics"]
    assert metrics["recognised_requests_kept"]["n"] == 2  # one of them is known already
    assert "requests_kept" not in metrics

    rows = [json.loads(line) for line in path.read_text().splitlines()]
    rows[0]["requests"] = ["from now on Mirjam owns the staging cluster"]
    rows[1]["requests"] = []
    rows[2]["requests"] = ["Is it raining?"]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    call_command("evaluate", extraction=path, json=out)
    metrics = json.loads(out.read_text())["metrics"]
    assert (metrics["requests_kept"]["mean"], metrics["requests_kept"]["n"]) == (0.5, 2)
    assert "recognised_requests_kept" not in metrics


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
    with pytest.raises(CommandError, match="extractor model needs an endpoint"):
        call_command("evaluate", extraction=path, extractor="model")
    with pytest.raises(CommandError, match="go with --extraction"):
        call_command("evaluate", gate=path, against="rules")


BAKERY = [
    {
        "id": "1",
        "transcript": "User: the rye came out pale\nAgent: Bake it at 250?\n"
        "User: 230 is right for the rye, the crust burnt twice\n",
        "keep": [
            {"fact": "Rye bakes at 230.",
             "quote": "230 is right for the rye, the crust burnt twice"}
        ],
        "refuse": [{"text": "the rye came out pale", "reason": "ephemeral_state"}],
    },
    {
        "id": "2",
        "transcript": "User: the new racks were delivered to the wrong door\n"
        "Agent: Shall I call them?\nUser: deliveries come to the yard door, Timo signs for them\n",
        "keep": [
            {"fact": "Timo signs for deliveries at the yard door.",
             "quote": "deliveries come to the yard door, Timo signs for them"}
        ],
    },
]  # fmt: skip
OTHER = "Write down what stays true."


def _reply(request, finders):
    """Answer as a model does that finds what is worth keeping by some prompts only."""
    system, asked = (one["content"] for one in request.body["messages"][:2])
    if system not in finders:
        return completion(json.dumps({"facts": []}))
    passages = [line.split(" ", 1) for line in asked.splitlines()]
    quotes = [keep["quote"] for row in BAKERY for keep in row["keep"]]
    facts = [
        {"passage": int(number), "quote": quote, "fact": f"{quote[0].upper()}{quote[1:]}.",
         "confidence": 0.9, "answers": []}
        for number, said in passages
        for quote in quotes
        if quote in json.loads(said)["says"]
    ]  # fmt: skip
    return completion(json.dumps({"facts": facts}))


@pytest.fixture
def prompts(db, tmp_path, settings, monkeypatch):
    """Return a function that compares the product's prompt with another; its report."""
    monkeypatch.setattr("engram.kernel.llm.FIRST_PAUSE_SECONDS", 0.01)
    path, out, other = (tmp_path / name for name in ("bakery.jsonl", "out.json", "other.txt"))
    path.write_text("".join(json.dumps(row) + "\n" for row in BAKERY))
    other.write_text(OTHER)
    with ModelServer() as server:
        settings.ENGRAM_LLM = settings.ENGRAM_LLM | {"base_url": server.base_url}

        def compare(answer, **options):
            server.answer_chat(answer)
            call_command(
                "evaluate", extraction=path, extractor="model", against="model", json=out, **options
            )
            return json.loads(out.read_text())

        compare.other = other
        yield compare


@pytest.mark.parametrize(
    ("option", "finds", "verdict"),
    [
        ("prompt", OTHER, "ship"),
        ("prompt", INSTRUCTIONS, "pause"),
        ("against_prompt", OTHER, "pause"),
        ("against_prompt", INSTRUCTIONS, "ship"),
    ],
)
def test_two_prompts_are_compared_on_the_same_transcripts(prompts, option, finds, verdict):
    report = prompts(lambda request: _reply(request, {finds}), **{option: prompts.other})
    details, metrics = report["details"], report["metrics"]
    assert details["verdict"] == verdict
    ours, theirs = details["prompt"], details["prompt of the other"]
    assert metrics["recall"]["mean"] == (1.0 if verdict == "ship" else 0.0)
    assert abs(details["p@1 over the other"]["mean"]) == 1.0
    if option == "against_prompt":
        ours, theirs = theirs, ours
    shipped = sha256(INSTRUCTIONS.encode()).hexdigest()
    assert ours == {"prompt": "other.txt", "sha256": sha256(OTHER.encode()).hexdigest()}
    assert theirs == {"prompt": "extraction-1", "sha256": shipped}
    assert [one["name"] for one in report["provenance"]["inputs"]] == ["bakery.jsonl", "other.txt"]


def test_a_transcript_without_a_models_answer_says_nothing_of_its_prompt(prompts):
    """Rules read it instead, and would be taken for the prompt."""

    def reply(request):
        is_first = "rye" in request.body["messages"][1]["content"]
        return completion("no JSON") if is_first else _reply(request, {OTHER, INSTRUCTIONS})

    details = prompts(reply, prompt=prompts.other)["details"]
    assert (details["transcripts compared"], details["read by rules instead"]) == (1, 1)
    assert details["read by rules instead of the other"] == 1
    with pytest.raises(CommandError, match="no usable answer for any"):
        prompts(completion("no JSON"), prompt=prompts.other)


def test_a_prompt_that_cannot_be_used_is_named(prompts, tmp_path):
    empty, binary = tmp_path / "empty.txt", tmp_path / "binary"
    empty.write_text(" \n")
    binary.write_bytes(b"\xff\xfe\x00")
    for option in ("prompt", "against_prompt"):
        for path, told in (
            (tmp_path / "none.txt", "No such file"),
            (tmp_path, "directory"),
            (empty, "no instructions"),
            (binary, "not UTF-8"),
        ):
            with pytest.raises(CommandError, match=told):
                prompts(completion("unasked"), **{option: path})


def test_a_prompt_goes_with_a_model(db, path):
    with pytest.raises(CommandError, match="--prompt goes with --extractor model"):
        call_command("evaluate", extraction=path, prompt=path)
    with pytest.raises(CommandError, match="--against-prompt goes with --against model"):
        call_command("evaluate", extraction=path, against="floor", against_prompt=path)
    with pytest.raises(CommandError, match="the extractor model needs an endpoint"):
        call_command("evaluate", extraction=path, against="model", against_prompt=path)
