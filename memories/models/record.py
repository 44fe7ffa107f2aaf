"""Models of what happened to memories: observations, revisions, recalls, imports."""

from __future__ import annotations

import uuid

from django.contrib.postgres.fields import ArrayField
from django.db import models

from engram.kernel.models import ApiKey, Provenance, Workspace
from engram.kernel.tenancy import WorkspaceModel
from memories.models.memory import Memory


class Observation(WorkspaceModel):
    """One statement exactly as it was sent."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+", db_index=False)
    memory = models.ForeignKey(Memory, models.CASCADE, related_name="observations", db_index=False)
    content = models.TextField()
    content_hash = models.CharField(max_length=64, default="", editable=False)
    fields = models.JSONField(default=dict)  # the other fields that were sent
    outcome = models.CharField(max_length=12)
    provenance = models.CharField(max_length=20, choices=Provenance.choices)
    confidence = models.FloatField()
    agent = models.CharField(max_length=200, blank=True)
    session_key = models.CharField(max_length=200, blank=True)
    key = models.ForeignKey(ApiKey, models.SET_NULL, null=True, related_name="+")
    observed_at = models.DateTimeField()
    created_at = models.DateTimeField()
    gate = models.JSONField(default=dict)

    class Meta:
        ordering = ["-created_at"]
        indexes = [
            models.Index(fields=["memory", "-created_at"], name="observation_newest"),
            models.Index(fields=["workspace", "content_hash"], name="observation_hash"),
            models.Index(fields=["workspace", "created_at"], name="observation_time"),
            models.Index(
                fields=["workspace", "session_key"],
                condition=~models.Q(session_key=""),
                name="observation_session",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.outcome} {self.created_at:%Y-%m-%d}"


class Revision(WorkspaceModel):
    """One former wording of a memory."""

    memory = models.ForeignKey(Memory, models.CASCADE, related_name="revisions")
    number = models.PositiveIntegerField()
    content = models.TextField()
    content_hash = models.CharField(max_length=64, default="", editable=False)
    fields = models.JSONField(default=dict)
    reason = models.CharField(max_length=20)
    actor_label = models.CharField(max_length=150, blank=True)
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["-number"]
        constraints = [
            models.UniqueConstraint(fields=["memory", "number"], name="revision_number_once")
        ]
        indexes = [models.Index(fields=["workspace", "content_hash"], name="revision_hash")]

    def __str__(self) -> str:
        return f"revision {self.number} of {self.memory_id}"


class RecallRecord(WorkspaceModel):
    """One recall that is not counted yet: one insert per recall, aggregated by a sweep.

    The sweep adds to the counters and deletes the rows in one transaction, so that a crash neither
    loses nor repeats a count.
    """

    memory_ids = ArrayField(models.UUIDField())
    # The leading ones among those that a query of its kind usually returns: pairs of `CoRecall`.
    leading_ids = ArrayField(models.UUIDField(), default=list, db_default=[])
    session_key = models.CharField(max_length=200, blank=True)
    noise_count = models.PositiveSmallIntegerField(default=0)  # scored below the noise score
    is_counted = models.BooleanField(default=True, db_default=True)  # a context only leaves a trace
    kept = models.JSONField(null=True)  # becomes a `PastRecall`; null: nothing is kept of it
    at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{len(self.memory_ids)} recalled at {self.at:%H:%M:%S}"


class RecallDay(WorkspaceModel):
    """The counts of memories returned by the recalls of one day, and of noise among them."""

    day = models.DateField()  # UTC
    recalls = models.PositiveIntegerField(default=0)
    returned = models.PositiveIntegerField(default=0)
    noise = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["workspace", "day"], name="recall_day_once")]

    def __str__(self) -> str:
        return f"{self.recalls} recalls on {self.day}"


class ImportProgress(WorkspaceModel):
    """The progress of a file import; written with each batch, so that a rerun resumes there."""

    file_digest = models.CharField(max_length=64)
    lines_done = models.PositiveIntegerField(default=0)
    updated_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace", "file_digest"], name="import_once_a_file")
        ]

    def __str__(self) -> str:
        return f"{self.lines_done} lines of {self.file_digest[:12]}"
