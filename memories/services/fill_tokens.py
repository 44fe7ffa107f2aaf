"""Reading again what was stored before token states were kept."""

from __future__ import annotations

from django.db.models import Exists, OuterRef

from engram.kernel.embedding import (
    TOKEN_WINDOWS,
    EmbeddingUnavailableError,
    embed_windows,
    tells_tokens,
)
from engram.kernel.models import Workspace
from engram.kernel.tenancy import in_workspace
from memories.models import Memory, MemoryTokens, MemoryVector
from memories.services.lifecycle import lock
from memories.services.tokens import write_tokens

MEMORIES_A_TURN = 16


def fill_tokens(workspace: Workspace) -> int:
    """Write the tokens of a few memories that have vectors only; return how many."""
    model = workspace.embedding_model
    if not tells_tokens(model):
        return 0
    with in_workspace(workspace):
        kept = MemoryTokens.objects.filter(memory=OuterRef("pk"), model=model)
        embedded = MemoryVector.objects.filter(memory=OuterRef("pk"), model=model)
        bare = Memory.objects.filter(~Exists(kept), Exists(embedded), forgotten_at=None)
        turn = dict(bare.order_by("pk").values_list("pk", "content")[:MEMORIES_A_TURN])
    if not turn:
        return 0
    try:
        read = embed_windows(list(turn.values()), model, limit=TOKEN_WINDOWS)
        windows = dict(zip(turn, read, strict=True))
    except EmbeddingUnavailableError:
        return 0
    with in_workspace(workspace):
        unchanged = [memory for memory in lock(list(turn)) if memory.content == turn[memory.id]]
        for memory in unchanged:
            write_tokens(memory, windows[memory.id], model)
    return len(unchanged)
