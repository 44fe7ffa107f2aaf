"""Validate the inputs of rankers: shapes, ranges and finite numbers."""

from __future__ import annotations

import numpy as np

from predictor.core.features import WidthError
from predictor.core.types import (
    PROJECT_SLOTS,
    SIGNALS,
    TOKEN_BUCKETS,
    Candidates,
    Context,
    LabelledSession,
)


class ScoreError(ValueError):
    """Raised when an input or a result of a ranker is not finite or out of range."""


def check_context(context: Context, native: int) -> None:
    """Raise `WidthError` or `ScoreError` unless a model of this width can read the context."""
    embedding = context.embedding
    if embedding is not None:
        if embedding.shape != (native,):
            raise WidthError(f"a context of shape {embedding.shape} for a model of {native}")
        if not np.isfinite(embedding).all():
            raise ScoreError("the context's embedding is not finite")
    clock = (context.hour, context.weekday, context.month, context.gap_hours)
    if not np.isfinite(clock).all() or context.gap_hours < 0:
        raise ScoreError("hour, weekday, month and gap must be finite, the gap at least 0")
    slot = context.project_slot
    if slot is not None and not 0 <= slot < PROJECT_SLOTS:
        raise ScoreError(f"project slot {slot} is not in 0..{PROJECT_SLOTS - 1}")


def check_candidates(candidates: Candidates, native: int) -> None:
    """Raise `WidthError` or `ScoreError` unless a model of this width can read the candidates."""
    n = len(candidates)
    shapes = {
        "embeddings": (candidates.embeddings.shape, (n, native)),
        "is_embedded": (candidates.is_embedded.shape, (n,)),
        "token_buckets": ((len(candidates.token_buckets),), (n,)),
        "signals": (candidates.signals.shape, (n, len(SIGNALS))),
        "log_effectiveness": (candidates.log_effectiveness.shape, (n,)),
    }
    if candidates.is_injected is not None:
        shapes["is_injected"] = (candidates.is_injected.shape, (n,))
    if candidates.baseline is not None:
        shapes["baseline"] = (candidates.baseline.shape, (n,))
    for name, (shape, wanted) in shapes.items():
        if shape != wanted:
            raise WidthError(f"{name} of shape {shape} instead of {wanted}")
    for name in ("signals", "log_effectiveness", "baseline"):
        values = getattr(candidates, name)
        if values is not None and not np.isfinite(values).all():
            raise ScoreError(f"{name} are not finite")
    embedded = candidates.is_embedded
    rows = candidates.embeddings if embedded.all() else candidates.embeddings[embedded]
    if not np.isfinite(rows).all():
        raise ScoreError("an embedding is not finite")
    for i in np.flatnonzero(~embedded).tolist():
        buckets = candidates.token_buckets[i]
        if len(buckets) and not (np.min(buckets) >= 0 and np.max(buckets) < TOKEN_BUCKETS):
            raise ScoreError(f"a token bucket is not in 0..{TOKEN_BUCKETS - 1}")


def check_session(session: LabelledSession, native: int) -> None:
    """Raise `WidthError` or `ScoreError` unless a model of this width can learn from it."""
    check_context(session.context, native)
    check_candidates(session.candidates, native)
    n = len(session.candidates)
    if session.labels.shape != (n,):
        raise WidthError(f"labels of shape {session.labels.shape} instead of {(n,)}")
    if not (np.isfinite(session.labels).all() and np.abs(session.labels).max(initial=0) <= 1):
        raise ScoreError("a label is not in -1..1")
    weights = session.weights
    if weights is not None:
        if weights.shape != (n,):
            raise WidthError(f"weights of shape {weights.shape} instead of {(n,)}")
        if not (np.isfinite(weights).all() and weights.min(initial=1.0) > 0):
            raise ScoreError("a weight is not a finite number above 0")
    if not 0 <= session.confidence <= 1:
        raise ScoreError("a confidence is not in 0..1")
