"""What callers see of the predictor: standing, comparisons, audit, trainings, drift."""

from __future__ import annotations

import functools
import math
from dataclasses import replace
from datetime import timedelta
from typing import Any
from urllib.parse import quote

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from engram.kernel.actors import SYSTEM
from engram.kernel.models import Event
from engram.kernel.tenancy import in_workspace
from memories.models import Memory
from memories.services.lifecycle.forget import forget
from predictor.core.comparison import NOT_DRAFTED
from predictor.core.governance import Governor, Phase
from predictor.core.margins import Margins
from predictor.models import (
    CalibrationItem,
    CalibrationSample,
    Comparison,
    Judgement,
    Label,
    ModelVersion,
    PredictorState,
    Training,
    TrainingLease,
)
from predictor.services.serving.breaker import note_failure
from predictor.services.state import lock_state, store_governor
from predictor.services.status.unused import REASONS
from tests.conftest import NOW, Tenant
from tests.predictor.judged import build_world
from tests.predictor.serving import configure, governor, promote, state


def fill(tenant: Tenant, n: int = 4, *, name: str = "s") -> list[Any]:
    """Judge n sessions and compare the rankings: win, loss, tie, void, win …; oldest first."""
    world = build_world(tenant.workspace, n, name=name)
    outcomes = [("win", 0.3), ("loss", -0.2), ("tie", 0.0), ("void", None)]
    with in_workspace(tenant.workspace):
        made = []
        for place, session in enumerate(world.sessions):
            outcome, margin = outcomes[place % 4]
            rows = list(session.candidates.order_by("rank"))
            ids = [row.memory_id for row in rows]
            relevance = {str(row.memory_id): 0.5 for row in rows}
            Judgement.objects.filter(session=session).update(
                memory_ids=ids[::-1],
                missing_topics=["how refunds are booked"],
                raw={"reasoning": "The third note decided it."},
            )
            made.append(
                Comparison.objects.create(
                    session=session,
                    outcome=outcome,
                    void_reason="flat" if outcome == "void" else "",
                    margin=margin,
                    is_drafted=True,
                    drafted_margin=margin,
                    drafted_void_reason="flat" if outcome == "void" else "",
                    is_evidence=outcome != "void",
                    judge_confidence=0.9,
                    phase="warming",
                    evidence=governor(Phase.WARMING).to_json() | {"drift_sum": place / 10},
                    baseline_top_ids=ids[:5],
                    predictor_top_ids=ids[5:9],
                    relevance=relevance,
                    created_at=NOW + timedelta(hours=place),
                )
            )
    return made


def test_status_before_anything(tenant: Tenant, neighbour: Tenant) -> None:
    promote(neighbour.workspace, phase=Phase.ACTIVE)
    told = tenant.reader.get("predictor/status").json()

    assert (told["mode"], told["phase"], told["alpha"], told["alpha_served"]) == (
        "on",
        "collecting",
        1.0,
        1.0,
    )
    assert told["model"] is None
    assert told["status_line"] == "[predictor: collecting | 0/10 sessions | baseline only]"
    assert told["next_training"] == {
        "is_running": False,
        "due_since": None,
        "reason": "first",
        "missing_sessions": 10,
        "says": "10 more judged sessions until the first training.",
    }
    assert told["breaker"] == {"is_open": False, "until": None, "failures": 0, "threshold": 3}
    assert (told["success_rate"], told["comparisons"], told["label_count"]) == (0.5, 0, 0)
    assert (told["trained_at"], told["fully_trained_at"], told["last_training"]) == (None,) * 3
    with in_workspace(tenant.workspace):
        assert not PredictorState.objects.exists()


