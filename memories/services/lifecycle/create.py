"""Writing the rows of a memory that is new: one mechanism for commits and for what is split off."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from django.db.models import Model

from engram.kernel.inserting import insert
from engram.kernel.jobs import wake
from engram.kernel.tenancy import current_workspace_id
from memories.models import Derivation, Memory, MemoryTag
from memories.services.index.search_index import EMBED_TASK, WordIndex, is_due, vector_rows
from memories.services.index.tokens import token_rows
from memories.services.lifecycle.links import Links


def create(
    memory: Memory,
    links: Links,
    vectors: np.ndarray | None,
    model: str,
    *,
    words: WordIndex,
    beside: Sequence[Model] = (),
) -> None:
    """Insert a memory with its vectors, tags and sources, and rows `beside` it, all at once.

    Its words join the index when the caller writes that. Windows that `vectors` lack are due.
    """
    memory.is_embedding_due = is_due(vectors)
    memory.word_count = words.add(memory.id, memory.content)
    rows: list[Model] = [memory]
    if vectors is not None:
        rows += [*vector_rows(memory, vectors, model), *token_rows(memory, vectors, model)]
    rows += [MemoryTag(memory=memory, tag=tag) for tag in links.tags]
    rows += [Derivation(source_id=source, derived=memory) for source in links.sources]
    insert([*rows, *beside])
    if memory.is_embedding_due and vectors is not None:  # an outage is left to the sweep
        wake(EMBED_TASK, current_workspace_id())
