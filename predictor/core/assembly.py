"""Assemble judged sessions into the flat arrays that training reads, each memory once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike, NDArray

from predictor.core import forward
from predictor.core.types import LabelledSession
from predictor.core.weights import Floats, Weights

Ints = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class DistinctMemories:
    """The U distinct memories of all sessions, and the index of each of N candidates among them.

    Memories are distinguished by embedding, or by words when they have none.
    """

    embeddings: Floats  # (U, native), zero for text only
    is_text: NDArray[np.bool_]  # (U,)
    words: list[NDArray[np.integer]]  # U times
    memory: Ints  # (N,)


@dataclass(frozen=True, slots=True)
class Batch:
    """S sessions with N candidates of U memories, in the order of the sessions."""

    x: Floats  # (U, d) before training: (e - μ) W_e, or the mean word vectors
    ahead: Floats  # (U, directions): coordinates in which training changes W_e; 0 for text only
    is_text: Floats  # (U, 1), 1 or 0
    context: Floats  # (S, d) before training, zero without an embedding
    context_ahead: Floats  # (S, directions)
    has_context: Floats  # (S, 1)
    projects: Floats  # (S, 32)
    times: Floats  # (S, 7)
    memory: Ints  # (N,) into U
    session: Ints  # (N,) into S, ascending
    starts: Ints  # (S,) where each session's candidates begin
    signals: Floats  # (N, 7), as `forward.signals_of`
    cosine: Floats  # (N,) of embedded candidates; c · μ for the others
    text_at: Ints  # text-only candidates whose session has an embedding
    prior: Floats  # (N, 2), as `forward.prior_of`
    injected: Floats  # (N,)
    labels: Floats  # (N,)
    shares: Floats  # (N,) weights of the candidates, with a mean of 1 in each session
    confidence: Floats  # (S,)
    by_memory: Ints  # (N,) order in which `memory` ascends
    memory_starts: Ints  # (U,) where each memory begins in that order


def pool_of(sessions: Sequence[LabelledSession]) -> DistinctMemories:
    """Return the distinct memories of the sessions, in the order in which they first appear."""
    known: dict[bytes, int] = {}
    first: list[tuple[int, int]] = []
    memory = np.empty(sum(len(s.candidates) for s in sessions), dtype=np.intp)
    at = 0
    for number, session in enumerate(sessions):
        candidates = session.candidates
        rows = np.ascontiguousarray(candidates.embeddings, dtype=np.float32)
        for i, is_embedded in enumerate(candidates.is_embedded.tolist()):
            if is_embedded:
                key = b"e" + rows[i].tobytes()
            else:
                key = b"w" + np.asarray(candidates.token_buckets[i], dtype=np.int64).tobytes()
            place = known.setdefault(key, len(first))
            if place == len(first):
                first.append((number, i))
            memory[at] = place
            at += 1
    picked = [(sessions[number].candidates, i) for number, i in first]
    native = sessions[0].candidates.embeddings.shape[1] if sessions else 0
    embeddings = np.zeros((len(first), native), dtype=np.float32)
    is_text = np.array([not c.is_embedded[i] for c, i in picked], dtype=bool)
    for row, (candidates, i) in enumerate(picked):
        if not is_text[row]:
            embeddings[row] = candidates.embeddings[i]
    return DistinctMemories(
        embeddings, is_text, [np.asarray(c.token_buckets[i]) for c, i in picked], memory
    )


def assemble_batches(
    weights: Weights,
    sessions: Sequence[LabelledSession],
    pool: DistinctMemories,
    directions: Floats,
    *,
    size: int,
    order: Sequence[int],
    dtype: DTypeLike = np.float32,
) -> list[Batch]:
    """Return the sessions in ``order`` as batches of up to ``size``, ready for many epochs."""
    w = {name: np.asarray(array, dtype=dtype) for name, array in weights.items()}
    centred = np.where(pool.is_text[:, None], 0, pool.embeddings - weights["mean"])
    x = np.asarray(centred @ weights["projection"], dtype=dtype)
    text = np.flatnonzero(pool.is_text)
    x[text] = forward.mean_word_vectors(w["words"], [pool.words[i] for i in text])
    ahead = np.asarray(centred @ directions, dtype=dtype)
    offsets = np.concatenate([[0], np.cumsum([len(s.candidates) for s in sessions])])
    batches = []
    for start in range(0, len(order), size):
        chosen = order[start : start + size]
        where = np.concatenate([np.arange(offsets[i], offsets[i + 1]) for i in chosen])
        used, memory = np.unique(pool.memory[where], return_inverse=True)
        batches.append(
            _batch(
                w,
                [sessions[i] for i in chosen],
                (x[used], ahead[used], pool.is_text[used]),
                memory.astype(np.intp),
                directions,
            )
        )
    return batches


def _batch(
    w: Weights,
    sessions: list[LabelledSession],
    memories: tuple[Floats, Floats, NDArray[np.bool_]],
    memory: Ints,
    directions: Floats,
) -> Batch:
    x, ahead, is_text = memories
    dtype = x.dtype
    contexts = [session.context for session in sessions]
    counts = [len(session.candidates) for session in sessions]
    session_at = np.repeat(np.arange(len(sessions)), counts)
    has = np.array([c.embedding is not None for c in contexts], dtype=dtype)[:, None]
    native = len(w["mean"])
    raw = [np.zeros(native) if c.embedding is None else c.embedding for c in contexts]
    embedded = np.array(raw, dtype=dtype)
    centred = (embedded - w["mean"]) * has
    times = forward.times_of(contexts, w)
    by_memory = np.argsort(memory, kind="stable")
    lines = [session.candidates for session in sessions]
    signals = np.concatenate([c.signals for c in lines]).astype(dtype)
    effect = np.concatenate([c.log_effectiveness for c in lines]).astype(dtype)
    injected = [np.zeros(len(c)) if c.is_injected is None else c.is_injected for c in lines]
    text_only = is_text[memory]
    return Batch(
        x=x,
        ahead=ahead,
        is_text=is_text[:, None].astype(dtype),
        context=centred @ w["projection"],
        context_ahead=centred @ directions.astype(dtype),
        has_context=has,
        projects=forward.projects_of(contexts, times, w),
        times=times,
        memory=memory,
        session=session_at,
        starts=np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.intp),
        signals=forward.signals_of(w, signals),
        cosine=_cosines(sessions, embedded, text_only, w["mean"]),
        text_at=np.flatnonzero(text_only & (has[session_at, 0] > 0)),
        prior=forward.prior_of(w, effect),
        injected=np.concatenate(injected).astype(dtype),
        labels=np.concatenate([s.labels for s in sessions]).astype(dtype),
        shares=np.concatenate([s.shares for s in sessions]).astype(dtype),
        confidence=np.array([s.confidence for s in sessions], dtype=dtype),
        by_memory=by_memory,
        memory_starts=np.searchsorted(memory[by_memory], np.arange(len(x))),
    )


def _cosines(
    sessions: list[LabelledSession], contexts: Floats, text_only: NDArray[np.bool_], mean: Floats
) -> Floats:
    """Return c · e of embedded candidates and c · μ of the others, (N,); 0 without a context."""
    parts = [s.candidates.embeddings @ c for s, c in zip(sessions, contexts, strict=True)]
    general = np.repeat(contexts @ mean, [len(s.candidates) for s in sessions])
    return np.where(text_only, general, np.concatenate(parts)).astype(contexts.dtype)
