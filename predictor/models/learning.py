"""Model versions with their weights, and every training with its gates."""

from __future__ import annotations

import uuid

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone

from engram.kernel.lease import WorkspaceLease
from engram.kernel.tenancy import WorkspaceModel
from memories.models import Session


class ModelVersion(WorkspaceModel):
    """One set of weights, encoded by `predictor.core.checkpoint`; null after they were dropped.

    `erased_at` is when a memory or session was erased that the weights may contain information
    about: they are dropped as soon as they are not served. `is_learned_here` is False when the
    importer declared that they contain nothing of this workspace.
    """

    number = models.PositiveIntegerField()
    origin = models.CharField(max_length=10)  # trained, imported or base
    checkpoint = models.BinaryField(null=True)
    sha256 = models.CharField(max_length=64)
    embedding_model = models.CharField(max_length=120)
    feature_version = models.PositiveSmallIntegerField()
    parameter_count = models.PositiveIntegerField()
    created_at = models.DateTimeField()
    promoted_at = models.DateTimeField(null=True)
    is_learned_here = models.BooleanField(default=True)
    erased_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-number"]
        constraints = [
            models.UniqueConstraint(fields=["workspace", "number"], name="model_version_once")
        ]

    def __str__(self) -> str:
        return f"model_v{self.number}"


class TrainingStatus(models.TextChoices):
    """Status of a training."""

    RUNNING = "running", "Running"
    PROMOTED = "promoted", "Promoted"
    REJECTED = "rejected", "Rejected by a gate"
    FAILED = "failed", "Failed"
    SKIPPED = "skipped", "Skipped: too little to learn from"


class Training(WorkspaceModel):
    """One training: its data, its canary results, and why it was promoted or not."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    status = models.CharField(
        max_length=8, choices=TrainingStatus.choices, default=TrainingStatus.RUNNING
    )
    reason = models.CharField(max_length=20)  # one of `services.training.due.REASONS`
    started_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True)
    heartbeat_at = models.DateTimeField(null=True)
    progress = models.FloatField(default=0)
    base_version = models.PositiveIntegerField(null=True)  # the served version it was compared with
    version = models.PositiveIntegerField(null=True)
    seed = models.BigIntegerField(default=0)
    loss = models.FloatField(null=True)
    session_count = models.PositiveIntegerField(default=0)
    replay_count = models.PositiveIntegerField(default=0)
    skipped_count = models.PositiveIntegerField(default=0)
    label_count = models.PositiveIntegerField(default=0)
    canary_count = models.PositiveIntegerField(default=0)
    canary_ndcg = models.FloatField(null=True)
    canary_ndcg_before = models.FloatField(null=True)
    canary_ndcg_delta = models.FloatField(null=True)
    canary_score_variance = models.FloatField(null=True)
    canary_topk_churn = models.FloatField(null=True)
    gates = models.JSONField(default=list)  # each {name, is_passed, detail}
    error = models.CharField(max_length=300, blank=True)
    cpu_ms = models.PositiveIntegerField(null=True)
    duration_ms = models.PositiveIntegerField(null=True)
    trained_session_ids = ArrayField(models.UUIDField(), default=list)

    class Meta:
        ordering = ["-started_at", "-id"]
        indexes = [models.Index(fields=["workspace", "-started_at", "-id"], name="training_newest")]

    def __str__(self) -> str:
        return f"{timezone.localtime(self.started_at):%-d %b %Y, %H:%M} {self.status}"


class TrainingLease(WorkspaceLease):
    """Since when a training of a workspace is due and why, and which training runs.

    `holder` is the training's id. All but heartbeats changes under the lock of `PredictorState`.
    """

    reason = models.CharField(max_length=20, blank=True)  # one of `services.training.due.REASONS`


class CanarySession(WorkspaceModel):
    """A session that no training sees: the gates are measured on it."""

    session = models.OneToOneField(Session, models.CASCADE, related_name="canary")
    chosen_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"canary {self.session_id}"
