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
from tests.conftest import NOW, House
from tests.predictor.test_settle import hold_session, plant, said, settled


def judged(
    house: House, key: str, at: datetime, *, young: float, old: float, count: int = 10
) -> None:
    """Judge a session with young, middling and old memories."""
    ids = plant(house, 2 * count + 1)
    ages = [6.9] * count + [30.1] * count + [15.0]
    with in_workspace(house.workspace):
        for memory_id, days in zip(ids, ages, strict=True):
            observed = at - timedelta(days=days)
            Memory.objects.filter(pk=memory_id).update(observed_at=observed)
    session = hold_session(house, ids, key, started=at)
    relevance: Sequence[float] = [young] * count + [old] * count + [1.0]
    verdict = said(dict(zip(ids, relevance, strict=True)))
    settled(house, session, verdict, now=at + timedelta(hours=1))


def windows(house: House, now: datetime) -> list[DriftWindow]:
    with in_workspace(house.workspace):
        return judge_drift(now)


def test_drift_is_young_minus_old_over_weeks(house: House, neighbour: House) -> None:
    judged(neighbour, "theirs", NOW, young=1.0, old=0.0)
    judged(house, "then", NOW - timedelta(days=14), young=0.4, old=0.5)
    judged(house, "now", NOW - timedelta(hours=2), young=0.8, old=0.4)
    found = windows(house, NOW)
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


def test_few_labels_tell_nothing(house: House) -> None:
    judged(house, "few", NOW - timedelta(hours=2), young=1.0, old=0.0, count=9)
    found = windows(house, NOW)
    assert (found[-1].young, found[-1].drift, latest_drift(found)) == (1.0, None, None)
    assert not is_drifting(found)
    assert windows(house, NOW - timedelta(weeks=40))[-1].young is None


def test_one_query_however_many_weeks(house: House) -> None:
    judged(house, "s", NOW - timedelta(hours=2), young=1.0, old=0.0)
    with in_workspace(house.workspace), CaptureQueriesContext(connection) as captured:
        judge_drift(NOW)
    assert len(captured) == 1