def test_the_scoreboard_tells_drafted_lists_from_the_others(tenant: Tenant) -> None:
    fill(tenant, 8)
    with in_workspace(tenant.workspace):
        own = Comparison.objects.filter(session__session_key__in=["s-4", "s-5"])
        own.update(is_drafted=False, drafted_margin=None, drafted_void_reason=NOT_DRAFTED)
    promote(tenant.workspace, phase=Phase.WARMING)
    weighed = [0.5, -0.1, 0.0, 0.5, -0.1]
    with in_workspace(tenant.workspace):
        margins = functools.reduce(Margins.add, weighed, Margins())
        earned = replace(Governor.initial(), phase=Phase.WARMING, margins=margins)
        store_governor(lock_state(NOW), earned, NOW)
    told = tenant.reader.get("predictor/status").json()["drafted_lists"]

    drafted, others = told["drafted"], told["others"]
    assert (drafted["sessions"], others["sessions"]) == (4, 2)
    assert drafted["margin"] == pytest.approx(0.1 / 4)
    assert others["margin"] == pytest.approx(0.05)
    spread = math.sqrt(sum((x - 0.025) ** 2 for x in (0.3, -0.2, 0, 0)) / 3 / 4)
    assert drafted["low"] == pytest.approx(0.025 - 1.96 * spread)
    assert drafted["high"] == pytest.approx(0.025 + 1.96 * spread)
    assert [(one["reason"], one["sessions"]) for one in told["void"]] == [("flat", 2)]
    assert told["void"][0]["advice"] == REASONS["flat"][1]
    assert (told["adopted_at"], told["draft_share"]) == (0, 1.0)
    assert 30 < told["missing_sessions"] < 1_000  # a lead so uncertain takes long
    assert f"about {told['missing_sessions']} more compared sessions are needed" in told["says"]
    assert told["says"].startswith(
        "The learned ranking has no say yet: better by 0.16 (95 % certain: −0."
    )


def test_status_tells_influence_as_earned_and_as_served(tenant: Tenant) -> None:
    promote(tenant.workspace, phase=Phase.ACTIVE)
    now = state(tenant.workspace)
    configure(tenant.workspace, predictor_mode="collect")
    collecting = tenant.reader.get("predictor/status").json()
    configure(tenant.workspace, predictor_mode="on")
    serving = tenant.reader.get("predictor/status").json()

    assert (collecting["alpha"], collecting["alpha_served"]) == (now.alpha, 1.0)
    assert "While it learns only" in collecting["reason"]
    assert serving["alpha_served"] == now.alpha < 1
    assert (serving["model"]["version"], serving["model"]["is_fitting"]) == (1, True)
    assert serving["literal"]["alpha"] == pytest.approx(1 - serving["success_rate"])
    assert serving["status_line"].startswith("[predictor: active | ")


def test_status_says_when_a_model_does_not_fit_or_all_is_off(tenant: Tenant) -> None:
    promote(tenant.workspace, phase=Phase.ACTIVE, embedding_model="another")
    configure(tenant.workspace, predictor_mode="on")
    told = tenant.reader.get("predictor/status").json()
    assert (told["model"]["is_fitting"], told["alpha_served"]) == (False, 1.0)
    configure(tenant.workspace, predictor_mode="off")
    off = tenant.reader.get("predictor/status").json()
    assert (off["status_line"], off["next_training"]["missing_sessions"]) == ("", None)


def test_reset_is_a_cold_start_that_keeps_records(tenant: Tenant, neighbour: Tenant) -> None:
    fill(tenant)
    promote(tenant.workspace, number=3, phase=Phase.ACTIVE)
    promote(neighbour.workspace, phase=Phase.ACTIVE)
    answer = tenant.admin.post("predictor/reset")

    assert answer.status_code == 200
    told = answer.json()
    assert (told["phase"], told["model"], told["scored_sessions"]) == ("collecting", None, 0)
    assert told["reason"].startswith("Learning began anew, and nothing is learned yet")
    assert told["detail"] == (
        "No model serves and no evidence counts; weights that are kept do not serve again."
        " 48 labels stay to be learned from."
        " 10 more judged sessions until the first training."
        " `manage.py train` learns at once, from what was judged before, too."
    )
    now = state(tenant.workspace)
    assert (now.served, now.last_version, now.alpha) == (None, 3, 1.0)
    with in_workspace(tenant.workspace):
        assert Comparison.objects.count() == 4
        assert ModelVersion.objects.count() == 1
        event = Event.objects.get(type="predictor.reset")
        assert event.data == {"reason": "asked", "version": 3}
        assert event.actor_kind == "key"
    assert state(neighbour.workspace).served == 1


