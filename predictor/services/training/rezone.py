"""Another time zone: the learned ranker saw other hours and weekdays, and learns them anew."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from engram.kernel.models import Workspace
from predictor.models import PredictorState
from predictor.services.training.due import note_training_due


def note_zone_changed(
    sender: Any, *, workspace: Workspace, changed: Mapping[str, Any], now: datetime, **_: Any
) -> None:
    """Make a full training due when the time zone has changed and a model serves.

    Trainings read the clock of every session in the zone of now. Until the next one the served
    weights see shifted hours, as after people have moved.
    """
    if "time_zone" not in changed or workspace.config.predictor_mode == "off":
        return
    state = PredictorState.objects.select_for_update().first()
    if state is not None and state.served is not None:
        note_training_due(state, "full", now)
