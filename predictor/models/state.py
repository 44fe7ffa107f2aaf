"""State of a workspace's predictor: one row, locked by every change."""

from __future__ import annotations

from django.db import models

from engram.kernel.models import Workspace
from engram.kernel.tenancy import WorkspaceModel


class PredictorState(WorkspaceModel):
    """The governor's state, the served model, the last trainings, and the breaker.

    `governor` is `predictor.core.governance.Governor` as JSON; `phase`, `alpha` and `draft_share`
    are copies for readers. `served` is the number of the promoted model version, null before the
    first. `last_dropped` is the highest version number at the last reset: versions up to it no
    longer count. `trained_at` and `scored_at_training` are of the last training, whatever its
    result. `relevance` is `predictor.core.learned_relevance.LearnedRelevance` as JSON, empty where
    there is none.
    """

    workspace = models.OneToOneField(Workspace, models.CASCADE, related_name="+")
    governor = models.JSONField(default=dict)
    phase = models.CharField(max_length=20, default="collecting")
    alpha = models.FloatField(default=1.0)
    draft_share = models.FloatField(default=1.0, db_default=1.0)
    relevance = models.JSONField(default=dict, db_default={})
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
