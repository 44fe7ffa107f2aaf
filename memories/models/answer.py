"""The model of what memories answer: their writers' questions, each with its answer."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from pgvector.django import VectorField

from engram.kernel.labels import row_label
from engram.kernel.models import Workspace
from engram.kernel.tenancy import WorkspaceModel
from memories.core.answers import ANSWER_MAX_CHARS, QUESTION_MAX_CHARS
from memories.models.memory import Memory


class MemoryAnswer(WorkspaceModel):
    """One question that a memory answers, with its answer; read only with recallable memories.

    The question is embedded after the commit: until then `embedding` is null and `model` empty.
    """

    # Neither foreign key needs its own index: those below begin with the same column.
    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+", db_index=False)
    memory = models.ForeignKey(Memory, models.CASCADE, related_name="answers", db_index=False)
    position = models.PositiveSmallIntegerField(default=0)
    question = models.CharField(max_length=QUESTION_MAX_CHARS)
    question_hash = models.CharField(max_length=64, editable=False)  # `Answer.identity`
    # Shared by all wordings of one question: the id under which it is known.
    question_group = models.UUIDField(editable=False)
    answer = models.CharField(max_length=ANSWER_MAX_CHARS)
    was = models.CharField(max_length=ANSWER_MAX_CHARS, null=True, blank=True)  # noqa: DJ001  null: none named
    model = models.CharField(max_length=120, blank=True)
    embedding = VectorField(null=True)  # no fixed width: each model has its own

    class Meta:
        ordering = ["memory_id", "position"]
        constraints = [
            models.UniqueConstraint(
                fields=["memory", "question_hash"], name="answer_once_a_question"
            )
        ]
        indexes = [
            models.Index(fields=["workspace", "question_hash"], name="answer_question"),
            models.Index(fields=["workspace", "question_group"], name="answer_group"),
            # Of one column, as that of the constraint, the planner chooses any on fresh tables.
            models.Index(fields=["memory", "model"], name="answer_of_memory"),
            models.Index(
                fields=["workspace"], condition=Q(embedding=None), name="answer_embedding_due"
            ),
        ]

    def __str__(self) -> str:
        return row_label(self)
