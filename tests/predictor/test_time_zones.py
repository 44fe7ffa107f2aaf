"""The learned ranking reads clocks in the time zone of the workspace, now and in its past."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from engram.kernel.actors import SYSTEM
from engram.kernel.models import Workspace
from engram.kernel.services import change_settings
from engram.kernel.tenancy import in_workspace
from predictor.core.features import clock_of, clock_signals
from predictor.core.types import CLOCK_COLUMNS, SIGNALS, Context
from predictor.models import TrainingLease
from predictor.services.serving.rank_session import rank_session
from predictor.services.session_features import context_of
from predictor.services.training.dataset import gather
from tests.conftest import NOW, Tenant
from tests.predictor.judged import build_world
from tests.predictor.serving import make_request, promote

TOKYO = ZoneInfo("Asia/Tokyo")


def move(tenant: Tenant, zone: str = "Asia/Tokyo", **others: Any) -> Workspace:
    workspace = Workspace.objects.get(pk=tenant.workspace.pk)
    change_settings(workspace, {"time_zone": zone, **others}, actor=SYSTEM, now=NOW)
    return workspace


def lease(tenant: Tenant) -> tuple[str, bool]:
    """Return the reason of the training that is due, and whether one is."""
    found = TrainingLease.objects.filter(workspace_id=tenant.workspace.pk).first()
    return (found.reason, found.due_at is not None) if found else ("", False)


def test_a_starting_session_has_the_local_clock(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    promote(tenant.workspace)
    hours: list[float] = []

    def note(**given: Any) -> Context:
        context = context_of(**given)
        hours.append(context.hour)
        return context

    monkeypatch.setattr("predictor.services.serving.rank_session.context_of", note)
    with in_workspace(tenant.workspace):
        before = rank_session(make_request(tenant.workspace))
    workspace = move(tenant)
    with in_workspace(workspace):
        after = rank_session(make_request(workspace))
    for found, zone in ((before, None), (after, TOKYO)):
        clock = clock_of(NOW, zone) if zone else clock_of(NOW)
        for row in found.signals.values():
            assert tuple(row[CLOCK_COLUMNS]) == pytest.approx(clock_signals(*clock))
    assert (len(before.scores), len(after.scores)) == (8, 8)
    assert hours == [12.0, 21.0]


def test_sessions_of_the_past_are_read_in_the_zone_of_now(
    tenant: Tenant, neighbour: Tenant
) -> None:
    for each in (tenant, neighbour):
        build_world(each.workspace, 3)

    def clocks(each: Tenant) -> list[float]:
        workspace = Workspace.objects.get(pk=each.workspace.pk)
        with in_workspace(workspace):
            sessions = gather(workspace).sessions
        for one in sessions:
            context = one.learned.context
            face = clock_signals(context.hour, context.weekday, context.month)
            assert np.allclose(one.learned.candidates.signals[:, CLOCK_COLUMNS], face)
        return [one.learned.context.hour for one in sessions]

    utc = clocks(tenant)
    move(tenant)
    assert clocks(tenant) == [(hour + 9) % 24 for hour in utc]
    assert clocks(neighbour) == utc
    move(tenant, "UTC")
    assert clocks(tenant) == utc


def test_only_the_clock_is_read_anew(tenant: Tenant) -> None:
    build_world(tenant.workspace, 2)
    with in_workspace(tenant.workspace):
        before = gather(tenant.workspace).sessions
    workspace = move(tenant)
    with in_workspace(workspace):
        after = gather(workspace).sessions
    others = [n for n in range(len(SIGNALS)) if not CLOCK_COLUMNS.start <= n < CLOCK_COLUMNS.stop]
    for one, other in zip(before, after, strict=True):
        left, right = one.learned.candidates.signals, other.learned.candidates.signals
        assert np.array_equal(left[:, others], right[:, others])


def test_another_zone_makes_a_full_training_due_where_a_model_serves(
    tenant: Tenant, neighbour: Tenant
) -> None:
    move(neighbour)
    assert lease(neighbour) == ("", False)  # nothing was learned yet
    promote(tenant.workspace)
    assert lease(tenant) == ("", False)
    move(tenant, "UTC")  # as before
    assert lease(tenant) == ("", False)
    move(tenant)
    assert lease(tenant) == ("full", True)


def test_where_nothing_is_learned_nothing_is_due(tenant: Tenant) -> None:
    promote(tenant.workspace)
    move(tenant, predictor_mode="off")
    assert lease(tenant) == ("", False)


def test_hours_follow_the_clocks_of_the_zone() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    spring = NOW.replace(month=3, day=29, hour=0, minute=30)
    hours = [clock_of(spring + timedelta(hours=n), berlin)[0] for n in range(3)]
    assert hours == [1.5, 3.5, 4.5]
    sunday = NOW.replace(month=5, day=3, hour=23)
    assert clock_of(sunday)[1] == pytest.approx(6 + 23 / 24)
    assert clock_of(sunday, berlin)[1] == pytest.approx(1 / 24)
