"""Models of what memories have in common: the entities that they name, and recalls of both."""

from __future__ import annotations

from django.db import models
from django.db.models import F, Q

from engram.kernel.models import Workspace
from engram.kernel.tenancy import WorkspaceModel
from memories.core.entities import KEY_MAX_CHARS
from memories.models.memory import Memory


class MemoryEntity(WorkspaceModel):
    """One entity that a memory names (`memories.core.entities`), under its folded key."""

    pk = models.CompositePrimaryKey("workspace_id", "key", "memory_id")
    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+", db_index=False)
    key = models.CharField(max_length=KEY_MAX_CHARS)
    memory = models.ForeignKey(Memory, models.CASCADE, related_name="entities")
    is_subject = models.BooleanField(default=False)  # the memory begins with it

    def __str__(self) -> str:
        return f"an entity of {self.memory_id}"


class EntityCount(WorkspaceModel):
    """The number of memories that name an entity; hidden ones are left out by a sweep."""

    pk = models.CompositePrimaryKey("workspace_id", "key")
    key = models.CharField(max_length=KEY_MAX_CHARS)
    memories = models.IntegerField()

    def __str__(self) -> str:
        return f"an entity of {self.memories} memories"


class EntityDue(WorkspaceModel):
    """A memory whose entities are read in the background.

    Its answers changed, it was hidden or restored, or it is from before the table. New and
    reworded memories are read as they are written.
    """

    memory = models.OneToOneField(
        Memory, models.CASCADE, primary_key=True, related_name="entity_due"
    )
    since = models.DateTimeField()

    def __str__(self) -> str:
        return f"entities of {self.memory_id} since {self.since:%Y-%m-%d}"


class CoRecall(WorkspaceModel):
    """Two memories that recalls returned together; `first` has the smaller id.

    `weight` is as of `reinforced_at` and decays since (`memories.core.co_recall`).
    """

    pk = models.CompositePrimaryKey("workspace_id", "first_id", "second_id")
    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+", db_index=False)
    first = models.ForeignKey(Memory, models.CASCADE, related_name="+")
    second = models.ForeignKey(Memory, models.CASCADE, related_name="+")
    weight = models.FloatField()
    since = models.DateTimeField()
    reinforced_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(first__lt=F("second")), name="co_recall_of_two_in_order"
            ),
            models.CheckConstraint(condition=Q(weight__gt=0), name="co_recall_weight_positive"),
        ]
        indexes = [models.Index(fields=["workspace", "reinforced_at"], name="co_recall_age")]

    def __str__(self) -> str:
        return f"{self.first_id} with {self.second_id}"
