"""Embedding what could not be embedded when it was committed."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from django.db.models import Q

from engram.kernel.embedding import EmbeddingUnavailableError, Windows, embed, embed_windows
from engram.kernel.models import Workspace
from engram.kernel.tenancy import in_workspace
from memories.models import Memory
from memories.services.index import reindex_vectors
from memories.services.lifecycle import lock

log = logging.getLogger(__name__)
MEMORIES_A_TURN = 64
HARMLESS = "Is anybody there?"


def embed_pending(workspace: Workspace) -> int:
    """Embed the waiting memories of a workspace, longest waiting first; return how many.

    A text that the provider refuses waits on, and keeps no other waiting. A provider that is down
    ends it.
    """
    healed = 0
    after: tuple[datetime, UUID] | None = None
    while waiting := _waiting(workspace, after):
        after = waiting[-1].updated_at, waiting[-1].id
        try:
            windows = _read(waiting, workspace.embedding_model)
        except EmbeddingUnavailableError:
            break
        healed += _write(workspace, waiting, windows)
    return healed


def _waiting(workspace: Workspace, after: tuple[datetime, UUID] | None) -> list[Memory]:
    """Return the next waiting memories after a place in the order of waiting."""
    with in_workspace(workspace):
        due = Memory.objects.filter(is_embedding_due=True, forgotten_at=None)
        if after is not None:
            updated_at, memory_id = after
            later = Q(updated_at__gt=updated_at) | Q(updated_at=updated_at, pk__gt=memory_id)
            due = due.filter(later)
        return list(due.order_by("updated_at", "pk")[:MEMORIES_A_TURN])


def _read(waiting: Sequence[Memory], model: str) -> dict[UUID, Windows]:
    """Embed what can be embedded: when a turn fails, its halves are tried by themselves.

    Raises `EmbeddingUnavailableError` when it is the provider that fails, not a text.
    """
    try:
        found = embed_windows([memory.content for memory in waiting], model)
    except EmbeddingUnavailableError as error:
        embed([HARMLESS], model)
        if len(waiting) == 1:
            log.warning("memory %s is still not embedded: %s", waiting[0].id, error)
            return {}
        middle = len(waiting) // 2
        return _read(waiting[:middle], model) | _read(waiting[middle:], model)
    return {memory.id: windows for memory, windows in zip(waiting, found, strict=True)}


def _write(workspace: Workspace, waiting: Sequence[Memory], windows: dict[UUID, Windows]) -> int:
    """Write the vectors of memories that still say what was embedded; return how many."""
    seen = {memory.id: memory.content for memory in waiting}
    healed = 0
    with in_workspace(workspace):
        for memory in lock(list(windows)):
            if memory.content != seen[memory.id]:
                continue
            reindex_vectors(memory, windows[memory.id], workspace.embedding_model)
            memory.is_embedding_due = False
            memory.save(update_fields=["is_embedding_due"])
            healed += 1
    return healed
