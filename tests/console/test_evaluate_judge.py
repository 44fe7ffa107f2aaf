"""`evaluate --judge` on a few sessions."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from engram.console.evaluation.judge_bias import balanced_orders, places_of
from engram.kernel.models import Workspace
from predictor.core.judging import PROMPT_VERSION
from tests.model_server import Answer, ModelServer, Request, completion

TALK = (
    "User: Certbot failed twice on staging, shall I force the renewal?\n"
    "Agent: No: the zone allows only Sectigo to issue certificates. Letsencrypt.org has to be "
    "added to the CAA record first, which only Ingrid can do.\n"
    "User: Asked her. She has added it.\n"
    "Agent: Then try it with a dry run first, and renew the certificate when that is green.\n"
)
ROWS: list[dict[str, Any]] = [
    {
        "id": "1",
        "context": "Renewing the certificate of staging",
        "transcript": TALK,
        "memories": [
            {"text": "Only Ingrid may edit the CAA record of the zone.", "relevance": 1.0},
            {"text": "A dry run comes before a certificate is renewed.", "relevance": 0.5},
            {"text": "Lunch is at noon in the Harbour building.", "relevance": 0.0},
            {"text": "The staging key is AKIAIOSFODNN7EXAMPLE, keep it.", "relevance": 0.0},
        ],
    },
    {"id": "2", "transcript": "…", "memories": [{"text": "Lunch is at noon.", "relevance": 0.0}]},
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "sessions.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return path


@pytest.mark.django_db
def test_every_session_is_judged_and_scored(tmp_path: Path, path: Path) -> None:
    out, predictions = tmp_path / "out.json", tmp_path / "rows.jsonl"
    call_command("evaluate", judge=path, json=out, predictions=predictions)
    first, second = map(json.loads, predictions.read_text().splitlines())
    assert first.keys() == {"id", "relevance", "confidence", "contradicted"}
    assert (first["id"], len(first["relevance"]), len(second["relevance"])) == ("1", 4, 1)
    assert min(first["relevance"][:2]) > max(first["relevance"][2:])
    report = json.loads(out.read_text())
    assert report["metrics"]["auc"]["mean"] == 1.0
    assert report["metrics"]["auc"]["n"] == 1  # the other one has no pair
    assert report["metrics"]["sure"]["n"] == 2
    assert report["details"]["memories"] == 5
    assert report["details"]["largest difference of a memory between orders"] == 0.0
    assert not Workspace.objects.exists()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("change", "told"),
    [({"memories": []}, "memories"), ({"transcript": ""}, "transcript"), ({"id": "2"}, "once")],
)
def test_bad_rows_are_named(path: Path, change: dict[str, Any], told: str) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in (ROWS[0] | change, ROWS[1])))
    with pytest.raises(CommandError, match=told):
        call_command("evaluate", judge=path)


PLACES = np.arange(8) / 7
TRUTHS = (0.0, 0.0, 0.0, 0.0, 0.5, 0.5, 1.0, 1.0)
WORDS = ("oak", "elm", "ash", "yew", "fir", "lime", "pine", "teak", "rowan", "alder", "hazel")


def many(sessions: int = 8) -> list[dict[str, Any]]:
    """Return sessions of eight memories of different lengths."""
    rng = np.random.default_rng(5)
    rows = []
    for number in range(sessions):
        memories = []
        for place, truth in enumerate(TRUTHS):
            words = " ".join(rng.choice(WORDS, size=int(rng.integers(3, 24))))
            memories.append({"text": f"Tree {number}.{place} is {words}.", "relevance": truth})
        rows.append({"id": str(number), "transcript": TALK, "memories": memories})
    return rows


Bias = Callable[[int, str], float]


def stand_in(rows: Sequence[dict[str, Any]], bias: Bias) -> Callable[[Request], Answer]:
    """Rate with .3 + .4 · relevance, and what `bias` adds by place (from 0) and text."""
    true = {note["text"]: note["relevance"] for row in rows for note in row["memories"]}

    def respond(request: Request) -> Answer:
        *lines, _ = request.body["messages"][1]["content"].split("\n")
        said = [json.loads(line.split(" ", 1)[1])["says"] for line in lines]
        relevance = [
            {"note": place + 1, "relevance": 0.3 + 0.4 * true[says] + bias(place, says)}
            for place, says in enumerate(said)
        ]
        told = {"reasoning": "r", "relevance": relevance, "overall": 0.5, "confidence": 0.9}
        return completion(json.dumps(told | {"missing_topics": [], "novel_context_count": 0}))

    return respond


@pytest.fixture
def measured(db: None, tmp_path: Path, settings: Any) -> Iterator[Callable[..., dict[str, Any]]]:
    """Return a function that evaluates a stand-in on a local server; its report."""
    path, out = tmp_path / "many.jsonl", tmp_path / "out.json"
    with ModelServer() as server:
        settings.ENGRAM_LLM = settings.ENGRAM_LLM | {"base_url": server.base_url}

        def measure(
            bias: Bias = lambda *_: 0.0, *, rows: Sequence[dict[str, Any]] = (), **options: Any
        ) -> dict[str, Any]:
            rows = rows or many()
            path.write_text("".join(json.dumps(row) + "\n" for row in rows))
            server.answer_chat(options.pop("answer", None) or stand_in(rows, bias))
            call_command("evaluate", judge=path, json=out, **{"model": True} | options)
            report: dict[str, Any] = json.loads(out.read_text())
            return report | {"requests": list(server.requests)}

        yield measure


SLOPE = "slope of the rating from first to last place, "
QUARTERS = "rating by quarter of the list, "
ONE, TWO = "one order", "two orders averaged"


def test_a_judge_biased_along_the_list_is_found_and_averaged_away(
    measured: Callable[..., dict[str, Any]],
) -> None:
    told = measured(lambda place, _: 0.2 * (1 - PLACES[place]))["details"]
    assert told[SLOPE + ONE] == {"mean": -0.2, "low": -0.2, "high": -0.2, "n": 8}
    assert told[QUARTERS + ONE] == pytest.approx(
        {"first": 0.0857, "second": 0.0286, "third": -0.0286, "fourth": -0.0857}, abs=1e-4
    )
    assert told[SLOPE + TWO]["mean"] == pytest.approx(0.0, abs=1e-4)
    assert list(told[QUARTERS + TWO].values()) == pytest.approx([0.0] * 4, abs=1e-4)


def test_a_judge_biased_to_the_first_places_is_found_and_averaging_halves_it(
    measured: Callable[..., dict[str, Any]],
) -> None:
    """The places at both ends keep .05 over the middle: no two orders take that away."""
    added = np.where(np.arange(8) < 2, 0.1, 0.0)
    told = measured(lambda place, _: float(added[place]))["details"]
    slope = np.polyfit(PLACES, added, 1)[0]
    assert told[SLOPE + ONE]["mean"] == pytest.approx(slope, abs=1e-4)
    assert told[QUARTERS + ONE] == {
        "first": 0.075, "second": -0.025, "third": -0.025, "fourth": -0.025,
    }  # fmt: skip
    assert told[QUARTERS + TWO] == {
        "first": 0.025, "second": -0.025, "third": -0.025, "fourth": 0.025,
    }  # fmt: skip
    assert told[SLOPE + TWO]["mean"] == pytest.approx(0.0, abs=1e-4)


def test_a_judge_without_bias_has_none(measured: Callable[..., dict[str, Any]]) -> None:
    found = measured()
    told = found["details"]
    assert told["largest difference of a memory between orders"] == 0.0
    assert told[SLOPE + ONE]["mean"] == 0.0
    assert found["metrics"]["auc"]["mean"] == 1.0


def test_intervals_have_the_slope_of_a_judge_that_also_errs(
    measured: Callable[..., dict[str, Any]],
) -> None:
    rng = np.random.default_rng(3)
    told = measured(lambda place, _: 0.15 - 0.1 * PLACES[place] + rng.normal(0, 0.03))["details"]
    found = told[SLOPE + ONE]
    assert found["low"] < found["mean"] < found["high"] < 0.0
    assert found["low"] < -0.1 < found["high"]


def test_a_judge_that_goes_by_length_is_found_within_each_relevance(
    measured: Callable[..., dict[str, Any]],
) -> None:
    told = measured(lambda _, says: 0.1 * float(np.log2(len(says) / 60)))["details"]
    assert told["slope of the rating by twice the length"]["mean"] == pytest.approx(0.1, abs=1e-4)
    for name in ("of no use", "of some use", "of use"):
        slope = told[f"slope of the rating by twice the length, memories {name}"]
        assert slope["mean"] == pytest.approx(0.1, abs=1e-4), name
    rated = list(told["rating by quarter of the lengths"].values())
    assert rated == sorted(rated)
    assert rated[3] - rated[0] > 0.05
    assert told[SLOPE + ONE]["mean"] == pytest.approx(0.0, abs=1e-4)


def test_what_a_model_took_is_told(
    measured: Callable[..., dict[str, Any]], capsys: pytest.CaptureFixture[str]
) -> None:
    found = measured(rows=many(3))
    told = found["details"]
    assert (found["mode"], told["orders"]) == ("judge with a model", 4)
    assert (told["model calls"], len(found["requests"])) == (12, 12)
    assert told["model tokens"] == 12 * 120
    assert told["model cost in US dollars"] == round(12 * (100 * 0.15 + 20 * 0.6) / 1e6, 4)
    assert told["model seconds"] > 0
    assert (told["model"], told["prompt"]) == ("gpt-4o-mini", PROMPT_VERSION)
    printed = capsys.readouterr().out
    assert "model cost in US dollars: 0.000" in printed
    assert SLOPE + ONE in printed


def test_two_orders_are_enough_for_a_slope(measured: Callable[..., dict[str, Any]]) -> None:
    found = measured(lambda place, _: 0.2 * PLACES[place], rows=many(3), orders=2)
    told = found["details"]
    assert told[SLOPE + ONE]["mean"] == pytest.approx(0.2, abs=1e-4)
    assert SLOPE + TWO not in told
    assert len(found["requests"]) == 6


def test_what_a_model_rates_far_apart_is_unknown(
    measured: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    rows, predictions = many(2), tmp_path / "p.jsonl"
    doubted = rows[0]["memories"][0]["text"]

    def torn(place: int, says: str) -> float:
        return 0.6 if says == doubted and place < 4 else 0.0

    told = measured(torn, rows=rows, predictions=predictions)["details"]
    first, second = map(json.loads, predictions.read_text().splitlines())
    assert first["relevance"][0] is None
    assert first["relevance"][1:] == pytest.approx([0.3 + 0.4 * one for one in TRUTHS[1:]])
    assert None not in second["relevance"]
    assert told["unsure of the memories"] == round(1 / 16, 3)


def test_a_session_without_an_answer_is_left_out_and_counted(
    measured: Callable[..., dict[str, Any]],
) -> None:
    rows = many(3)
    fits, failed = stand_in(rows, lambda *_: 0.0), rows[1]["memories"][0]["text"]

    def answer(request: Request) -> Answer:
        return completion("no") if failed in json.dumps(request.body) else fits(request)

    told = measured(rows=rows, answer=answer)["details"]
    assert (told["sessions"], told["sessions without an answer"]) == (2, 1)
    with pytest.raises(CommandError, match="the model judged no session: gpt-4o-mini answered no"):
        measured(rows=rows[:1], answer=completion("no"))


def test_without_model_a_configured_one_is_not_called(
    measured: Callable[..., dict[str, Any]],
) -> None:
    found = measured(rows=many(2), model=False)
    assert (found["mode"], found["requests"]) == ("judge", [])
    # No place in the list is looked at: the figure is measured all the same.
    assert found["details"]["largest difference of a memory between orders"] == 0.0
    assert found["details"][SLOPE + ONE] == {"mean": 0.0, "low": 0.0, "high": 0.0, "n": 2}


def test_options_without_their_mode_or_endpoint_are_refused(
    db: None, path: Path, settings: Any
) -> None:
    settings.ENGRAM_LLM = settings.ENGRAM_LLM | {"base_url": None, "api_key": None}
    with pytest.raises(CommandError, match="set OPENAI_BASE_URL"):
        call_command("evaluate", "--judge", str(path), "--model")
    with pytest.raises(CommandError, match="--orders goes with --judge"):
        call_command("evaluate", "--probes", "--orders", "2")
    with pytest.raises(CommandError, match="invalid choice"):
        call_command("evaluate", "--judge", str(path), "--orders", "3")


@pytest.mark.parametrize("size", [4, 8, 12, 40])
def test_each_memory_stands_once_in_each_quarter(size: int) -> None:
    orders = balanced_orders(size, 4, np.random.default_rng(0))
    assert all(sorted(order) == list(range(size)) for order in orders)
    assert orders[1] == orders[0][::-1]
    assert orders[3] == orders[2][::-1]
    quarters = np.argsort(orders, axis=1) * 4 // size
    assert np.array_equal(np.sort(quarters, axis=0), np.repeat([[0], [1], [2], [3]], size, axis=1))


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7])
def test_few_memories_have_orders_too(size: int) -> None:
    orders = balanced_orders(size, 4, np.random.default_rng(0))
    assert all(sorted(order) == list(range(size)) for order in orders)
    assert places_of(orders).shape == (4, size)
