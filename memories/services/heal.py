"""Embedding what could not be embedded when it was committed."""

from __future__ import annotations

from engram.kernel.embedding import EmbeddingUnavailableError, embed_windows
from engram.kernel.models import Workspace
from engram.kernel.tenancy import in_workspace
from memories.models import Memory
from memories.services.index import reindex_vectors
from memories.services.lifecycle import lock

MEMORIES_A_TURN = 64


def embed_pending(workspace: Workspace) -> int:
    """Embed waiting memories of a workspace; return how many. A provider that is down ends it."""
    model = workspace.embedding_model
    with in_workspace(workspace):
        waiting = list(
            Memory.objects.filter(is_embedding_due=True, forgotten_at=None).order_by("updated_at")[
                :MEMORIES_A_TURN
            ]
        )
    if not waiting:
        return 0
    try:
        windows = embed_windows([memory.content for memory in waiting], model)
    except EmbeddingUnavailableError:
        return 0
    with in_workspace(workspace):
        current = {memory.id: memory for memory in lock([memory.id for memory in waiting])}
        healed = 0
        for memory, vectors in zip(waiting, windows, strict=True):
            now_stored = current.get(memory.id)
            if now_stored is None or now_stored.content != memory.content:
                continue
            reindex_vectors(now_stored, vectors, model)
            now_stored.is_embedding_due = False
            now_stored.save(update_fields=["is_embedding_due"])
            healed += 1
    return healed
