"""Model of the prompts of sessions: what was said, while it is kept."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models

from engram.kernel.labels import row_label
from engram.kernel.models import Workspace
from engram.kernel.tenancy import WorkspaceModel
from memories.models.session import Session


class SessionPrompt(WorkspaceModel):
    """One prompt of a session; kept as long as the transcript, where recalls are kept at all.

    `text` has no credentials. `memory_ids` are the memories that it matched, the best first, at
    most twenty; some may have been forgotten or erased since.
    """

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+", db_index=False)
    session = models.ForeignKey(Session, models.CASCADE, related_name="prompts", db_index=False)
    number = models.PositiveIntegerField()  # from 1
    text = models.TextField()
    memory_ids = ArrayField(models.UUIDField(), default=list)
    at = models.DateTimeField()

    class Meta:
        ordering = ["session", "number"]
        constraints = [
            models.UniqueConstraint(
                fields=["session", "number"], name="session_prompt_once_a_number"
            )
        ]

    def __str__(self) -> str:
        return row_label(self, self.at)
