"""Samples of judged memories that people label without seeing the judge's relevance."""

from __future__ import annotations

import uuid

from django.db import models
from django.db.models import Q

from engram.kernel.tenancy import WorkspaceModel
from memories.models import Memory, Session


class CalibrationSample(WorkspaceModel):
    """One sample of judged memories for people to label."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    reason = models.CharField(max_length=10)  # due or asked
    size = models.PositiveSmallIntegerField()
    drawn_at = models.DateTimeField()

    class Meta:
        ordering = ["-drawn_at", "-id"]

    def __str__(self) -> str:
        return f"{self.size} of {self.drawn_at:%Y-%m-%d}"


class CalibrationItem(WorkspaceModel):
    """One memory in one session: the judge's relevance, and a person's label, given blind.

    The item waits while `labelled_at` is null. `is_relabelled` is whether it was answered before,
    so that the person who answers now may have seen the judge's relevance.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    sample = models.ForeignKey(CalibrationSample, models.CASCADE, related_name="items")
    session = models.ForeignKey(Session, models.CASCADE, related_name="+")
    memory = models.ForeignKey(Memory, models.CASCADE, related_name="+")
    position = models.PositiveSmallIntegerField()
    stratum = models.CharField(max_length=20)
    judge_relevance = models.FloatField()
    judge_kind = models.CharField(max_length=7)
    judge_version = models.CharField(max_length=40)
    label = models.FloatField(null=True)
    is_unsure = models.BooleanField(default=False)
    is_relabelled = models.BooleanField(default=False)
    labelled_by = models.CharField(max_length=150, blank=True)
    labelled_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["sample", "position"]
        constraints = [
            models.UniqueConstraint(fields=["session", "memory"], name="calibration_once"),
            models.CheckConstraint(
                condition=Q(label=None) | Q(label__gte=0, label__lte=1),
                name="calibration_label_range",
            ),
        ]
        indexes = [
            models.Index(
                fields=["workspace", "sample", "position"],
                condition=Q(labelled_at=None),
                name="calibration_waiting",
            )
        ]

    def __str__(self) -> str:
        return f"{self.memory_id} in {self.session_id}"
