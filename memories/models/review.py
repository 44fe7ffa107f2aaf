"""The model of reviews: requests that need more trust, or summaries without their source."""

from __future__ import annotations

import uuid

from django.db import models
from django.db.models import Q

from engram.kernel.labels import row_label
from engram.kernel.models import ApiKey
from engram.kernel.tenancy import WorkspaceModel
from memories.models.memory import Memory


class ReviewKind(models.TextChoices):
    """The kind of request."""

    SUPERSEDE = "supersede", "Replace a more trusted memory"
    REPLACE = "replace", "Let a stored memory replace another"
    REVISE = "revise", "Change a more trusted memory"
    FORGET = "forget", "Forget a more trusted memory"
    REVIVE = "revive", "Bring back what a person forgot"
    CLAIM = "claim", "Claim more than the key may"
    SOURCE_FORGOTTEN = "source_forgotten", "A source of this summary was forgotten"


class ReviewStatus(models.TextChoices):
    """The status of a review."""

    PENDING = "pending", "Pending"
    ACCEPTED = "accepted", "Accepted"
    REJECTED = "rejected", "Rejected"
    LAPSED = "lapsed", "Lapsed"  # its memory has changed or is gone


class Review(WorkspaceModel):
    """One request that changes nothing until a reviewer accepts it; it is stored completely."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    kind = models.CharField(max_length=20, choices=ReviewKind.choices)
    status = models.CharField(
        max_length=10, choices=ReviewStatus.choices, default=ReviewStatus.PENDING
    )
    # None when a new statement claims more than its key allows.
    memory = models.ForeignKey(
        Memory, models.CASCADE, null=True, blank=True, related_name="reviews"
    )
    # The requested fields of the draft or of the change, JSON serialised.
    request = models.JSONField(default=dict)
    reason = models.CharField(max_length=300)
    actor_kind = models.CharField(max_length=10)
    actor_id = models.CharField(max_length=64, blank=True)
    actor_label = models.CharField(max_length=150, blank=True)
    key = models.ForeignKey(ApiKey, models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField()
    decided_at = models.DateTimeField(null=True, blank=True)
    decided_by = models.CharField(max_length=150, blank=True)
    note = models.CharField(max_length=1000, blank=True)
    # The memory that an accepted review wrote or changed.
    result = models.ForeignKey(
        Memory, models.SET_NULL, null=True, blank=True, related_name="reviews_that_made_it"
    )

    class Meta:
        ordering = ["-created_at", "-id"]
        indexes = [
            models.Index(
                fields=["workspace", "status", "-created_at", "-id"], name="review_newest"
            ),
            models.Index(
                fields=["workspace", "memory"],
                condition=Q(status=ReviewStatus.PENDING),
                name="review_pending",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()}, {row_label(self, self.created_at)}"
