"""Judgements of callers on how two memories relate."""

from __future__ import annotations

import uuid

from django.db import models
from django.db.models.functions import Greatest, Least

from conflicts.models.card import Conflict
from engram.kernel.models import ApiKey
from engram.kernel.tenancy import WorkspaceModel
from memories.models import Memory


class JudgedRelation(models.TextChoices):
    """How one memory relates to another."""

    SAME = "same", "Same"
    REFINES = "refines", "Refines"
    CONTRADICTS = "contradicts", "Contradicts"
    REPLACES = "replaces", "Replaces"
    DIFFERENT = "different", "Different"


class Judgement(WorkspaceModel):
    """One agent's answer about a pair; a later answer by the same key replaces it.

    A contradiction leads to a card, `same` to a merge suggestion, `replaces` to a supersession or
    to a review.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    memory = models.ForeignKey(Memory, models.CASCADE, related_name="judgements")
    other = models.ForeignKey(Memory, models.CASCADE, related_name="+")
    relation = models.CharField(max_length=11, choices=JudgedRelation.choices)
    reason = models.CharField(max_length=1000, blank=True)
    key = models.ForeignKey(ApiKey, models.SET_NULL, null=True, related_name="+")
    agent = models.CharField(max_length=200)  # who answered, as people know them
    weight = models.FloatField(default=0.5)  # what the agent's record was worth then, in (0, 1)
    conflict = models.ForeignKey(Conflict, models.SET_NULL, null=True, related_name="judgements")
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["-created_at", "-id"]
        constraints = [
            models.UniqueConstraint(
                "key",
                Least("memory", "other"),
                Greatest("memory", "other"),
                name="judged_once_a_key",
            ),
        ]
        indexes = [
            models.Index(fields=["workspace", "agent", "-created_at"], name="judgement_agent"),
            models.Index(fields=["workspace", "key", "-created_at"], name="judgement_key"),
        ]

    def __str__(self) -> str:
        return f"{self.memory_id} {self.relation} {self.other_id} by {self.agent}"
