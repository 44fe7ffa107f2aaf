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
from tests.conftest import Tenant

KEY = "talk/1 ?"
FACTS = [
    "The team deploys the shop on Tuesdays at nine.",
    "The staging cluster runs in Frankfurt.",
    "Invoices are sent by the billing service every night.",
    "Alice owns the payment gateway.",
]
TALK = "We spoke about the shop and that the team deploys it on Tuesdays. " * 20


def read(tenant: Tenant, key: str = KEY) -> Any:
    return tenant.reader.get(f"timeline/{quote(key, safe='')}")


def live(tenant: Tenant, key: str = KEY) -> None:
    """Let a session live from its first memory to its judgement."""
    for fact in FACTS:
        tenant.agent.post("memories", {"content": fact, "project": "shop"})
    asked = {"session_key": key, "project": "shop", "context": "deploying the shop", "k": 2}
    assert tenant.agent.post("sessions", asked).status_code == 201
    path = f"sessions/{quote(key, safe='')}"
    tenant.agent.post(f"{path}/prompts", {"prompt": "When does the team deploy the shop?"})
    noted = {"content": "The shop moves to Berlin in May.", "session_key": key}
    tenant.agent.post("memories", noted)
    assert tenant.agent.post(f"{path}/end", {"transcript": TALK}).status_code == 202
    judge_due(tenant.workspace, clock=timezone.now)


def read_entries(tenant: Tenant, key: str = KEY) -> list[tuple[str, str]]:
    return [(entry["source"], entry["event"]) for entry in read(tenant, key).json()["entries"]]


def test_a_whole_session_is_told_in_order(tenant: Tenant, neighbour: Tenant) -> None:
    live(tenant)
    live(neighbour)
    with in_workspace(tenant.workspace):
        session = Session.objects.get()
        telemetry.record_error(
            "predictor_score", "predictor_timeout", session_key=KEY, now=timezone.now()
        )
        Training.objects.create(
            status="promoted", reason="first", started_at=timezone.now(), version=1, loss=0.2,
            finished_at=timezone.now() + timedelta(seconds=2), trained_session_ids=[session.id],
        )  # fmt: skip
    answer = read(tenant)
    assert answer.status_code == 200
    body = answer.json()
    assert body["session"]["id"] == str(session.id)
    assert body["is_truncated"] is False
    moments = [entry["at"] for entry in body["entries"]]
    assert moments == sorted(moments)
    order = read_entries(tenant)
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


def details(tenant: Tenant, event: str) -> dict[str, Any]:
    entries = read(tenant).json()["entries"]
    found: dict[str, Any] = next(e["details"] for e in entries if e["event"] == event)
    return found


def test_the_numbers_are_those_of_the_records(tenant: Tenant) -> None:
    live(tenant)
    with in_workspace(tenant.workspace):
        rows = list(SessionCandidate.objects.all())
        comparison = Comparison.objects.get()
    given = [row for row in rows if row.was_injected]
    assert details(tenant, "prefilter") == {"candidates": 4, "injected": len(given)}
    assert details(tenant, "fts_overlap") == {
        "injected": len(given),
        "injected_matched": sum(row.fts_hit_count > 0 for row in given),
        "fts_only": 0,
        "prompts": 1,
    }
    scored = details(tenant, "scored")
    assert (scored["scored"], scored["alpha"], scored["top_pick"]) == (0, 1.0, None)
    assert details(tenant, "comparison")["outcome"] == comparison.outcome
    assert details(tenant, "comparison")["baseline_ndcg"] == comparison.baseline_ndcg


def test_the_predictors_first_is_named(tenant: Tenant) -> None:
    live(tenant)
    with in_workspace(tenant.workspace):
        best = SessionCandidate.objects.all()[1]
        SessionCandidate.objects.filter(pk=best.pk).update(predictor_rank=1, predictor_score=0.9)
    scored = details(tenant, "scored")
    assert (scored["scored"], scored["top_pick"]) == (1, str(best.memory_id))


def test_a_session_that_is_not_judged_is_told_as_skipped(tenant: Tenant) -> None:
    tenant.agent.post("memories", {"content": FACTS[0]})
    assert tenant.agent.post("sessions", {"session_key": "short"}).status_code == 201
    assert tenant.agent.post("sessions/short/end", {"transcript": "Hello."}).status_code == 202
    order = read_entries(tenant, "short")
    assert ("job", "judging_due") not in order
    assert ("judge", "judging_skipped") in order


