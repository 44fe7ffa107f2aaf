"""Snoozed items of the inbox, and items that somebody has on screen."""

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


class Reservation(WorkspaceModel):
    """An item that a reviewer has on screen, which others are not given meanwhile.

    Advisory: whoever answers first has answered. A member holds one item a source.
    """

    source = models.CharField(max_length=20)
    item = models.UUIDField()
    user_id = models.BigIntegerField()
    by = models.CharField(max_length=150)
    until = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace", "source", "item"], name="reserved_once"),
            models.UniqueConstraint(
                fields=["workspace", "source", "user_id"], name="one_reservation_each"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.source} {self.item} until {self.until:%Y-%m-%d %H:%M}"
