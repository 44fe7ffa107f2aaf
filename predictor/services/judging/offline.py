"""Judge a session without a language model, by embeddings and shared words."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from uuid import UUID

import numpy as np

from engram.kernel.embedding import Floats, embed, embed_windows
from engram.kernel.models import Workspace
from engram.kernel.tenancy import in_workspace
from memories.core.text import terms
from memories.models import MemoryVector
from memories.services.index.postings import vocabulary_of
from predictor.core.offline_judge import (
    OFFLINE_VERSION,
    JudgedNote,
    Rarity,
    judge,
)
from predictor.core.talk import read_talk
from predictor.models import JudgeKind
from predictor.services.judging.pool import JudgingPool
from predictor.services.judging.verdict import JudgeVerdict


def judge_offline(workspace: Workspace, pool: JudgingPool, *, note: str = "") -> JudgeVerdict:
    """Return the offline judge's verdict; called outside any transaction, because it embeds.

    Raises
    ------
    EmbeddingUnavailableError
        When texts cannot be embedded.
    """
    model = workspace.embedding_model
    first = [n for n, i in enumerate(pool.ids) if pool.first is None or i in pool.first]
    talk = read_talk(pool.session.transcript, [pool.contents[n] for n in first])
    with in_workspace(workspace):
        rarity = _rarity([talk.text, *pool.contents])
        known = _vectors([i for i in pool.ids if i not in pool.reworded], model)
    vectors = embed(talk.pieces, model) if talk.pieces else np.zeros((0, 0), dtype=np.float32)
    missing = [n for n, i in enumerate(pool.ids) if i not in known]
    fresh = embed_windows([pool.contents[n] for n in missing], model)
    known |= {pool.ids[n]: windows for n, windows in zip(missing, fresh, strict=True)}
    notes = [
        JudgedNote(content, known[i]) for i, content in zip(pool.ids, pool.contents, strict=True)
    ]
    return JudgeVerdict(
        scores=judge(notes, talk, vectors, rarity, pool.session.context, first=first),
        ids=pool.ids,
        kind=JudgeKind.OFFLINE,
        version=OFFLINE_VERSION,
        model=model,
        note=note,
    )


def _rarity(texts: Sequence[str]) -> Rarity:
    vocabulary = vocabulary_of({term for text in texts for term in terms(text)})
    return Rarity(vocabulary.frequencies, vocabulary.memories)


def _vectors(ids: Sequence[UUID], model: str) -> dict[UUID, Floats]:
    """Return the stored window vectors (n, dim) of each memory that has any."""
    windows: dict[UUID, list[Floats]] = defaultdict(list)
    rows = MemoryVector.objects.filter(memory__in=ids, model=model).order_by("memory", "position")
    for memory_id, vector in rows.values_list("memory_id", "embedding"):
        windows[memory_id].append(np.asarray(vector, dtype=np.float32))
    return {memory_id: np.stack(found) for memory_id, found in windows.items()}