def test_a_drift_reset_is_told(tenant: Tenant) -> None:
    live(tenant)
    with in_workspace(tenant.workspace):
        Comparison.objects.update(is_drift_reset=True)
    assert ("predictor", "drift_reset") in read_entries(tenant)


def test_texts_are_those_of_memories_that_may_be_recalled(tenant: Tenant) -> None:
    live(tenant)
    entry = next(e for e in read(tenant).json()["entries"] if e["event"] == "committed")
    assert entry["text"] == "The shop moves to Berlin in May."
    tenant.agent.post("memories/forget", {"ids": [entry["object"]], "confirm": True})
    answer = read(tenant)
    entry = next(e for e in answer.json()["entries"] if e["event"] == "committed")
    assert entry["text"] is None
    assert "Berlin" not in answer.content.decode()


def test_cards_about_the_sessions_memories_are_told(tenant: Tenant) -> None:
    for content in ("The rate limit is 100 requests.", "The rate limit is 500 requests."):
        note = {"content": content, "scope": "api", "agent": content[-14:-10]}
        tenant.agent.post("memories", note | {"session_key": f"s{content[18]}"})
    detect_due(tenant.workspace, clock=timezone.now)
    cards = tenant.reader.get("conflicts").json()["results"]
    assert len(cards) == 1
    entries = read(tenant, "s5").json()["entries"]
    assert [e["object"] for e in entries if e["source"] == "conflict"] == [cards[0]["id"]]


def test_a_key_that_only_memories_name_has_a_timeline(tenant: Tenant) -> None:
    tenant.agent.post("memories", {"content": FACTS[0], "session_key": "only"})
    body = read(tenant, "only").json()
    assert body["session"] is None
    assert read_entries(tenant, "only") == [("memory", "committed")]


@pytest.mark.parametrize("key", ["nobody's", "x" * 200, "a/b/c", "%"])
def test_an_unknown_session_is_not_found(tenant: Tenant, neighbour: Tenant, key: str) -> None:
    live(neighbour, "nobody's")
    assert read(tenant, key).status_code == 404


@pytest.mark.parametrize("key", ["x" * 201, "a\0b"])
def test_what_cannot_be_a_key_is_not_found(tenant: Tenant, key: str) -> None:
    assert read(tenant, key).status_code == 404


def test_a_long_session_needs_no_more_queries(tenant: Tenant) -> None:
    live(tenant)

    def queries() -> int:
        with CaptureQueriesContext(connection) as asked:
            assert read(tenant).status_code == 200
        return len(asked)

    queries()  # the first request of a key also writes its use
    few = queries()
    now = timezone.now()
    with in_workspace(tenant.workspace):
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


def test_a_deleted_session_is_no_part_of_the_next_of_its_key(tenant: Tenant) -> None:
    live(tenant)
    with in_workspace(tenant.workspace):
        before = timezone.now()
        telemetry.record_error("judge", "judge_failed", session_key=KEY, now=before)
    path = f"sessions/{quote(KEY, safe='')}"
    assert tenant.admin.delete(path).status_code == 204
    assert read_entries(tenant) == [("session", "deleted")]
    noted = {"content": "The shop got a new bell.", "session_key": KEY}
    tenant.agent.post("memories", noted)
    assert read_entries(tenant) == [("session", "deleted"), ("memory", "committed")]
    assert tenant.agent.post("sessions", {"session_key": KEY}).status_code == 201
    tenant.agent.post(f"{path}/prompts", {"prompt": "What hangs above the door?"})
    with in_workspace(tenant.workspace):
        now = timezone.now()
        telemetry.record_error("judge", "judge_failed", session_key=KEY, now=now)
    order = read_entries(tenant)
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
    assert "Berlin" not in read(tenant).content.decode()


def test_of_a_very_long_history_the_newest_thousand_are_told(tenant: Tenant) -> None:
    with in_workspace(tenant.workspace):
        for number in range(1003):
            record("memory.noted", of=("memory", tenant.workspace.pk), actor=SYSTEM,
                   now=timezone.now(), session_key="long", data={"n": number})  # fmt: skip
    body = read(tenant, "long").json()
    assert body["is_truncated"] is True
    assert [entry["details"]["n"] for entry in body["entries"]] == list(range(3, 1003))
