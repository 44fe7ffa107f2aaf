"""Decisions of people on cards, with what they changed and whether they were undone."""

from __future__ import annotations

import uuid

from django.db import models
from django.db.models import Q

from conflicts.models.card import Conflict
from engram.kernel.tenancy import WorkspaceModel
from memories.models import Memory


class Verdict(models.TextChoices):
    """A person's answer."""

    YES = "yes", "Yes, it still holds"
    NO = "no", "No, it no longer holds"
    KEEP = "keep", "Keep some"
    BOTH_VALID = "both_valid", "Both are valid"
    NONE_VALID = "none_valid", "None is valid"
    DISMISS = "dismiss", "Not a conflict"


class Decision(WorkspaceModel):
    """One verdict; `effects` hold what undo restores, for each memory by id."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    conflict = models.ForeignKey(Conflict, models.CASCADE, related_name="decisions")
    verdict = models.CharField(max_length=12, choices=Verdict.choices)
    kept = models.JSONField(default=list)
    note = models.CharField(max_length=2000, blank=True)
    answer = models.ForeignKey(Memory, models.SET_NULL, null=True, related_name="+")
    is_answer_new = models.BooleanField(default=False)  # else the memory existed before
    effects = models.JSONField(default=list)
    # Members about another subject than the question: the verdict did not change them.
    aside = models.JSONField(default=list)
    decided_by = models.CharField(max_length=150)
    decided_by_kind = models.CharField(max_length=10)
    decided_at = models.DateTimeField()
    undone_at = models.DateTimeField(null=True, blank=True)
    undone_by = models.CharField(max_length=150, blank=True)

    class Meta:
        ordering = ["-decided_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["conflict"], condition=Q(undone_at=None), name="one_standing_decision"
            )
        ]

    def __str__(self) -> str:
        return f"{self.verdict} by {self.decided_by}"
