"""What happened in a session: everything in order, nobody else's, no text of what is hidden."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from urllib.parse import quote

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from conflicts.services.detection.detect import detect_due
from engram.kernel import telemetry
from engram.kernel.actors import SYSTEM
from engram.kernel.history import record
from engram.kernel.models import StageError
from engram.kernel.tenancy import in_workspace
from memories.models import Session, SessionCandidate
from predictor.models import Comparison, Training
from predictor.services.judging.judge import judge_due
from tests.conftest import House

KEY = "talk/1 ?"
FACTS = [
    "The team deploys the shop on Tuesdays at nine.",
    "The staging cluster runs in Frankfurt.",
    "Invoices are sent by the billing service every night.",
    "Alice owns the payment gateway.",
]
TALK = "We spoke about the shop and that the team deploys it on Tuesdays. " * 20


def read(house: House, key: str = KEY) -> Any:
    return house.reader.get(f"timeline/{quote(key, safe='')}")


def live(house: House, key: str = KEY) -> None:
    """Let a session live from its first memory to its judgement."""
    for fact in FACTS:
        house.agent.post("memories", {"content": fact, "project": "shop"})
    asked = {"session_key": key, "project": "shop", "context": "deploying the shop", "k": 2}
    assert house.agent.post("sessions", asked).status_code == 201
    path = f"sessions/{quote(key, safe='')}"
    house.agent.post(f"{path}/prompts", {"prompt": "When does the team deploy the shop?"})
    noted = {"content": "The shop moves to Berlin in May.", "session_key": key}
    house.agent.post("memories", noted)
    assert house.agent.post(f"{path}/end", {"transcript": TALK}).status_code == 202
    judge_due(house.workspace, clock=timezone.now)


def told(house: House, key: str = KEY) -> list[tuple[str, str]]:
    return [(entry["source"], entry["event"]) for entry in read(house, key).json()["entries"]]


def test_a_whole_session_is_told_in_order(house: House, neighbour: House) -> None:
    live(house)
    live(neighbour)
    with in_workspace(house.workspace):
        session = Session.objects.get()
        telemetry.record_error(
            "predictor_score", "predictor_timeout", session_key=KEY, now=timezone.now()
        )
        Training.objects.create(
            status="promoted", reason="first", started_at=timezone.now(), version=1, loss=0.2,
            finished_at=timezone.now() + timedelta(seconds=2), trained_session_ids=[session.id],
        )  # fmt: skip
    answer = read(house)
    assert answer.status_code == 200
    body = answer.json()
    assert body["session"]["id"] == str(session.id)
    assert body["is_truncated"] is False
    moments = [entry["at"] for entry in body["entries"]]
    assert moments == sorted(moments)
    order = told(house)
    for entry in [
        ("session", "started"),
        ("predictor", "prefilter"),
        ("predictor", "scored"),
        ("predictor", "diversity"),
        ("session", "prompted"),
        ("memory", "committed"),
        ("session", "ended"),
        ("predictor", "fts_overlap"),
        ("job", "judging_due"),
        ("judge", "judged"),
        ("predictor", "comparison"),
        ("error", "predictor_timeout"),
        ("predictor", "trained"),
    ]:
        assert order.count(entry) == 1, entry
    assert order.index(("session", "started")) < order.index(("session", "prompted"))
    assert order.index(("judge", "judged")) < order.index(("predictor", "trained"))
    assert order[-1] == ("predictor", "trained")


def details(house: House, event: str) -> dict[str, Any]:
    entries = read(house).json()["entries"]
    found: dict[str, Any] = next(e["details"] for e in entries if e["event"] == event)
    return found


def test_the_numbers_are_those_of_the_records(house: House) -> None:
    live(house)
    with in_workspace(house.workspace):
        rows = list(SessionCandidate.objects.all())
        comparison = Comparison.objects.get()
    given = [row for row in rows if row.was_injected]
    assert details(house, "prefilter") == {"candidates": 4, "injected": len(given)}
    assert details(house, "fts_overlap") == {
        "injected": len(given),
        "injected_matched": sum(row.fts_hit_count > 0 for row in given),
        "fts_only": 0,
        "prompts": 1,
    }
    scored = details(house, "scored")
    assert (scored["scored"], scored["alpha"], scored["top_pick"]) == (0, 1.0, None)
    assert details(house, "comparison")["outcome"] == comparison.outcome
    assert details(house, "comparison")["baseline_ndcg"] == comparison.baseline_ndcg


def test_the_predictors_first_is_named(house: House) -> None:
    live(house)
    with in_workspace(house.workspace):
        best = SessionCandidate.objects.all()[1]
        SessionCandidate.objects.filter(pk=best.pk).update(predictor_rank=1, predictor_score=0.9)
    scored = details(house, "scored")
    assert (scored["scored"], scored["top_pick"]) == (1, str(best.memory_id))


def test_a_session_that_is_not_judged_is_told_as_skipped(house: House) -> None:
    house.agent.post("memories", {"content": FACTS[0]})
    assert house.agent.post("sessions", {"session_key": "short"}).status_code == 201
    assert house.agent.post("sessions/short/end", {"transcript": "Hello."}).status_code == 202
    order = told(house, "short")
    assert ("job", "judging_due") not in order
    assert ("judge", "judging_skipped") in order


def test_a_drift_reset_is_told(house: House) -> None:
    live(house)
    with in_workspace(house.workspace):
        Comparison.objects.update(is_drift_reset=True)
    assert ("predictor", "drift_reset") in told(house)


def test_texts_are_those_of_memories_that_may_be_recalled(house: House) -> None:
    live(house)
    entry = next(e for e in read(house).json()["entries"] if e["event"] == "committed")
    assert entry["text"] == "The shop moves to Berlin in May."
    house.agent.post("memories/forget", {"ids": [entry["object"]], "confirm": True})
    answer = read(house)
    entry = next(e for e in answer.json()["entries"] if e["event"] == "committed")
    assert entry["text"] is None
    assert "Berlin" not in answer.content.decode()


def test_cards_about_the_sessions_memories_are_told(house: House) -> None:
    for content in ("The rate limit is 100 requests.", "The rate limit is 500 requests."):
        note = {"content": content, "scope": "api", "agent": content[-14:-10]}
        house.agent.post("memories", note | {"session_key": f"s{content[18]}"})
    detect_due(house.workspace, clock=timezone.now)
    cards = house.reader.get("conflicts").json()["results"]
    assert len(cards) == 1
    entries = read(house, "s5").json()["entries"]
    assert [e["object"] for e in entries if e["source"] == "conflict"] == [cards[0]["id"]]


def test_a_key_that_only_memories_name_has_a_timeline(house: House) -> None:
    house.agent.post("memories", {"content": FACTS[0], "session_key": "only"})
    body = read(house, "only").json()
    assert body["session"] is None
    assert told(house, "only") == [("memory", "committed")]


@pytest.mark.parametrize("key", ["nobody's", "x" * 200, "a/b/c", "%"])
def test_an_unknown_session_is_not_found(house: House, neighbour: House, key: str) -> None:
    live(neighbour, "nobody's")
    assert read(house, key).status_code == 404


@pytest.mark.parametrize("key", ["x" * 201, "a\0b"])
def test_what_cannot_be_a_key_is_not_found(house: House, key: str) -> None:
    assert read(house, key).status_code == 404


def test_a_long_session_needs_no_more_queries(house: House) -> None:
    live(house)

    def queries() -> int:
        with CaptureQueriesContext(connection) as asked:
            assert read(house).status_code == 200
        return len(asked)

    queries()  # the first request of a key also writes its use
    few = queries()
    now = timezone.now()
    with in_workspace(house.workspace):
        session = Session.objects.get()
        for number in range(30):
            memory = session.candidates.all()[0].memory_id
            record("memory.forgotten", of=("memory", memory), actor=SYSTEM, now=now,
                   session_key=KEY, data={"n": number})  # fmt: skip
            Training.objects.create(
                status="rejected", reason="interval", started_at=now,
                trained_session_ids=[session.id],
            )  # fmt: skip
        StageError.objects.bulk_create(
            StageError(stage="judge", code="judge_failed", session_key=KEY, at=now)
            for _ in range(30)
        )
    assert queries() == few


def test_a_deleted_session_is_no_part_of_the_next_of_its_key(house: House) -> None:
    live(house)
    with in_workspace(house.workspace):
        before = timezone.now()
        telemetry.record_error("judge", "judge_failed", session_key=KEY, now=before)
    path = f"sessions/{quote(KEY, safe='')}"
    assert house.admin.delete(path).status_code == 204
    assert told(house) == [("session", "deleted")]
    noted = {"content": "The shop got a new bell.", "session_key": KEY}
    house.agent.post("memories", noted)
    assert told(house) == [("session", "deleted"), ("memory", "committed")]
    assert house.agent.post("sessions", {"session_key": KEY}).status_code == 201
    house.agent.post(f"{path}/prompts", {"prompt": "What hangs above the door?"})
    with in_workspace(house.workspace):
        now = timezone.now()
        telemetry.record_error("judge", "judge_failed", session_key=KEY, now=now)
    order = told(house)
    starts = order.index(("session", "started"))
    assert order[:starts] == [("memory", "committed")]
    assert sorted(order[starts + 1 :]) == [
        ("error", "judge_failed"),
        ("predictor", "diversity"),
        ("predictor", "fts_overlap"),
        ("predictor", "prefilter"),
        ("predictor", "scored"),
        ("session", "prompted"),
    ]
    assert "Berlin" not in read(house).content.decode()


def test_of_a_very_long_history_the_newest_thousand_are_told(house: House) -> None:
    with in_workspace(house.workspace):
        for number in range(1003):
            record("memory.noted", of=("memory", house.workspace.pk), actor=SYSTEM,
                   now=timezone.now(), session_key="long", data={"n": number})  # fmt: skip
    body = read(house, "long").json()
    assert body["is_truncated"] is True
    assert [entry["details"]["n"] for entry in body["entries"]] == list(range(3, 1003))
