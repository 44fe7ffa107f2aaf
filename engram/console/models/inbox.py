"""Snoozed items of the inbox."""

from __future__ import annotations

from django.db import models

from engram.kernel.tenancy import WorkspaceModel


class PutOff(WorkspaceModel):
    """A snoozed item of the inbox, of a kind that has no snooze of its own."""

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
