"""Models of the search index: vectors, token states, postings for BM25, tags.

Full text search uses a posting table because row-level security disables GIN indexes (`@@` is not
leakproof), but not b-tree indexes.
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

    # Neither foreign key needs its own index: those below begin with the same column.
    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+", db_index=False)
    memory = models.ForeignKey(Memory, models.CASCADE, related_name="vectors", db_index=False)
    model = models.CharField(max_length=120)
    position = models.PositiveSmallIntegerField(default=0)
    embedding = VectorField()  # no fixed width: each model has its own
    # Follows the lifecycle timestamps of the memory (except the expiry, which is checked at query
    # time), so that partial indexes contain only searchable vectors.
    is_live = models.BooleanField(default=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["memory", "model", "position"], name="vector_once_a_window"
            )
        ]
        indexes = [
            # `ensure_vector_index` creates HNSW indexes, one per embedding model.
            models.Index(
                fields=["workspace", "model"], condition=Q(is_live=True), name="vector_live"
            ),
        ]

    def __str__(self) -> str:
        return f"window {self.position} of {self.memory_id} by {self.model}"


class MemoryTokens(WorkspaceModel):
    """The token states of one window of a memory, for late interaction in the second stage.

    `states` is an int8 array of shape (`count`, `width`), in row-major order.
    """

    # The constraint below begins with the same column.
    memory = models.ForeignKey(Memory, models.CASCADE, related_name="tokens", db_index=False)
    model = models.CharField(max_length=120)
    position = models.PositiveSmallIntegerField(default=0)
    count = models.PositiveSmallIntegerField()
    width = models.PositiveSmallIntegerField()
    states = models.BinaryField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["memory", "model", "position"], name="tokens_once_a_window"
            )
        ]

    def __str__(self) -> str:
        return f"{self.count} tokens of window {self.position} of {self.memory_id} by {self.model}"


class Posting(WorkspaceModel):
    """The frequency of a term in a memory, with the memory's length in words."""

    pk = models.CompositePrimaryKey("workspace_id", "term", "memory_id")
    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+", db_index=False)
    term = models.CharField(max_length=64)
    memory = models.ForeignKey(Memory, models.CASCADE, related_name="postings")
    frequency = models.PositiveSmallIntegerField()
    words = models.PositiveIntegerField(default=0)  # the memory's length, for BM25

    class Meta:
        indexes = [
            # The best postings of a term first: of a common term not all are read.
            models.Index(
                fields=["workspace", "term", "-frequency", "words", "memory"],
                name="posting_best",
            )
        ]

    def __str__(self) -> str:
        return f"a term of {self.memory_id}: {self.frequency}×"


class TermCount(WorkspaceModel):
    """The document frequency of a term."""

    pk = models.CompositePrimaryKey("workspace_id", "term")
    term = models.CharField(max_length=64)
    memories = models.IntegerField()

    def __str__(self) -> str:
        return f"a term in {self.memories} memories"


class CorpusSize(WorkspaceModel):
    """The number of memories and words in a workspace's text index.

    `writes` counts the transactions that changed it; it never decreases.
    """

    workspace = models.OneToOneField(Workspace, models.CASCADE, primary_key=True, related_name="+")
    memories = models.IntegerField()
    words = models.BigIntegerField()
    writes = models.BigIntegerField(db_default=0)

    def __str__(self) -> str:
        return f"{self.memories} memories, {self.words} words"


class MemoryTag(WorkspaceModel):
    """One tag of a memory; rows, because row-level security disables array indexes."""

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+", db_index=False)
    memory = models.ForeignKey(Memory, models.CASCADE, related_name="tags", db_index=False)
    tag = models.CharField(max_length=100)

    class Meta:
        ordering = ["tag"]
        constraints = [models.UniqueConstraint(fields=["memory", "tag"], name="tag_once")]
        indexes = [models.Index(fields=["workspace", "tag"], name="tag_lookup")]

    def __str__(self) -> str:
        return row_label(self)
