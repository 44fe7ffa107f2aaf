"""Models of past recalls: what was asked, and which memories it returned with which factors."""

from __future__ import annotations

import uuid

from django.db import models

from engram.kernel.labels import row_label
from engram.kernel.models import Workspace
from engram.kernel.tenancy import WorkspaceModel
from memories.models.memory import Memory

ASKED_BY_CHARS = 80  # of a caller: its kind and id


class RecallOrigin(models.TextChoices):
    """The call that returned memories."""

    RECALL = "recall", "A recall"
    CONTEXT = "context", "The context of a task"


class PastRecall(WorkspaceModel):
    """One recall or context that returned something, kept for some time.

    `query` has no credentials. `asked` holds what else was asked and differs from the defaults:
    `scope`, `project`, `kinds`, `min_score`, `graph`, `rerank`, `as_of`.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+", db_index=False)
    origin = models.CharField(max_length=7, choices=RecallOrigin.choices)
    query = models.TextField()
    query_hash = models.CharField(max_length=64, editable=False)
    k = models.PositiveSmallIntegerField()
    asked = models.JSONField(default=dict)
    returned = models.PositiveSmallIntegerField()  # memories, also those erased since
    caller = models.CharField(max_length=ASKED_BY_CHARS, blank=True)  # "key:" or "user:" and the id
    session_key = models.CharField(max_length=200, blank=True)
    at = models.DateTimeField()

    class Meta:
        ordering = ["-at", "-id"]
        indexes = [
            models.Index(fields=["workspace", "-at", "-id"], name="past_recall_newest"),
            models.Index(
                fields=["workspace", "session_key"],
                condition=~models.Q(session_key=""),
                name="past_recall_session",
            ),
        ]

    def __str__(self) -> str:
        return row_label(self, self.at)


class PastResult(WorkspaceModel):
    """One memory that a past recall returned; ranks begin at 1.

    `factors` are those of `explain` (`memories.core.fusion`) at that time, rounded to four digits,
    without texts and the ids of other memories; `repeats` tells whether it repeats a better one.
    """

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+", db_index=False)
    recall = models.ForeignKey(PastRecall, models.CASCADE, related_name="results", db_index=False)
    memory = models.ForeignKey(Memory, models.CASCADE, related_name="+", db_index=False)
    rank = models.PositiveSmallIntegerField()
    score = models.FloatField()
    relevance = models.FloatField()
    factors = models.JSONField(default=dict)
    at = models.DateTimeField()  # of the recall

    class Meta:
        ordering = ["-at", "-id"]
        constraints = [
            models.UniqueConstraint(fields=["recall", "memory"], name="past_result_once_a_recall")
        ]
        indexes = [models.Index(fields=["memory", "-at", "-id"], name="past_result_newest")]

    def __str__(self) -> str:
        return row_label(self, self.at)