def test_comparisons_are_counted_since_the_last_reset(tenant: Tenant, neighbour: Tenant) -> None:
    fill(neighbour)
    fill(tenant)

    def counted() -> tuple[int, int]:
        shown = tenant.reader.get("diagnostics/predictor").json()["fields"]["comparisons"]
        return tenant.reader.get("predictor/status").json()["comparisons"], shown

    assert counted() == (3, 3)  # the fourth is void
    tenant.admin.post("predictor/reset")
    assert counted() == (0, 0)
    with in_workspace(tenant.workspace):
        Comparison.objects.filter(outcome="win").update(created_at=timezone.now())
    assert counted() == (1, 1)


def test_only_labels_that_can_be_learned_from_are_counted(
    tenant: Tenant, neighbour: Tenant
) -> None:
    fill(neighbour)
    fill(tenant, 5)
    with in_workspace(tenant.workspace):
        flat, unsure, void, unread, sound = Judgement.objects.order_by("session__started_at")
        Judgement.objects.filter(pk=flat.pk).update(is_flat=True)
        Judgement.objects.filter(pk=unsure.pk).update(confidence=0.59)
        Judgement.objects.filter(pk=void.pk).update(void_reason="low confidence")
        Judgement.objects.filter(pk=unread.pk).update(status="due")
        left, hidden = Label.objects.filter(session=sound.session_id)[:2]
        Label.objects.filter(pk=left.pk).update(is_sampled=False)
        Label.objects.filter(pk=hidden.pk).update(raw=None, final=None)
    assert tenant.reader.get("predictor/status").json()["label_count"] == 12 - 2


def test_the_last_attempt_is_told_apart_from_what_serves(tenant: Tenant) -> None:
    at = [NOW + timedelta(hours=hours) for hours in range(3)]
    with in_workspace(tenant.workspace):
        for number, (reason, status) in enumerate(
            (("full", "promoted"), ("interval", "promoted"), ("full", "failed"))
        ):
            Training.objects.create(
                reason=reason,
                status=status,
                started_at=at[number],
                finished_at=at[number],
                version=number + 1 if status == "promoted" else None,
                error="" if status == "promoted" else "MemoryError",
            )
    promote(tenant.workspace, number=2, now=at[1])

    def read_status() -> list[Any]:
        found = tenant.reader.get("predictor/status").json()
        return [found["trained_at"], found["fully_trained_at"], found["last_training"]["status"]]

    shown = [moment.isoformat().replace("+00:00", "Z") for moment in at]
    assert read_status() == [shown[1], shown[0], "failed"]
    last = tenant.reader.get("predictor/status").json()["last_training"]
    assert (last["finished_at"], last["version"], last["error"]) == (shown[2], None, "MemoryError")
    with in_workspace(tenant.workspace):
        ModelVersion.objects.update(origin="imported")
    assert read_status() == [None, shown[0], "failed"]
    tenant.admin.post("predictor/reset")
    assert read_status() == [None, None, "failed"]


def test_a_reset_takes_no_wishes(tenant: Tenant) -> None:
    for path in ("predictor/reset", "predictor/enable"):
        answer = tenant.admin.post(path, {"dry_run": True})
        assert answer.status_code == 422
        assert answer.json()["errors"][0]["field"] == "dry_run"
        assert tenant.admin.post(path, {}).status_code == 200
    with in_workspace(tenant.workspace):
        assert Event.objects.filter(type="predictor.reset").count() == 1


def test_a_training_on_its_way_may_not_promote_after_a_reset(tenant: Tenant) -> None:
    promote(tenant.workspace)
    with in_workspace(tenant.workspace):
        training = Training.objects.create(reason="first", started_at=NOW)
        TrainingLease.objects.create(
            workspace=tenant.workspace, holder=training.pk, heartbeat_at=NOW, due_at=NOW
        )
    tenant.admin.post("predictor/reset")

    lease = TrainingLease.objects.get()
    assert (lease.holder, lease.heartbeat_at, lease.due_at) == (None, None, None)


