"""How far the demo's story has been told."""

from __future__ import annotations

from django.db import models

from engram.kernel.models import Workspace


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

    def __str__(self) -> str:
        return f"{self.told} of {self.steps}"
