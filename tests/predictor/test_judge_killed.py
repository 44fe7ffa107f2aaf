"""A judge that is killed (kill -9) at any step loses nothing and doubles nothing; nor do two."""

from __future__ import annotations

import threading
from datetime import datetime, timedelta
from time import sleep
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from django.utils import timezone

from engram.kernel import lease
from engram.kernel.models import Event, Workspace
from engram.kernel.tenancy import in_workspace
from memories.services.lifecycle.forget import forget
from predictor.models import Comparison, Judgement, Label, PredictorState
from predictor.services.judging import due, judge
from predictor.services.judging.settle import settle
from tests.conftest import Tenant, build_tenant
from tests.killing import kill_at
from tests.predictor.judged_sessions import PERSON, STORY, begin, commit, end, fresh, judgement_of
from tests.predictor.test_settle import HOLDER, RELEVANCE, hold_session, labels, make_verdict, plant

# Where the worker dies, and whether the session was settled for good by then.
STEPS = {
    "after taking the judgement": (
        "predictor.services.judging.judge",
        "due.acquire",
        "after",
        False,
    ),
    "after the verdict": ("predictor.services.judging.judge", "judge_offline", "after", False),
    "after the labels": ("predictor.services.judging.settle", "_store_labels", "after", False),
    "after the governor": ("predictor.services.judging.settle", "store_governor", "after", False),
    "before the commit": ("predictor.services.judging.settle", "record_settlement", "after", False),
    "after the commit": ("predictor.services.judging.judge", "settle", "after", True),
}


@pytest.fixture
def shared_tenant(transactional_db: None) -> Tenant:
    """Return a workspace that other processes see, with an ended session."""
    tenant = build_tenant("busy")
    for content, _ in STORY.memories[:5]:
        commit(tenant, content)
    begin(tenant, now=timezone.now())
    end(tenant, now=timezone.now())
    return tenant


def counts(tenant: Tenant) -> dict[str, Any]:
    with in_workspace(tenant.workspace):
        state = PredictorState.objects.get()
        return {
            "judgements": list(Judgement.objects.values_list("status", flat=True)),
            "comparisons": Comparison.objects.count(),
            "labels": Label.objects.count(),
            "told": Event.objects.filter(type="session.judged").count(),
            "scored": state.scored_sessions,
        }


WHOLE = {"judgements": ["done"], "comparisons": 1, "labels": 5, "told": 1, "scored": 1}


@pytest.mark.parametrize("step", STEPS)
def test_a_judge_killed_at_any_step_loses_and_doubles_nothing(
    shared_tenant: Tenant, step: str
) -> None:
    tenant = shared_tenant
    module, name, when, is_settled = STEPS[step]
    kill_at(tenant, "predictor.tasks.judge_workspace", module, name, when)
    now = timezone.now()
    if is_settled:
        assert counts(tenant) == WHOLE
    else:
        assert counts(tenant)["comparisons"] == 0
        # What the dead one held is nobody's until it has been silent for long enough.
        assert judge.judge_due(fresh(tenant), clock=lambda: now) == []
        later = now + timedelta(minutes=5)
        assert [one.pk for one in due.stalled(later)] == [tenant.workspace.pk]
        assert len(judge.judge_due(fresh(tenant), clock=lambda: later)) == 1
        assert counts(tenant) == WHOLE
    assert due.stalled(now + timedelta(days=1)) == []


def in_threads(*actions: Any) -> list[Any]:
    """Run all at the same time, each with a connection of its own; return their answers."""
    answers: list[Any] = [None] * len(actions)
    errors: list[BaseException] = []
    gate = threading.Barrier(len(actions))

    def run(n: int, action: Any) -> None:
        try:
            gate.wait()
            answers[n] = action()
        except BaseException as error:  # noqa: BLE001  it is raised below
            errors.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(n, a)) for n, a in enumerate(actions)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return answers


def test_two_judges_at_once_settle_a_session_once(shared_tenant: Tenant) -> None:
    tenant = shared_tenant
    now = timezone.now()

    def run() -> list[Any]:
        return list(judge.judge_due(fresh(tenant), clock=lambda: now))

    answers = in_threads(run, run, run)
    assert sum(len(answer) for answer in answers) == 1
    assert counts(tenant) == WHOLE
    assert judgement_of(tenant).attempts == 1


def test_what_is_forgotten_while_it_is_settled_has_its_label(transactional_db: None) -> None:
    """Either settling sees it, or the forgetting sees the label; and neither waits for ever."""
    tenant = build_tenant("racing")
    for n in range(6):
        ids = plant(tenant, 8)
        now = timezone.now()
        session = hold_session(tenant, ids, f"s{n}", started=now)
        verdict = make_verdict(dict(zip(ids, RELEVANCE, strict=True)))
        in_threads(
            lambda s=session, v=verdict, t=now: settle(fresh(tenant), s.pk, HOLDER, v, now=t),
            lambda i=ids, t=now: forget(tenant.workspace, i[::-1], actor=PERSON, now=t),
        )
        assert [labels(tenant, session)[i].final for i in ids[:4]] == [-0.5] * 4


def test_a_judge_that_thinks_for_long_stays_alive_and_a_dead_one_is_replaced_in_half_a_minute(
    shared_tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    tenant = shared_tenant
    monkeypatch.setattr(lease, "RENEW_SECONDS", 0.01)
    began = timezone.now()
    moments = iter([began + timedelta(seconds=10 * n) for n in range(100_000)])
    seen: list[tuple[bool, list[Any]]] = []

    def slow(workspace: Workspace, told: Any) -> Any:
        """Think until the heartbeat has come some minutes further."""
        until = began + timedelta(minutes=3)
        while _beat_of(tenant) < until:
            sleep(0.01)
        now = _beat_of(tenant)
        seen.append((connection.in_atomic_block, due.stalled(now)))
        raise RuntimeError("died")

    monkeypatch.setattr(judge, "judge_offline", slow)
    monkeypatch.setattr(judge, "_put_off", lambda *given, **more: None)  # killed: it says nothing
    assert judge.judge_due(fresh(tenant), clock=lambda: next(moments)) == []
    assert seen == [(False, [])]

    last = _beat_of(tenant)
    sleep(0.1)
    assert _beat_of(tenant) == last  # the heartbeat ends with its judge
    assert due.stalled(last + timedelta(seconds=19)) == []
    found = due.stalled(last + timedelta(seconds=21))
    assert [one.pk for one in found] == [tenant.workspace.pk]
    sweep = settings.CELERY_BEAT_SCHEDULE["predictor.sweep_judging"]["schedule"]
    assert timedelta(seconds=sweep) + Judgement.silence <= timedelta(seconds=30)


def _beat_of(tenant: Tenant) -> datetime:
    with in_workspace(tenant.workspace):
        beat_at = Judgement.objects.values_list("heartbeat_at", flat=True).get()
    assert beat_at is not None
    return beat_at
