"""Models of the janitor: its runs, and its actions with the values to undo them."""

from __future__ import annotations

import uuid

from django.db import models
from django.db.models import Q
from django.utils import timezone

from engram.kernel.tenancy import WorkspaceModel
from memories.models.memory import Memory


class JanitorRun(WorkspaceModel):
    """One run over a workspace; dry runs are not stored."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    started_at = models.DateTimeField()
    actor_label = models.CharField(max_length=150, blank=True)
    may_cull = models.BooleanField(default=False)
    examined = models.PositiveIntegerField(default=0)
    demoted = models.PositiveIntegerField(default=0)
    culled = models.PositiveIntegerField(default=0)
    reported = models.PositiveIntegerField(default=0)
    undone_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-started_at", "-id"]
        indexes = [models.Index(fields=["workspace", "-started_at", "-id"], name="janitor_newest")]

    def __str__(self) -> str:
        day = f"{timezone.localtime(self.started_at):%-d %b %Y}"
        return f"{day}: {self.demoted} demoted, {self.culled} hidden"


class JanitorAction(WorkspaceModel):
    """One action of a run on one memory."""

    class Verb(models.TextChoices):
        """The kind of action."""

        DEMOTE = "demote", "Demote"
        CULL = "cull", "Cull"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    run = models.ForeignKey(JanitorRun, models.CASCADE, related_name="actions")
    memory = models.ForeignKey(Memory, models.CASCADE, related_name="janitor_actions")
    verb = models.CharField(max_length=8, choices=Verb.choices)
    before = models.JSONField(default=dict)
    after = models.JSONField(default=dict)
    at = models.DateTimeField()
    undone_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-at", "-id"]
        constraints = [models.UniqueConstraint(fields=["run", "memory"], name="janitor_once_a_run")]
        indexes = [
            models.Index(
                fields=["workspace", "memory", "-at"],
                condition=Q(undone_at=None),
                name="janitor_action_standing",
            )
        ]

    def __str__(self) -> str:
        return f"{self.verb} {self.memory_id}"
