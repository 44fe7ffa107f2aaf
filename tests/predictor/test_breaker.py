"""Switching the learned ranking off after failures, and on again."""

from __future__ import annotations

from datetime import timedelta

import pytest

from engram.kernel.actors import SYSTEM
from engram.kernel.models import Event, StageError
from engram.kernel.tenancy import in_workspace
from predictor.models import PredictorState
from predictor.services.serving import breaker
from predictor.services.serving.breaker import enable, is_open, note_failure
from predictor.services.serving.rank_session import rank_session
from predictor.services.state import lock_state, state_of
from tests.conftest import NOW, Tenant, build_tenant
from tests.memories.test_concurrency import at_once
from tests.predictor.serving import make_request, minutes, promote


def fail(tenant: Tenant, at=NOW, *, threshold: int = 3) -> int:
    with in_workspace(tenant.workspace):
        state = lock_state(at)
        note_failure(state, "predictor_crash", "X", session_key="s", threshold=threshold, now=at)
        return breaker.failures(state, at)


def opened(tenant: Tenant, at=NOW) -> bool:
    with in_workspace(tenant.workspace):
        return is_open(state_of(), at)


def test_it_opens_at_the_threshold_for_an_hour(tenant: Tenant, neighbour: Tenant) -> None:
    for n in (1, 2):
        assert (fail(tenant), opened(tenant)) == (n, False)
    assert (fail(tenant), opened(tenant)) == (3, True)
    assert opened(tenant, NOW + timedelta(seconds=3599))
    assert not opened(tenant, NOW + timedelta(hours=1))
    assert not opened(neighbour)


def test_the_line_names_the_failures_that_opened_it(tenant: Tenant) -> None:
    for n in range(3):
        fail(tenant, NOW + minutes(25 * n))
    with in_workspace(tenant.workspace):
        assert breaker.failures(state_of(), NOW + minutes(50 + 59)) == 3


def test_by_hand_it_closes_and_counts_anew(tenant: Tenant) -> None:
    for _ in range(3):
        fail(tenant)
    enable(tenant.workspace, actor=SYSTEM, now=NOW + minutes(1))
    enable(tenant.workspace, actor=SYSTEM, now=NOW + minutes(2))

    assert not opened(tenant, NOW + minutes(1))
    assert [fail(tenant, NOW + minutes(3)) for _ in range(2)] == [1, 2]
    assert not opened(tenant, NOW + minutes(3))
    with in_workspace(tenant.workspace):
        told = list(Event.objects.order_by("seq").values_list("type", flat=True))
    assert [t for t in told if t.startswith("predictor.")] == [
        "predictor.disabled",
        "predictor.enabled",
    ]


def test_a_clock_set_back_keeps_nothing_switched_off(tenant: Tenant) -> None:
    for _ in range(3):
        fail(tenant, NOW + timedelta(days=400))

    assert opened(tenant, NOW + timedelta(days=400))
    assert not opened(tenant, NOW)


def test_other_stages_do_not_count(tenant: Tenant) -> None:
    with in_workspace(tenant.workspace):
        for _ in range(5):
            StageError.objects.create(stage="judge", code="judge_failed", at=NOW)
    assert (fail(tenant), opened(tenant)) == (1, False)


def test_failures_at_once_open_it_once(transactional_db: None) -> None:
    tenant = build_tenant("busy")
    at_once(lambda _: fail(tenant))

    assert opened(tenant)
    with in_workspace(tenant.workspace):
        assert PredictorState.objects.count() == 1
        assert Event.objects.filter(type="predictor.disabled").count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_corrupt_checkpoint_at_once_is_one_cold_start() -> None:
    tenant = build_tenant("busy")
    promote(tenant.workspace, b"no checkpoint")

    def start(number: int) -> str:
        with in_workspace(tenant.workspace):
            return rank_session(
                make_request(tenant.workspace, session_key=f"s-{number}")
            ).no_opinion_reason

    assert set(at_once(start)) <= {"checkpoint_error", "no_model", "disabled"}
    with in_workspace(tenant.workspace):
        assert Event.objects.filter(type="predictor.reset").count() == 1
        assert lock_state(NOW).served is None
