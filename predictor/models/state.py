"""Where a workspace's predictor stands: one row, locked by whoever changes it."""

from __future__ import annotations

from django.db import models

from engram.kernel.models import Workspace
from engram.kernel.tenancy import WorkspaceModel


class PredictorState(WorkspaceModel):
    """The governor's state, the served model, the last trainings, and the breaker.

    `governor` is `predictor.core.governance.Governor` as JSON; `phase` and `alpha` repeat it for
    readers. `served` is the number of the promoted model version, null before the first.
    `last_dropped` is the last number that was taken when it began anew: no model up to it counts.
    `trained_at` and `scored_at_training` are of the last attempt, whatever became of it.
    """

    workspace = models.OneToOneField(Workspace, models.CASCADE, related_name="+")
    governor = models.JSONField(default=dict)
    phase = models.CharField(max_length=20, default="collecting")
    alpha = models.FloatField(default=1.0)
    success_rate = models.FloatField(default=0.5)
    scored_sessions = models.PositiveIntegerField(default=0)
    served = models.PositiveIntegerField(null=True)
    last_version = models.PositiveIntegerField(default=0)
    last_dropped = models.PositiveIntegerField(default=0)

    trained_at = models.DateTimeField(null=True)
    fully_trained_at = models.DateTimeField(null=True)
    scored_at_training = models.PositiveIntegerField(default=0)
    scored_at_full_training = models.PositiveIntegerField(default=0)
    canary_chosen_at = models.DateTimeField(null=True)

    disabled_until = models.DateTimeField(null=True)  # the breaker is open until then
    failures_count_from = models.DateTimeField(null=True)  # older failures no longer count
    drift_resets = models.PositiveIntegerField(default=0)
    scored_at_calibration = models.PositiveIntegerField(default=0)
    updated_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.workspace_id}: {self.phase}"
