"""Whether the judge comes to prefer what is new."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from engram.kernel.tenancy import in_workspace
from memories.models import Memory
from predictor.services.judging.drift import (
    DRIFT_THRESHOLD,
    DriftWindow,
    is_drifting,
    judge_drift,
    latest_drift,
)
from tests.conftest import NOW, Tenant
from tests.predictor.test_settle import hold_session, make_verdict, plant, settled


def judged(
    tenant: Tenant, key: str, at: datetime, *, young: float, old: float, count: int = 10
) -> None:
    """Judge a session with young, middling and old memories."""
    ids = plant(tenant, 2 * count + 1)
    ages = [6.9] * count + [30.1] * count + [15.0]
    with in_workspace(tenant.workspace):
        for memory_id, days in zip(ids, ages, strict=True):
            observed = at - timedelta(days=days)
            Memory.objects.filter(pk=memory_id).update(observed_at=observed)
    session = hold_session(tenant, ids, key, started=at)
    relevance: Sequence[float] = [young] * count + [old] * count + [1.0]
    verdict = make_verdict(dict(zip(ids, relevance, strict=True)))
    settled(tenant, session, verdict, now=at + timedelta(hours=1))


def windows(tenant: Tenant, now: datetime) -> list[DriftWindow]:
    with in_workspace(tenant.workspace):
        return judge_drift(now)


def test_drift_is_young_minus_old_over_weeks(tenant: Tenant, neighbour: Tenant) -> None:
    judged(neighbour, "theirs", NOW, young=1.0, old=0.0)
    judged(tenant, "then", NOW - timedelta(days=14), young=0.4, old=0.5)
    judged(tenant, "now", NOW - timedelta(hours=2), young=0.8, old=0.4)
    found = windows(tenant, NOW)
    assert (len(found), found[-1].until, found[0].since) == (12, NOW, NOW - timedelta(weeks=12))
    assert [one.drift for one in found if one.young_count] == [
        pytest.approx(-0.1),
        pytest.approx(0.4),
    ]
    assert (found[-1].young_count, found[-1].old_count) == (10, 10)
    assert latest_drift(found) == pytest.approx(0.4)
    assert is_drifting(found)
    assert is_drifting(found[:-1]) is False
    assert DRIFT_THRESHOLD == 0.3


def test_few_labels_tell_nothing(tenant: Tenant) -> None:
    judged(tenant, "few", NOW - timedelta(hours=2), young=1.0, old=0.0, count=9)
    found = windows(tenant, NOW)
    assert (found[-1].young, found[-1].drift, latest_drift(found)) == (1.0, None, None)
    assert not is_drifting(found)
    assert windows(tenant, NOW - timedelta(weeks=40))[-1].young is None


def test_one_query_however_many_weeks(tenant: Tenant) -> None:
    judged(tenant, "s", NOW - timedelta(hours=2), young=1.0, old=0.0)
    with in_workspace(tenant.workspace), CaptureQueriesContext(connection) as captured:
        judge_drift(NOW)
    assert len(captured) == 1
