"""The token states of memories: kept beside their vectors for recall's second stage."""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

import numpy as np

from engram.kernel.embedding import Windows
from memories.core import late
from memories.models import Memory, MemoryTokens


def write_tokens(memory: Memory, vectors: np.ndarray | tuple[()], model: str) -> None:
    """Write what `vectors` know of a memory's tokens, in place of what was written before."""
    if not isinstance(vectors, Windows) or vectors.tokens is None:
        return
    states = late.choose(vectors.tokens.states, vectors.tokens.words)
    row = MemoryTokens(
        memory=memory,
        model=model,
        count=len(states),
        width=states.shape[1],
        states=states.tobytes(),
    )
    MemoryTokens.objects.bulk_create(
        [row],
        update_conflicts=True,
        unique_fields=["memory", "model"],
        update_fields=["count", "width", "states"],
    )


def tokens_of(ids: Collection[UUID], model: str) -> dict[UUID, late.Bytes]:
    """Return the token states (count, width) of those memories that have them."""
    rows = MemoryTokens.objects.filter(memory__in=list(ids), model=model)
    return {
        memory_id: np.frombuffer(states, dtype=np.int8).reshape(count, width)
        for memory_id, count, width, states in rows.values_list(
            "memory_id", "count", "width", "states"
        )
    }
