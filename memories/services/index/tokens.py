"""Store and read the token states of memories, for recall's second stage."""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

import numpy as np

from engram.kernel.binary import binary_cursor
from engram.kernel.embedding import Windows
from engram.kernel.tenancy import current_workspace_id
from memories.core import late
from memories.models import Memory, MemoryTokens

_STORED = """
    SELECT memory_id, count, width, states FROM memories_memorytokens
    WHERE workspace_id = %s AND model = %s AND memory_id = ANY(%s::uuid[])
"""


def token_rows(memory: Memory, vectors: np.ndarray | tuple[()], model: str) -> list[MemoryTokens]:
    """Return the row of a memory's token states; no row if `vectors` have none."""
    if not isinstance(vectors, Windows) or vectors.tokens is None:
        return []
    states = late.choose(vectors.tokens.states, vectors.tokens.words)
    row = MemoryTokens(
        memory=memory,
        model=model,
        count=len(states),
        width=states.shape[1],
        states=states.tobytes(),
    )
    return [row]


def write_tokens(memory: Memory, vectors: np.ndarray | tuple[()], model: str) -> None:
    """Write or replace the token states of a memory, if `vectors` have any."""
    MemoryTokens.objects.bulk_create(
        token_rows(memory, vectors, model),
        update_conflicts=True,
        unique_fields=["memory", "model"],
        update_fields=["count", "width", "states"],
    )


def tokens_of(ids: Collection[UUID], model: str) -> dict[UUID, late.Bytes]:
    """Return the token states (count, width) of those memories that have them."""
    with binary_cursor() as cursor:
        cursor.execute(_STORED, [current_workspace_id(), model, list(ids)])
        return {
            memory_id: np.frombuffer(states, dtype=np.int8).reshape(count, width)
            for memory_id, count, width, states in cursor.fetchall()
        }
