"""When a training is due."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from engram.kernel.configuration import WorkspaceSettings
from predictor.models import PredictorState
from predictor.services.training.due import due_reason
from tests.conftest import NOW

CONFIG = WorkspaceSettings.model_validate({})
TRAINED: dict[str, Any] = {
    "served": 1,
    "trained_at": NOW - timedelta(days=1),
    "fully_trained_at": NOW - timedelta(days=1),
    "scored_at_training": 20,
    "scored_at_full_training": 20,
}


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        ({"scored_sessions": 9}, ""),
        ({"scored_sessions": 10}, "first"),
        # A first training that a gate refused is tried again an interval later.
        ({"scored_sessions": 11, "trained_at": NOW, "scored_at_training": 10}, ""),
        ({"scored_sessions": 20, "trained_at": NOW, "scored_at_training": 10}, "first"),
        (TRAINED | {"scored_sessions": 20}, ""),
        (TRAINED | {"scored_sessions": 29}, ""),
        (TRAINED | {"scored_sessions": 30}, "interval"),
        (TRAINED | {"scored_sessions": 69, "scored_at_training": 60}, ""),
        (TRAINED | {"scored_sessions": 70, "scored_at_training": 60}, "full"),
        (TRAINED | {"scored_sessions": 20, "fully_trained_at": NOW - timedelta(days=8)}, ""),
        (TRAINED | {"scored_sessions": 21, "fully_trained_at": NOW - timedelta(days=8)}, "full"),
        (TRAINED | {"scored_sessions": 21, "fully_trained_at": None}, "full"),
        # The count began anew: nine sessions are too few, ten are an interval.
        (TRAINED | {"scored_sessions": 9}, ""),
        (TRAINED | {"scored_sessions": 10}, "interval"),
    ],
)
def test_training_is_due_when_sessions_were_scored(state: dict[str, Any], reason: str) -> None:
    assert due_reason(PredictorState(**state), CONFIG, NOW) == reason


def test_drift_makes_a_training_due_at_once() -> None:
    assert due_reason(PredictorState(scored_sessions=3), CONFIG, NOW, is_reset=True) == "drift"


def test_nothing_is_due_where_the_predictor_is_off() -> None:
    off = WorkspaceSettings.model_validate({"predictor_mode": "off"})
    state = PredictorState(**TRAINED | {"scored_sessions": 500})
    assert due_reason(state, off, NOW, is_reset=True) == ""
