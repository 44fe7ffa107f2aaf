"""Proposals to mute a rule or a tier of the detective, and how people answered them."""

from __future__ import annotations

import uuid

from django.db import models
from django.db.models import Q

from engram.kernel.labels import row_label
from engram.kernel.tenancy import WorkspaceModel


class MutingStatus(models.TextChoices):
    """Status of a proposal."""

    PENDING = "pending", "Pending"
    MUTED = "muted", "Muted"
    REJECTED = "rejected", "Rejected"
    UNMUTED = "unmuted", "Unmuted"


class Muting(WorkspaceModel):
    """A proposal to mute; the setting `muted_rules` says what is muted now.

    The verdicts after the last rejection or unmuting of a rule decide whether it is proposed again.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    rule = models.CharField(max_length=48)  # or the name of a tier
    status = models.CharField(
        max_length=8, choices=MutingStatus.choices, default=MutingStatus.PENDING
    )
    decided = models.PositiveIntegerField(default=0)  # verdicts that it was proposed by
    confirmed = models.PositiveIntegerField(default=0)
    settled_by = models.CharField(max_length=150, blank=True)
    settled_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["-created_at", "-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "rule"],
                condition=Q(status=MutingStatus.PENDING),
                name="muting_proposed_once",
            )
        ]
        indexes = [models.Index(fields=["workspace", "-created_at", "-id"], name="muting_newest")]

    def __str__(self) -> str:
        return row_label(self, self.created_at)
