"""Score candidates: a prepared part that no session changes, and the part of one session."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from predictor.core import forward
from predictor.core.checks import ScoreError, check_candidates
from predictor.core.features import WidthError
from predictor.core.linear import standardise
from predictor.core.types import CANDIDATE_COLUMNS, Candidates, Context
from predictor.core.weights import (
    BASELINE_SCALE,
    COSINE_COLUMN,
    DIMENSION,
    LINEAR_COLUMNS,
    Floats,
    Weights,
)


@dataclass(frozen=True, slots=True)
class PreparedCandidates:
    """The session-independent part of scoring n candidates, valid for one set of weights."""

    weights: Weights
    hidden: Floats  # h, (n, 64)
    values: Floats  # h W_v, (n, 32)
    embeddings: Floats  # (n, native), rows of text-only candidates zero
    text_at: NDArray[np.intp]  # which candidates are text only
    text: Floats  # their pooled words, (text only, 64)
    fixed: Floats  # w_f · f + ρ · eff, (n,)
    linear: Floats  # λ · columns but the cosine, (n,)
    baseline: Floats | None  # the baseline's scores, (n,)

    def __len__(self) -> int:
        return len(self.fixed)


def prepare_candidates(w: Weights, candidates: Candidates) -> PreparedCandidates:
    """Return the session-independent part of scoring."""
    check_candidates(candidates, len(w["mean"]))
    text_at = np.flatnonzero(~candidates.is_embedded)
    embeddings: Floats = np.asarray(candidates.embeddings, dtype=np.float32)
    if text_at.size:
        embeddings = np.where(candidates.is_embedded[:, None], embeddings, np.float32(0))
    x = (embeddings - w["mean"]) @ w["projection"]
    text = forward.mean_word_vectors(
        w["words"], [candidates.token_buckets[i] for i in text_at.tolist()]
    )
    x[text_at] = text
    rows = forward.normalise_rows(x).rows
    hidden = rows * w["scale_embedded"] + w["shift_embedded"]
    if text_at.size:
        hidden[text_at] = rows[text_at] * w["scale_text"] + w["shift_text"]
    return PreparedCandidates(
        weights=w,
        hidden=hidden,
        values=hidden @ w["value"],
        embeddings=embeddings,
        text_at=text_at,
        text=text,
        fixed=_session_independent(w, candidates.signals, candidates.log_effectiveness),
        linear=_linear(w, candidates),
        baseline=candidates.baseline,
    )


def untrained_scores(ready: PreparedCandidates) -> NDArray[np.float32] | None:
    """Return the scores of a model that has learned nothing: the baseline's; None without them."""
    if ready.baseline is None:
        return None
    return _finite(np.asarray(BASELINE_SCALE * ready.baseline, dtype=np.float32))


def linear_scores(w: Weights, context: Context, ready: PreparedCandidates) -> NDArray[np.float32]:
    """Return the scores (n,) by the linear ranking alone; the same for all where none was learned.

    The context is checked by the caller.
    """
    _check_owner(w, ready)
    with np.errstate(over="ignore", invalid="ignore"):  # `_finite` rejects such scores
        return _finite(_linear_total(w, ready, _cosines(context, ready)))


def scores(w: Weights, context: Context, ready: PreparedCandidates) -> NDArray[np.float32]:
    """Return the scores (n,) of prepared candidates; the context is checked by the caller."""
    _check_owner(w, ready)
    with np.errstate(over="ignore", invalid="ignore"):  # `_finite` rejects such scores
        return _finite(_total(w, context, ready))


def _total(w: Weights, context: Context, ready: PreparedCandidates) -> Floats:
    times = forward.times_of([context], w)
    projects = forward.projects_of([context], times, w)
    has_context = np.full((1, 1), context.embedding is not None, dtype=np.float32)
    projected: Floats = np.zeros((1, DIMENSION), dtype=np.float32)
    total: Floats = ready.fixed
    raw = _cosines(context, ready)
    if context.embedding is not None:
        embedding = np.asarray(context.embedding, dtype=np.float32)
        projected = (embedding - w["mean"])[None] @ w["projection"]
        cosine = raw.copy()
        cosine[ready.text_at] = ready.text @ projected[0] + w["mean"] @ embedding
        total = total + forward.nearness_of(cosine) @ w["similarity"]
    lifted = forward.lift(w, projected, has_context, projects, times)
    value = np.tanh(ready.values + lifted.values)
    total = total + forward.blend(w, ready.hidden @ lifted.keys[0], value)
    total = total + w["linear_share"][0] * (_linear_total(w, ready, raw) - total)
    if ready.baseline is not None:
        start = np.asarray(BASELINE_SCALE * ready.baseline, dtype=np.float32)
        total = start + w["trust"][0] * (total - start)
    return total


def _cosines(context: Context, ready: PreparedCandidates) -> Floats:
    """Return the cosines to the context, (n,); 0 for text only, and without its embedding."""
    if context.embedding is None:
        return np.zeros(len(ready), dtype=np.float32)
    cosines: Floats = ready.embeddings @ np.asarray(context.embedding, dtype=np.float32)
    return cosines


def _linear_total(w: Weights, ready: PreparedCandidates, cosines: Floats) -> Floats:
    return ready.linear + _by_cosine(w, cosines)


def _finite(total: Floats) -> Floats:
    if not np.isfinite(total).all():
        raise ScoreError("a score is not finite")
    return np.asarray(total, dtype=np.float32)


def _check_owner(w: Weights, ready: PreparedCandidates) -> None:
    if ready.weights is not w:
        raise WidthError("the candidates were prepared by other weights")


def _session_independent(w: Weights, signals: Floats, log_effectiveness: Floats) -> Floats:
    """Return w_f · f + ρ · eff, (n,)."""
    fixed = forward.signals_of(w, signals) @ w["signal_head"]
    fixed = fixed + forward.prior_of(w, log_effectiveness) @ w["prior"]
    with np.errstate(over="ignore"):  # `_finite` rejects such scores
        return np.asarray(fixed, dtype=np.float32)


def _linear(w: Weights, candidates: Candidates) -> Floats:
    """Return the linear scores without their cosine, (n,)."""
    signals = candidates.signals[:, CANDIDATE_COLUMNS]
    told = np.column_stack([signals, candidates.log_effectiveness])
    own = np.delete(np.arange(LINEAR_COLUMNS), COSINE_COLUMN)
    with np.errstate(over="ignore"):  # `_finite` rejects such scores
        standard = standardise(told, w["linear_mean"][own], w["linear_scale"][own])
        return np.asarray(standard @ w["linear"][own], dtype=np.float32)


def _by_cosine(w: Weights, cosine: Floats) -> Floats:
    """Return the part of the linear scores that the cosine (n,) makes, (n,)."""
    at = COSINE_COLUMN
    standard = standardise(cosine, w["linear_mean"][at], w["linear_scale"][at])
    return np.asarray(standard * w["linear"][at])
