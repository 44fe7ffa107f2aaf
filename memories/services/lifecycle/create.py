"""Insert the rows of a new memory, for commits and for splits."""

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
from memories.services.lifecycle.answers import answer_rows
from memories.services.lifecycle.attached import Links


def create(
    memory: Memory,
    links: Links,
    vectors: np.ndarray | None,
    model: str,
    *,
    words: WordIndex,
    extra_rows: Sequence[Model] = (),
) -> None:
    """Insert a memory with all that belongs to it, and `extra_rows`, in one round trip.

    Its words are indexed when the caller writes `words`. Windows missing from `vectors` are marked
    as due.
    """
    memory.is_embedding_due = is_due(vectors)
    memory.word_count = words.add(
        memory.id, memory.content, [answer.question for answer in links.answers]
    )
    rows: list[Model] = [memory]
    if vectors is not None:
        rows += [*vector_rows(memory, vectors, model), *token_rows(memory, vectors, model)]
    rows += [MemoryTag(memory=memory, tag=tag) for tag in links.tags]
    rows += [Derivation(source_id=source, derived=memory) for source in links.sources]
    rows += answer_rows(memory, links.answers)
    insert([*rows, *extra_rows])
    if memory.is_embedding_due and vectors is not None:  # after an outage the sweep embeds it
        wake(EMBED_TASK, current_workspace_id())
