"""What the console remembers by itself: how far the demo’s story is, what was put off."""

from __future__ import annotations

from django.db import models

from engram.kernel.models import Workspace
from engram.kernel.tenancy import WorkspaceModel


class Telling(models.Model):
    """A story that is being told in a workspace, step by step, by whoever holds this row.

    A registry like `Workspace`: it holds no one's text and stands outside row-level security, so
    that a worker finds what is unfinished with one query.
    """

    workspace = models.OneToOneField(Workspace, models.CASCADE, primary_key=True, related_name="+")
    steps = models.PositiveIntegerField()
    told = models.PositiveIntegerField(default=0)
    labels = models.JSONField(default=dict)  # the memory that each label of the story became
    began_at = models.DateTimeField()  # the story is told as of this moment
    finished_at = models.DateTimeField(null=True)
    holder = models.UUIDField(null=True)  # who tells it now, as long as anything is heard of it
    heartbeat_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.told} of {self.steps}"


class PutOff(WorkspaceModel):
    """An item of the inbox that somebody will look at later, where its kind has no snooze."""

    source = models.CharField(max_length=20)
    item = models.UUIDField()
    until = models.DateTimeField()
    by = models.CharField(max_length=150)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace", "source", "item"], name="put_off_once")
        ]

    def __str__(self) -> str:
        return f"{self.source} {self.item} until {self.until:%Y-%m-%d %H:%M}"
