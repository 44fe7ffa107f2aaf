"""Store and read the token states of memories, for recall's second stage and the gate."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from uuid import UUID

import numpy as np

from engram.kernel.binary import PackedVector, binary_cursor, pack_ids
from engram.kernel.embedding import Windows, has_token_states, token_words
from engram.kernel.tenancy import current_workspace_id
from memories.core import late
from memories.core.likelihood import MAX_ESTIMATED
from memories.core.token_matches import WordStates, stored_states, word_states
from memories.models import Memory, MemoryTokens

# Of long memories the windows that are nearest to the query: one of them is the best in nearly all
# cases, and all windows of a text of 8,000 characters are hundreds of kilobytes.
WINDOWS_READ = 2

_NEAREST = """
    SELECT memory_id, count, width, states FROM memories_memorytokens AS kept
    WHERE workspace_id = %(workspace)s AND model = %(model)s AND memory_id = ANY(%(ids)s::uuid[])
        AND position IN (
            SELECT position FROM memories_memoryvector
            WHERE memory_id = kept.memory_id AND model = %(model)s
            ORDER BY embedding <=> %(vector)s::vector, position LIMIT %(windows)s
        )
"""


def token_rows(memory: Memory, vectors: np.ndarray | tuple[()], model: str) -> list[MemoryTokens]:
    """Return the rows of the token states of a memory's windows; none if `vectors` have none."""
    if not isinstance(vectors, Windows) or vectors.tokens is None:
        return []
    rows = []
    for position, tokens in enumerate(vectors.tokens):
        states = late.choose(tokens.states, tokens.words)
        rows.append(
            MemoryTokens(
                memory=memory,
                model=model,
                position=position,
                count=len(states),
                width=states.shape[1],
                states=states.tobytes(),
            )
        )
    return rows


def write_tokens(memory: Memory, vectors: np.ndarray | tuple[()], model: str) -> None:
    """Write or replace the token states of a memory, if `vectors` have any."""
    MemoryTokens.objects.bulk_create(
        token_rows(memory, vectors, model),
        update_conflicts=True,
        unique_fields=["memory", "model", "position"],
        update_fields=["count", "width", "states"],
    )


def word_states_of(memories: Collection[Memory], model: str) -> dict[str, WordStates]:
    """Return the stored token states of memories with their words, by content.

    Left out are memories too long for the gate's estimate, those of several windows, those not
    embedded yet, and copies that are not the stored row, such as past wordings: the states are of
    the present one, and the same number of words would not tell the two apart.
    """
    if not has_token_states(model):
        return {}
    wanted = {
        memory.id: memory
        for memory in memories
        if not memory._state.adding and len(memory.content) <= MAX_ESTIMATED
    }
    rows = defaultdict(list)
    for row in MemoryTokens.objects.filter(memory__in=list(wanted), model=model) if wanted else ():
        rows[row.memory_id].append(row)
    found: dict[str, WordStates] = {}
    for memory_id, (row, *more) in rows.items():
        text = wanted[memory_id].content
        states = np.frombuffer(row.states, dtype=np.int8).reshape(row.count, row.width)
        if not more and (kept := stored_states(states, token_words(text, model))) is not None:
            found[text] = kept
    return found


def incoming_states(content: str, vectors: np.ndarray) -> dict[str, WordStates]:
    """Return the token states of a text that was just embedded, by content; {} without any."""
    tokens = vectors.tokens if isinstance(vectors, Windows) else None
    if tokens is None or len(tokens) != 1:
        return {}
    states = word_states(tokens[0].states, tokens[0].words)
    return {} if states is None else {content: states}


def tokens_of(
    ids: Collection[UUID], vector: np.ndarray, model: str
) -> dict[UUID, list[late.Bytes]]:
    """Return the token states (count, width) of the windows of memories nearest to a vector."""
    found: dict[UUID, list[late.Bytes]] = defaultdict(list)
    with binary_cursor(prepares=True) as cursor:
        cursor.execute(
            _NEAREST,
            {
                "workspace": current_workspace_id(),
                "model": model,
                "ids": pack_ids(ids),
                "vector": PackedVector(vector),
                "windows": WINDOWS_READ,
            },
        )
        for memory_id, count, width, states in cursor.fetchall():
            found[memory_id].append(np.frombuffer(states, dtype=np.int8).reshape(count, width))
    return dict(found)