def test_enable_closes_the_breaker(tenant: Tenant) -> None:
    with in_workspace(tenant.workspace):
        for _ in range(3):
            note_failure(
                lock_state(timezone.now()),
                "predictor_crash",
                "X",
                session_key="s",
                threshold=3,
                now=timezone.now(),
            )
    told = tenant.reader.get("predictor/status").json()
    assert (told["breaker"]["is_open"], told["breaker"]["failures"]) == (True, 3)
    assert told["status_line"] == "[predictor: disabled | failures=3/h | baseline fallback]"
    after = tenant.admin.post("predictor/enable").json()
    assert (after["breaker"]["is_open"], after["breaker"]["failures"]) == (False, 0)
    assert tenant.admin.post("predictor/enable").status_code == 200


def test_comparisons_are_filtered(tenant: Tenant, neighbour: Tenant) -> None:
    fill(neighbour)
    made = [str(one.pk) for one in fill(tenant)]
    win, loss, tie, void = made

    def listed(**filters: Any) -> list[str]:
        answer = tenant.reader.get("predictor/comparisons", filters)
        assert answer.status_code == 200
        found = answer.json()
        assert found["count"] == len(found["results"])
        return [one["id"] for one in found["results"]]

    assert listed() == made[::-1]
    assert listed(winner="predictor") == [win]
    assert listed(winner="baseline") == [loss]
    assert listed(winner="tie") == [tie]
    assert listed(winner="void") == [void]
    assert listed(ema_updated="false") == [void]
    assert listed(ema_updated="true") == [tie, loss, win]
    assert listed(min_margin=0.1) == [loss, win]
    assert listed(min_margin=0.25) == [win]
    assert listed(since=(NOW + timedelta(hours=2)).isoformat()) == [void, tie]
    assert listed(until=(NOW + timedelta(hours=2)).isoformat()) == [loss, win]
    assert listed(winner="baseline", min_margin=0.3) == []


def test_comparisons_are_paged_by_offset(tenant: Tenant) -> None:
    made = [str(one.pk) for one in fill(tenant, 5)][::-1]
    first = tenant.reader.get("predictor/comparisons", {"limit": 2}).json()
    second = tenant.reader.get(first["next"]).json()

    assert [one["id"] for one in first["results"]] == made[:2]
    assert [one["id"] for one in second["results"]] == made[2:4]
    assert (first["count"], first["previous"]) == (5, None)


def test_from_beyond_the_end_of_comparisons_the_way_back_leads_to_the_last(tenant: Tenant) -> None:
    made = [str(one.pk) for one in fill(tenant, 5)][::-1]
    beyond = tenant.reader.get("predictor/comparisons", {"limit": 2, "offset": 99}).json()
    back = tenant.reader.get(beyond["previous"]).json()
    nothing = tenant.reader.get("predictor/comparisons", {"winner": "tie", "offset": 99}).json()

    assert (beyond["count"], beyond["results"], beyond["next"]) == (5, [], None)
    assert [one["id"] for one in back["results"]] == made[3:]
    assert (nothing["count"], nothing["results"]) == (1, [])
    assert len(tenant.reader.get(nothing["previous"]).json()["results"]) == 1


def test_there_is_no_way_back_where_nothing_is(tenant: Tenant) -> None:
    told = tenant.reader.get("predictor/comparisons", {"offset": 99}).json()
    assert told == {"count": 0, "next": None, "previous": None, "results": []}


@pytest.mark.parametrize(
    "filters",
    [
        {"limit": 0},
        {"limit": 201},
        {"limit": "ten"},
        {"limit": "٣"},
        {"offset": -1},
        {"offset": 10**30},
        {"offset": ""},
        {"cursor": "x"},
        {"winner": "me"},
        {"ema_updated": "yes"},
        {"min_margin": "NaN"},
        {"min_margin": "-1"},
        {"min_margin": "1e400"},
        {"since": "yesterday"},
        {"until": ""},
        {"margin": 1},
    ],
)
def test_wrong_filters_are_named(tenant: Tenant, filters: dict[str, Any]) -> None:
    answer = tenant.reader.get("predictor/comparisons", filters)

    assert answer.status_code in {400, 422}
    assert [error["field"] for error in answer.json()["errors"]] == list(filters)


