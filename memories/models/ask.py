"""The model of asks: pairs of memories whose relation a writer was asked to report."""

from __future__ import annotations

import uuid

from django.db import models
from django.db.models import Q

from engram.kernel.tenancy import WorkspaceModel
from memories.models.memory import Memory


class Ask(WorkspaceModel):
    """One pair that was `nearby` in the answer to a commit.

    It quotes no text: the reason is computed from the present texts when it is shown. The row stays
    when it was answered or has expired, so that the pair is never asked about again.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    memory = models.ForeignKey(Memory, models.CASCADE, related_name="asks")  # the committed one
    other = models.ForeignKey(Memory, models.CASCADE, related_name="asks_as_other")
    # The content hashes of the two, the smaller first: nobody is asked about these wordings again.
    wordings = models.CharField(max_length=129, editable=False)
    cosine = models.FloatField()
    actor_kind = models.CharField(max_length=10)
    actor_id = models.CharField(max_length=64, blank=True)
    created_at = models.DateTimeField()
    answered_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at", "-id"]
        constraints = [
            models.UniqueConstraint(fields=["workspace", "wordings"], name="ask_once_a_pair")
        ]
        indexes = [
            models.Index(
                fields=["workspace", "actor_kind", "actor_id", "-created_at", "-id"],
                condition=Q(answered_at=None),
                name="ask_unanswered",
            )
        ]

    def __str__(self) -> str:
        return f"{self.memory_id} ? {self.other_id}"
