"""Build a ranker's inputs from a session's records, the same for scoring and training."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, tzinfo

import numpy as np
from numpy.typing import NDArray

from engram.kernel.middleware import zone_of
from memories.services.sessions.ranker_hook import RankerRequest
from predictor.core.features import (
    WidthError,
    clock_of,
    log_effectiveness,
    project_slot,
    signals,
    token_buckets,
)
from predictor.core.types import SIGNALS, Candidates, Context

_NO_WORDS: NDArray[np.int64] = np.empty(0, dtype=np.int64)


def context_of(
    *,
    embedding: NDArray[np.float32] | None,
    project: str,
    at: datetime,
    zone: tzinfo,
    gap_hours: float | None,
) -> Context:
    """Return the context of a session; the gap of a workspace's first session is 0."""
    hour, weekday, month = clock_of(at, zone)
    return Context(embedding, project_slot(project), hour, weekday, month, gap_hours or 0.0)


def candidates_of(
    *,
    vectors: Sequence[NDArray[np.float32] | None],
    contents: Sequence[str],
    signal_rows: NDArray[np.floating],
    effectiveness: Sequence[float],
    baseline_scores: Sequence[float],
    width: int,
    is_injected: Sequence[bool] | None = None,
    with_all_words: bool = False,
) -> Candidates:
    """Return the candidates of a session.

    Parameters
    ----------
    vectors : unit vectors (width,), None for a memory without one.
    signal_rows : (n, 12), columns as in `SIGNALS`.
    effectiveness, baseline_scores : (n,) as `memories.core.baseline` defines them.
    with_all_words : hash the words of all memories, from which a first training fits word vectors;
        scoring needs only the words of memories without a vector.

    Raises
    ------
    WidthError
        When a vector has another width.
    """
    embeddings = np.zeros((len(vectors), width), dtype=np.float32)
    for row, vector in enumerate(vectors):
        if vector is None:
            continue
        if vector.shape != (width,):
            raise WidthError(f"a vector of shape {vector.shape} instead of ({width},)")
        embeddings[row] = vector
    return Candidates(
        embeddings=embeddings,
        is_embedded=np.array([vector is not None for vector in vectors], dtype=bool),
        token_buckets=[
            token_buckets(content) if with_all_words or vector is None else _NO_WORDS
            for vector, content in zip(vectors, contents, strict=True)
        ],
        signals=signal_rows,
        log_effectiveness=log_effectiveness(np.asarray(effectiveness, dtype=np.float64)),
        is_injected=None if is_injected is None else np.array(is_injected, dtype=bool),
        baseline=np.asarray(baseline_scores, dtype=np.float64),
    )


def signals_of(request: RankerRequest) -> NDArray[np.float64]:
    """Return the signals (n, 12) of a starting session's candidates, in their order."""
    facts = request.candidates
    if not facts:
        return np.empty((0, len(SIGNALS)))
    hour, weekday, month = clock_of(request.now, zone_of(request.workspace))
    return signals(
        age_days=[fact.age_days for fact in facts],
        importance=[fact.importance for fact in facts],
        access_count=[fact.access_count for fact in facts],
        hour=hour,
        weekday=weekday,
        month=month,
        gap_hours=request.gap_hours or 0.0,
        is_embedded=[fact.vector is not None for fact in facts],
        is_superseded=[fact.is_superseded for fact in facts],
    )