def test_a_comparison_shows_both_lists_and_what_it_did(tenant: Tenant) -> None:
    first, second = fill(tenant, 2)
    told = tenant.reader.get(f"predictor/comparisons/{second.pk}").json()

    assert (told["winner"], told["margin"], told["ema_updated"]) == ("baseline", -0.2, True)
    assert [m["id"] for m in told["baseline"]] == [str(i) for i in second.baseline_top_ids]
    assert [m["id"] for m in told["predictor"]] == [str(i) for i in second.predictor_top_ids]
    assert len(told["others"]) == 12 - 5 - 4
    one = told["baseline"][0]
    assert one["content"].startswith("topic")
    assert (one["rank"], one["was_injected"], one["state"]) == (1, True, "active")
    assert one["relevance"] == one["raw"] is not None
    assert told["judgement"]["missing_topics"] == ["how refunds are booked"]
    assert told["judgement"]["reasoning"] == "The third note decided it."
    assert "was worth 0.200 less than what the baseline chose" in told["moved"]
    assert told["drafted_margin"] == -0.2
    assert (told["evidence_before"]["drift_sum"], told["evidence_after"]["drift_sum"]) == (0.0, 0.1)
    oldest = tenant.reader.get(f"predictor/comparisons/{first.pk}").json()
    assert oldest["evidence_before"] is None


def test_what_is_forgotten_is_shown_nowhere(tenant: Tenant) -> None:
    (made,) = fill(tenant, 1)
    hidden = made.baseline_top_ids[0]
    with in_workspace(tenant.workspace):
        content = Memory.objects.get(pk=hidden).content
    forget(tenant.workspace, [hidden], actor=SYSTEM, now=timezone.now())
    for path in (f"predictor/comparisons/{made.pk}", "predictor/audit/s-0"):
        answer = tenant.admin.get(path)
        assert content not in answer.content.decode()
        told = answer.json()
        row = next(m for m in told.get("memories", told.get("baseline")) if m["id"] == str(hidden))
        assert (row["content"], row["state"]) == (None, "forgotten")
        assert told["judgement"]["withheld"] == "forgotten"
        assert (told["judgement"]["reasoning"], told["judgement"]["missing_topics"]) == ("", [])


def test_what_a_judge_wrote_of_an_erased_memory_is_told_to_be_gone(tenant: Tenant) -> None:
    (made,) = fill(tenant, 1)
    gone, hidden = made.baseline_top_ids[:2]
    forget(tenant.workspace, [hidden], actor=SYSTEM, now=timezone.now())
    assert tenant.admin.delete(f"memories/{gone}").status_code == 204
    told = tenant.admin.get("predictor/audit/s-0").json()["judgement"]
    assert (told["withheld"], told["reasoning"], told["missing_topics"]) == ("erased", "", [])


def test_what_waits_for_a_persons_label_is_blind(tenant: Tenant) -> None:
    (made,) = fill(tenant, 1)
    asked = made.baseline_top_ids[0]
    with in_workspace(tenant.workspace):
        made.session.transcript = "x" * 600
        made.session.save()
        sample = CalibrationSample.objects.create(reason="asked", size=1, drawn_at=NOW)
        item = CalibrationItem.objects.create(
            sample=sample,
            session=made.session,
            memory_id=asked,
            position=1,
            stratum="s",
            judge_relevance=0.9,
            judge_kind="offline",
            judge_version="1",
        )

    def shown() -> tuple[Any, str]:
        told = tenant.admin.get("predictor/audit/s-0").json()
        row = next(m for m in told["memories"] if m["id"] == str(asked))
        return row, told["judgement"]["withheld"]

    row, withheld = shown()
    assert (row["is_blind"], row["relevance"], row["raw"], row["final"], row["reasons"]) == (
        True,
        None,
        None,
        None,
        [],
    )
    assert withheld == "calibration"
    with in_workspace(tenant.workspace):
        item.label, item.labelled_at = 0.8, NOW
        item.save()
    row, withheld = shown()
    assert (row["is_blind"], withheld) == (False, "")
    assert row["relevance"] is not None


