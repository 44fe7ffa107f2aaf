"""The detective's work: what is still to be read, who reads, and what each run did."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models

from engram.kernel.lease import WorkspaceLease
from engram.kernel.tenancy import WorkspaceModel
from memories.models import Memory


class Awaits(models.TextChoices):
    """Who has still to read a memory."""

    ALL = "all", "Rules and model"
    MODEL = "model", "The model only: rules have read it, the model could not be asked"


class Narrative(models.TextChoices):
    """What became of a run's narrative pass."""

    OFF = "off", "Off: no model is configured, or the workspace does not want it"
    NOT_NEEDED = "not_needed", "Nothing of what was new is for the model"
    WAITING = "waiting", "Handed on to the model"
    DONE = "done", "Done"
    CAPPED = "capped", "Put off: the day's spend cap is reached"
    FAILED = "failed", "Failed, to be tried again"


class DetectionDue(WorkspaceModel):
    """A memory that the detective has not read since it was written or changed.

    `turn` grows when the memory changes again while a run reads it: the run removes only the turn
    that it read. After a failed run its memories are read at most `read_with` together, at last
    one by one; `attempts` counts how often a memory failed by itself, `not_before` is the pause.
    """

    memory = models.OneToOneField(Memory, models.CASCADE, related_name="detection_due")
    turn = models.PositiveIntegerField(default=1)
    is_first_in_line = models.BooleanField(default=False)
    awaits = models.CharField(max_length=5, choices=Awaits.choices, db_default=Awaits.ALL)
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
    """Since when a workspace waits to be read, and who reads it right now."""

    # What fails is read again after a day at most; twice that is beyond doubt.
    planned_ahead = timedelta(days=2)
    awaits: ClassVar[Awaits]

    class Meta(WorkspaceLease.Meta):
        abstract = True


class DetectionLease(ReadingLease):
    """Who reads by the rules."""

    awaits = Awaits.ALL


class NarrativeLease(ReadingLease):
    """Who asks the model; a lease of its own, so that a model that stalls holds up no rules."""

    awaits = Awaits.MODEL


class DetectionRun(WorkspaceModel):
    """One reading of the story."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    status = models.CharField(max_length=8, default="running")
    reason = models.CharField(max_length=12)
    trigger_count = models.PositiveIntegerField(default=0)
    facts_considered = models.PositiveIntegerField(default=0)
    facts_forgotten = models.PositiveIntegerField(default=0)
    # New memories that are longer than the rules read; nothing was looked for in them.
    left_unread = models.PositiveIntegerField(default=0)
    batches = models.PositiveIntegerField(default=0)
    model = models.CharField(max_length=80, blank=True)
    tokens = models.PositiveIntegerField(default=0)
    cost_usd = models.FloatField(default=0)
    narrative = models.CharField(max_length=10, choices=Narrative.choices, default=Narrative.OFF)
    prompt_version = models.CharField(max_length=20, blank=True)
    # When the story was longer than its budget: the memories that the model was shown, of the
    # batches that it answered about.
    survivors = ArrayField(models.UUIDField(), default=list)
    # What the model reported that names no memories it was shown, or is no question of two sides.
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
        return f"run of {self.created_at:%Y-%m-%d %H:%M}"
