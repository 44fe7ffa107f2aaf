"""Counts behind the predictor's status: comparisons, labels and trainings."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db.models import F

from engram.kernel.models import Event
from engram.kernel.planning import Among
from predictor.models import Comparison, Label, PredictorState, Training, TrainingStatus
from predictor.services.training.dataset import SESSIONS_MAX, usable_judgements
from predictor.services.training.material import MIXED


def comparison_count() -> int:
    """Return the number of comparisons in the success rate: those since the last reset."""
    counted = Comparison.objects.filter(is_evidence=True)
    resets = Event.objects.filter(type="predictor.reset").order_by("-seq")
    last = resets.values_list("at", flat=True).first()
    return (counted if last is None else counted.filter(created_at__gt=last)).count()


def label_count() -> int:
    """Return the number of labels that a full training would read, including its canary."""
    sessions = list(usable_judgements().values_list("session", flat=True)[:SESSIONS_MAX])
    known = Label.objects.filter(is_sampled=True, final__isnull=False)
    # By ids: a join of both tables takes 7 s instead of 0.2 s with 190,000 labels.
    return known.filter(Among(F("session_id"), sessions)).count()


def last_training() -> dict[str, Any] | None:
    """Return the last finished training, whatever its status; None before the first."""
    ended = Training.objects.exclude(status=TrainingStatus.RUNNING).order_by("-started_at", "-id")
    found = ended.values("status", "reason", "finished_at", "loss", "version", "error").first()
    return None if found is None else dict(found)


def fully_trained_at(state: PredictorState) -> datetime | None:
    """Return when the newest fully trained model since the last reset was promoted."""
    full = Training.objects.filter(status=TrainingStatus.PROMOTED).exclude(reason__in=MIXED)
    since = full.filter(version__gt=state.last_dropped).order_by("-finished_at")
    return since.values_list("finished_at", flat=True).first()