def test_the_audit_shows_all_of_a_session(tenant: Tenant, neighbour: Tenant) -> None:
    fill(neighbour, 1)
    made = fill(tenant, 2)
    with in_workspace(tenant.workspace):
        used = Training.objects.create(
            reason="first",
            status="promoted",
            version=1,
            started_at=NOW,
            trained_session_ids=[made[0].session_id],
            gates=[{"name": "finite", "is_passed": True, "detail": "all numbers are"}],
        )
        Training.objects.create(reason="first", started_at=NOW, trained_session_ids=[])
    told = tenant.reader.get("predictor/audit/s-0").json()

    assert told["session"]["session_key"] == "s-0"
    assert len(told["memories"]) == 12
    assert [m["rank"] for m in told["memories"]] == list(range(1, 13))
    assert all(len(m["signals"]) == 12 and m["final"] is not None for m in told["memories"])
    assert told["comparison"]["id"] == str(made[0].pk)
    assert [t["id"] for t in told["trainings"]] == [str(used.pk)]
    assert told["trainings"][0]["gates"][0]["is_passed"] is True
    assert told["is_canary"] is False
    assert tenant.reader.get("predictor/audit/s-9").status_code == 404


def test_keys_with_slashes_and_signs_are_found(tenant: Tenant) -> None:
    key = "agents/run 7?#%"
    started = tenant.agent.post("sessions", {"session_key": key, "context": ""})
    assert started.status_code == 201
    told = tenant.reader.get(f"predictor/audit/{quote(key, safe='')}").json()

    assert told["session"]["session_key"] == key
    assert (told["judgement"], told["comparison"], told["moved"]) == (None, None, "")


def test_trainings_are_listed_newest_first(tenant: Tenant, neighbour: Tenant) -> None:
    with in_workspace(neighbour.workspace):
        Training.objects.create(reason="first", started_at=NOW)
    with in_workspace(tenant.workspace):
        for n in range(3):
            Training.objects.create(
                reason="interval", version=n, started_at=NOW + timedelta(hours=n)
            )
    page = tenant.reader.get("predictor/training", {"limit": 2}).json()
    rest = tenant.reader.get(page["next"]).json()

    assert [one["version"] for one in page["results"] + rest["results"]] == [2, 1, 0]


def test_drift_shows_the_sums_over_time(tenant: Tenant) -> None:
    fill(tenant, 3)
    told = tenant.reader.get("predictor/drift").json()

    assert [point["drift_sum"] for point in told["points"]] == [0.0, 0.1, 0.2]
    assert told["points"][0]["session_key"] == "s-0"
    assert told["limit"] == 6
    assert len(told["judge"]["windows"]) == 12
    assert [
        p["margin"] for p in tenant.reader.get("predictor/drift", {"limit": 1}).json()["points"]
    ] == [0.0]
    for wrong in ({"limit": 0}, {"limit": "x"}, {"limit": 1001}, {"from": "x"}):
        assert tenant.reader.get("predictor/drift", wrong).status_code in {400, 422}


def test_the_number_of_queries_does_not_grow(tenant: Tenant, neighbour: Tenant) -> None:
    few, many = fill(tenant, 1), fill(neighbour, 12)

    def count_queries(one: Tenant, path: str) -> int:
        one.reader.get(path)
        with CaptureQueriesContext(connection) as captured:
            assert one.reader.get(path).status_code == 200
        return len(captured)

    for path in ("status", "comparisons", "training", "drift", "audit/s-0"):
        assert count_queries(tenant, f"predictor/{path}") == count_queries(
            neighbour, f"predictor/{path}"
        ), path
    assert count_queries(tenant, f"predictor/comparisons/{few[0].pk}") == count_queries(
        neighbour, f"predictor/comparisons/{many[0].pk}"
    )


def test_others_comparisons_and_sessions_are_not_there(tenant: Tenant, neighbour: Tenant) -> None:
    (foreign,) = fill(neighbour, 1, name="secret")

    assert tenant.admin.get(f"predictor/comparisons/{foreign.pk}").status_code == 404
    assert tenant.admin.get("predictor/audit/secret-0").status_code == 404
    assert tenant.admin.get("predictor/comparisons").json()["count"] == 0
