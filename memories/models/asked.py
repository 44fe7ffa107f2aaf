"""The model of what a language model was asked: which statements it has read for their answers."""

from __future__ import annotations

from django.db import models

from engram.kernel.labels import row_label
from engram.kernel.tenancy import WorkspaceModel
from memories.models.memory import Memory


class AskedAnswers(WorkspaceModel):
    """That a language model was asked what a memory answers; without a row it was not.

    `content_hash` is the statement that it was asked about, empty when a writer has set the
    memory's answers: then it is never asked. `answers_hash` is `answers_digest` of what it wrote.
    `failures` counts unusable replies in a row; 0 when it has answered.
    """

    memory = models.OneToOneField(Memory, models.CASCADE, related_name="asked_answers")
    content_hash = models.CharField(max_length=64, blank=True)
    answers_hash = models.CharField(max_length=64, blank=True)
    failures = models.PositiveSmallIntegerField(default=0)

    class Meta:
        verbose_name_plural = "asked answers"

    def __str__(self) -> str:
        return row_label(self)
