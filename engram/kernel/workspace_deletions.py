"""The model of deletions of workspaces, which outlive what they delete."""

from __future__ import annotations

import uuid
from datetime import timedelta

from django.db import models

from engram.kernel.lease import Lease


class WorkspaceDeletion(Lease):
    """The deletion of one workspace: due until no row of it is left; one worker at a time does it.

    Without row-level security, as `Workspace`. Holds no text of the workspace, neither its name nor
    its slug, because it stays.
    """

    silence = timedelta(seconds=30)  # the sweep comes every ten seconds
    planned_ahead = timedelta(hours=1)  # after a failure

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    target = models.UUIDField()  # the workspace's id; no foreign key, so that it stays
    caller = models.CharField(max_length=80)  # "user:", "key:" or "system:" and the id
    requested_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    failures = models.PositiveIntegerField(default=0)  # in a row
    error = models.CharField(max_length=300, blank=True)  # of the last failure, without any text
    rows_total = models.PositiveBigIntegerField(null=True)  # as counted at the start
    rows_deleted = models.PositiveBigIntegerField(default=0)

    class Meta:
        ordering = ["-requested_at", "-id"]
        indexes = [
            models.Index(
                fields=["due_at"],
                condition=models.Q(due_at__isnull=False),
                name="deletion_due",
            ),
            models.Index(fields=["caller", "-requested_at"], name="deletion_of_caller"),
        ]
        constraints = [
            # Not of those that ended: an archive brings a workspace back with its id.
            models.UniqueConstraint(
                fields=["target"],
                condition=models.Q(due_at__isnull=False),
                name="one_deletion_at_a_time",
            ),
        ]

    def __str__(self) -> str:
        return f"deletion of {self.target}"

    @property
    def status(self) -> str:
        """Return queued, running or done."""
        if self.finished_at is not None:
            return "done"
        return "queued" if self.started_at is None else "running"

    @property
    def progress(self) -> float:
        """Return the share of rows that are deleted, 0..1; 1 only at the end."""
        if self.finished_at is not None:
            return 1.0
        return min(0.99, self.rows_deleted / self.rows_total) if self.rows_total else 0.0
