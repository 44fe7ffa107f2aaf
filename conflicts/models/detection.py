"""Detection's queue of due memories, its leases, and its runs."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone

from engram.kernel.lease import WorkspaceLease
from engram.kernel.tenancy import WorkspaceModel
from memories.models import Memory


class Awaits(models.TextChoices):
    """Which tiers have still to read a memory."""

    ALL = "all", "Rules and model"
    ANSWERS = "answers", "The model is asked what it answers; then the rules read it again"
    MODEL = "model", "The model only: rules have read it, the model could not be asked"


class Narrative(models.TextChoices):
    """Status of a run's narrative pass."""

    OFF = "off", "Off: no model is configured, or the workspace does not want it"
    NOT_NEEDED = "not_needed", "Nothing of what was new is for the model"
    WAITING = "waiting", "Handed on to the model"
    DONE = "done", "Done"
    CAPPED = "capped", "Put off: the day's spend cap is reached"
    FAILED = "failed", "Failed, to be tried again"


class DetectionDue(WorkspaceModel):
    """A memory that detection has not read since it was written or changed.

    `turn` grows when the memory changes again while a run reads it: the run deletes the row only
    when it read that turn. After a failed run its memories are read in groups of at most
    `read_with`, finally one by one; `attempts` counts the failures of a memory read alone, and
    `not_before` is the end of the pause.
    """

    memory = models.OneToOneField(Memory, models.CASCADE, related_name="detection_due")
    turn = models.PositiveIntegerField(default=1)
    is_first_in_line = models.BooleanField(default=False)
    awaits = models.CharField(max_length=7, choices=Awaits.choices, db_default=Awaits.ALL)
    since = models.DateTimeField()
    run = models.ForeignKey(
        "conflicts.DetectionRun", models.SET_NULL, null=True, related_name="reads"
    )
    read_with = models.PositiveSmallIntegerField(null=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    not_before = models.DateTimeField(null=True)

    class Meta:
        indexes = [models.Index(fields=["workspace", "since"], name="due_oldest")]

    def __str__(self) -> str:
        return f"{self.memory_id} since {self.since:%H:%M:%S}"


class ReadingLease(WorkspaceLease):
    """Lease of one tier: since when a workspace is due, and which runner reads it."""

    # A failure is retried within a day; a due time beyond twice that comes from a wrong clock.
    planned_ahead = timedelta(days=2)
    awaits: ClassVar[tuple[Awaits, ...]]

    class Meta(WorkspaceLease.Meta):
        abstract = True


class DetectionLease(ReadingLease):
    """Lease of detection by rules."""

    awaits = (Awaits.ALL,)


class NarrativeLease(ReadingLease):
    """Lease of all that a model does; separate, so that a slow model does not delay rules."""

    awaits = (Awaits.ANSWERS, Awaits.MODEL)


class DetectionRun(WorkspaceModel):
    """One run of detection over due memories."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    status = models.CharField(max_length=8, default="running")
    reason = models.CharField(max_length=12)
    trigger_count = models.PositiveIntegerField(default=0)
    facts_considered = models.PositiveIntegerField(default=0)
    facts_forgotten = models.PositiveIntegerField(default=0)
    # New memories that are too long for the rules and were not checked.
    left_unread = models.PositiveIntegerField(default=0)
    batches = models.PositiveIntegerField(default=0)
    model = models.CharField(max_length=80, blank=True)
    tokens = models.PositiveIntegerField(default=0)
    cost_usd = models.FloatField(default=0)
    narrative = models.CharField(max_length=10, choices=Narrative.choices, default=Narrative.OFF)
    prompt_version = models.CharField(max_length=20, blank=True)
    # When the facts exceeded the token budget: the memories in the batches that the model answered.
    survivors = ArrayField(models.UUIDField(), default=list)
    # The model's findings that name no memory it was shown, or have only one side.
    dropped = models.PositiveIntegerField(default=0)
    opened = models.PositiveIntegerField(default=0)
    joined = models.PositiveIntegerField(default=0)
    skipped = models.PositiveIntegerField(default=0)
    lag_seconds = models.FloatField(null=True)
    duration_seconds = models.FloatField(null=True)
    error = models.TextField(blank=True)
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["-created_at", "-id"]
        indexes = [
            models.Index(fields=["workspace", "-created_at", "-id"], name="run_newest"),
            models.Index(
                fields=["workspace"], condition=models.Q(status="running"), name="run_running"
            ),
        ]

    def __str__(self) -> str:
        return f"run of {timezone.localtime(self.created_at):%-d %b %Y, %H:%M}"
