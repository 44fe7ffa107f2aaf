"""Move a workspace to another embedding model without downtime.

Until all new vectors exist, recall, the gate and the detective use the old ones:
`Workspace.embedding_model` names the model and is changed last. The questions of answers and the
passages of notes are embedded after the change, and what memories lean on in notes gets
its new cosines then. An interrupted run loses nothing; the next one embeds the missing memories.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import Exists, OuterRef, QuerySet

from engram.kernel.actors import Actor
from engram.kernel.embedding import embed_windows
from engram.kernel.history import record
from engram.kernel.models import Workspace
from engram.kernel.tenancy import in_workspace
from memories.models import Memory, MemoryQuerySet, MemoryTokens, MemoryVector
from memories.services.index import answers, note_chunks, supports
from memories.services.index.search_index import index_vectors
from memories.services.locks import lock

MEMORIES_A_TURN = 16
# For this long after a change, writers that read the workspace's row before it may still add
# memories with vectors of the old model only; the sweep finds them.
STRAGGLERS = timedelta(hours=1)


def without_vectors(model: str) -> MemoryQuerySet:
    """Return the workspace's memories without vectors of `model`, including hidden ones."""
    read = MemoryVector.objects.filter(memory=OuterRef("pk"), model=model)
    return Memory.objects.filter(~Exists(read))


def count_missing(workspace: Workspace, model: str) -> int:
    """Return the number of memories without vectors of `model`."""
    with in_workspace(workspace):
        return without_vectors(model).count()


def embed_missing(workspace: Workspace, model: str, *, advance: Callable[[int], object]) -> int:
    """Write the missing vectors of `model`, a few memories at a time; return how many memories.

    Raise `EmbeddingUnavailableError` when the provider fails; vectors written before stay.
    """
    written, after = 0, UUID(int=0)
    while True:
        with in_workspace(workspace):
            rest = without_vectors(model).filter(pk__gt=after).order_by("pk")
            turn = dict(rest.values_list("pk", "content")[:MEMORIES_A_TURN])
        if not turn:
            return written
        windows = dict(zip(turn, embed_windows(list(turn.values()), model), strict=True))
        with in_workspace(workspace):
            # A memory that was reworded meanwhile is still missing and is embedded in the next
            # round.
            unchanged = [m for m in lock(list(turn)) if m.content == turn[m.id]]
            MemoryVector.objects.filter(memory__in=unchanged, model=model).delete()
            MemoryTokens.objects.filter(memory__in=unchanged, model=model).delete()
            for memory in unchanged:
                index_vectors(memory, windows[memory.id], model)
        written += len(unchanged)
        advance(len(unchanged))
        after = max(turn)


def switch(workspace: Workspace, model: str, *, actor: Actor, now: datetime) -> str:
    """Make `model` the workspace's embedding model; return the previous one."""
    with in_workspace(workspace):
        row = Workspace.objects.select_for_update().get(pk=workspace.pk)
        before = row.embedding_model
        if before != model:
            row.embedding_model = model
            row.embedding_changed_at = now
            row.save(update_fields=["embedding_model", "embedding_changed_at"])
            answers.mark_due(model)
            note_chunks.mark_due(model)
            supports.mark_due(model, now=now)
            record(
                "workspace.reembedded",
                of=("workspace", workspace.pk),
                actor=actor,
                now=now,
                data={"from": before, "to": model},
            )
    workspace.refresh_from_db()
    return before


def drop_other_vectors(workspace: Workspace) -> int:
    """Delete the vectors of all models except the workspace's; return their number."""
    with in_workspace(workspace):
        others = MemoryVector.objects.exclude(model=workspace.embedding_model)
        count, _ = others.delete()
        MemoryTokens.objects.exclude(model=workspace.embedding_model).delete()
        return count


def changed_lately(now: datetime) -> QuerySet[Workspace]:
    """Return the workspaces to which writers may still bring vectors of the model before."""
    return Workspace.objects.filter(embedding_changed_at__gte=now - STRAGGLERS)


def mark_stragglers(workspace: Workspace, *, now: datetime) -> int:
    """Mark memories written with the old model after the change as due for embedding."""
    if not changed_lately(now).filter(pk=workspace.pk).exists():
        return 0
    with in_workspace(workspace):
        answers.mark_due(workspace.embedding_model)
        note_chunks.mark_due(workspace.embedding_model)
        supports.mark_due(workspace.embedding_model, now=now)
        late = without_vectors(workspace.embedding_model).filter(is_embedding_due=False)
        return late.update(is_embedding_due=True)
