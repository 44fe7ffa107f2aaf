"""Changes of many memories in the background: what was asked for, and what became of each."""

from __future__ import annotations

from django.db import models

from engram.kernel.labels import row_label
from engram.kernel.models import Job
from engram.kernel.tenancy import WorkspaceModel


class MemoryChange(WorkspaceModel):
    """One action on many memories that a person confirmed; its job does it, and keeps it a month.

    `total` memories matched when it was confirmed, of those that were asked about; `missed` had
    changed or gone by then. `filters` are applied again to each memory when its turn comes, and
    what was merged into a memory that changed after `asked_at` is left. `question` is the id of the
    page that asked, which is confirmed once.
    """

    job = models.OneToOneField(Job, models.CASCADE, primary_key=True, related_name="+")
    action = models.CharField(max_length=10)  # one of `engram.console.memories.done.ACTIONS`
    tag = models.CharField(max_length=100, blank=True)
    total = models.PositiveIntegerField(default=0)
    missed = models.PositiveIntegerField(default=0)
    filters = models.TextField(blank=True)
    asked_at = models.DateTimeField()
    question = models.UUIDField(null=True)
    undoes = models.OneToOneField("self", models.SET_NULL, null=True, related_name="undone_by")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "question"], name="memory_change_confirmed_once"
            )
        ]

    def __str__(self) -> str:
        return row_label(self)


class ItemStatus(models.TextChoices):
    """What became of one memory."""

    WAITING = "waiting", "Waiting"
    DONE = "done", "Done"
    CHANGED = "changed", "Changed or no longer matching"
    REFUSED = "refused", "Refused"
    REVIEW = "review", "Waits for a review"


class MemoryChangeItem(WorkspaceModel):
    """One memory of a change; `seen_at` is its `updated_at` when asked, then as it was left.

    `memory_id` is no reference: erasing a memory needs no rows of jobs.
    """

    id = models.BigAutoField(primary_key=True)
    change = models.ForeignKey(MemoryChange, models.CASCADE, related_name="items")
    memory_id = models.UUIDField()
    seen_at = models.DateTimeField()
    status = models.CharField(max_length=8, choices=ItemStatus.choices, default=ItemStatus.WAITING)
    reason = models.CharField(max_length=200, blank=True)

    class Meta:
        indexes = [models.Index(fields=["change", "status", "id"], name="memory_change_items")]
        constraints = [
            models.UniqueConstraint(fields=["change", "memory_id"], name="memory_changed_once")
        ]

    def __str__(self) -> str:
        return f"{self.memory_id} {self.status}"
