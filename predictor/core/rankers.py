"""Rankers of a session's memories: the learned model and the references it is compared with."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from predictor.core.checks import check_candidates, check_context
from predictor.core.ridge import Ridge
from predictor.core.scorer import Scorer
from predictor.core.types import Candidates, Context, LabelledSession
from predictor.core.weights import Floats

Texts = Sequence[NDArray[np.integer]]


class Ranker(Protocol):
    """Scores candidates, each independent of the others, and learns from judged sessions."""

    def score(self, context: Context, candidates: Candidates, /) -> NDArray[np.float32]:
        """Return scores (n,), the best highest; raises `WidthError` or `ScoreError`."""

    def fit(self, sessions: Sequence[LabelledSession], *, rng: np.random.Generator) -> object:
        """Learn; with the same seed and sessions the same."""


class Random:
    """Rank at random: the same candidate in the same session always gets the same score."""

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def score(self, context: Context, candidates: Candidates) -> NDArray[np.float32]:
        """Return pseudo-random scores in [0, 1), (n,)."""
        _check(context, candidates)
        clock = (context.hour, context.weekday, context.month, context.gap_hours)
        session = zlib.crc32(np.array(clock, dtype="<f8").tobytes(), self._seed & 0xFFFFFFFF)
        scores = np.empty(len(candidates), dtype=np.float32)
        for i, words in enumerate(candidates.token_buckets):
            own = np.asarray(candidates.signals[i], dtype="<f8").tobytes()
            own += np.asarray(words, dtype="<i8").tobytes()
            if candidates.is_embedded[i]:
                own += np.asarray(candidates.embeddings[i], dtype="<f4").tobytes()
            scores[i] = np.random.default_rng((session, zlib.crc32(own))).random()
        return scores

    def fit(self, sessions: Sequence[LabelledSession], *, rng: np.random.Generator) -> None:
        """Learn nothing."""


def model(embeddings: Floats, texts: Texts | None, *, rng: np.random.Generator) -> Ranker:
    """Return the model, untrained, for memories (n, native) and their token buckets."""
    return Scorer.initial(None, embeddings, rng=rng, texts=texts)


def ridge(embeddings: Floats, texts: Texts | None, *, rng: np.random.Generator) -> Ranker:
    """Return the closed-form ranker, untrained."""
    return Ridge()


def _check(context: Context, candidates: Candidates) -> None:
    native = candidates.embeddings.shape[1]
    check_context(context, native)
    check_candidates(candidates, native)
