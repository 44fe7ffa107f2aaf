"""How memories are found: vectors, postings for BM25, tags.

Full text search is a posting table because row-level security switches GIN indexes off (`@@` is
not leakproof); b-tree equality keeps its index.
"""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from pgvector.django import VectorField

from engram.kernel.labels import row_label
from engram.kernel.models import Workspace
from engram.kernel.tenancy import WorkspaceModel
from memories.models.memory import Memory


class MemoryVector(WorkspaceModel):
    """The embedding of one window of a memory, by one model; short memories have one window."""

    # Neither key needs an index of its own: those below begin with the same column.
    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+", db_index=False)
    memory = models.ForeignKey(Memory, models.CASCADE, related_name="vectors", db_index=False)
    model = models.CharField(max_length=120)
    position = models.PositiveSmallIntegerField(default=0)
    embedding = VectorField()  # no fixed width: each model has its own
    # Follows the lifecycle stamps of the memory (expiry is a date, and is asked of the memory), so
    # that partial indexes hold nothing that a search may not return.
    is_live = models.BooleanField(default=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["memory", "model", "position"], name="vector_once_a_window"
            )
        ]
        indexes = [
            # The nearest of many are found by HNSW indexes, one a model, which
            # `ensure_vector_index` makes.
            models.Index(
                fields=["workspace", "model"], condition=Q(is_live=True), name="vector_live"
            ),
        ]

    def __str__(self) -> str:
        return f"window {self.position} of {self.memory_id} by {self.model}"


class MemoryTokens(WorkspaceModel):
    """The states of a memory's tokens by one model, for late interaction in the second stage.

    `states` holds int8 numbers, shape (`count`, `width`), row by row.
    """

    memory = models.ForeignKey(Memory, models.CASCADE, related_name="tokens")
    model = models.CharField(max_length=120)
    count = models.PositiveSmallIntegerField()
    width = models.PositiveSmallIntegerField()
    states = models.BinaryField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["memory", "model"], name="tokens_once_a_model")
        ]

    def __str__(self) -> str:
        return f"{self.count} tokens of {self.memory_id} by {self.model}"


class Posting(WorkspaceModel):
    """How often a term stands in a memory of so many words."""

    pk = models.CompositePrimaryKey("workspace_id", "term", "memory_id")
    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+", db_index=False)
    term = models.CharField(max_length=64)
    memory = models.ForeignKey(Memory, models.CASCADE, related_name="postings")
    frequency = models.PositiveSmallIntegerField()
    words = models.PositiveIntegerField(default=0)  # the memory's length, which BM25 weighs

    class Meta:
        indexes = [
            # A term's best postings first: of a common one not all are read.
            models.Index(
                fields=["workspace", "term", "-frequency", "words", "memory"],
                name="posting_best",
            )
        ]

    def __str__(self) -> str:
        return f"a term of {self.memory_id}: {self.frequency}×"


class TermCount(WorkspaceModel):
    """In how many memories a term stands."""

    pk = models.CompositePrimaryKey("workspace_id", "term")
    term = models.CharField(max_length=64)
    memories = models.IntegerField()

    def __str__(self) -> str:
        return f"a term in {self.memories} memories"


class CorpusSize(WorkspaceModel):
    """How many memories and words a workspace's text index holds.

    `writes` counts the transactions that changed it, and never falls.
    """

    workspace = models.OneToOneField(Workspace, models.CASCADE, primary_key=True, related_name="+")
    memories = models.IntegerField()
    words = models.BigIntegerField()
    writes = models.BigIntegerField(db_default=0)

    def __str__(self) -> str:
        return f"{self.memories} memories, {self.words} words"


class MemoryTag(WorkspaceModel):
    """One tag of a memory; rows, because row-level security switches array indexes off."""

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+", db_index=False)
    memory = models.ForeignKey(Memory, models.CASCADE, related_name="tags", db_index=False)
    tag = models.CharField(max_length=100)

    class Meta:
        ordering = ["tag"]
        constraints = [models.UniqueConstraint(fields=["memory", "tag"], name="tag_once")]
        indexes = [models.Index(fields=["workspace", "tag"], name="tag_lookup")]

    def __str__(self) -> str:
        return row_label(self)
