"""Forward pass of the model, as functions that scoring and training share.

Candidates are scored independently: the attention of each is a sigmoid, not a softmax over all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from predictor.core.features import circle
from predictor.core.types import (
    CANDIDATE_COLUMNS,
    GAP_COLUMN,
    PROJECT_SLOTS,
    SIGNALS,
    Context,
)
from predictor.core.weights import (
    AGES_DAYS,
    DIMENSION,
    Floats,
    Weights,
)

EPSILON = 1e-5  # added to the variance, so that a zero row stays zero
SIGNAL_REACH = 2.5
STEEPNESS = 4.0  # of nearness: a cosine of 0.8 counts as much as six of 0.4
NEARNESS_UNIT = 50.0
LOG_AGE = SIGNALS.index("log_age_days")
MAX_LOG_AGE = 20.0  # e²⁰ days, above any memory's age


@dataclass(frozen=True, slots=True)
class NormalisedRows:
    """Rows (n, d) with mean 0 and variance 1, and the deviations they were divided by, (n, 1)."""

    rows: Floats
    deviation: Floats


@dataclass(frozen=True, slots=True)
class Lifted:
    """The sessions' side of the attention: `keys` (S, d) and `values` (S, v) of S sessions."""

    context: NormalisedRows
    state: Floats  # S of the equations, (S, d)
    z: Floats
    q: Floats
    keys: Floats
    values: Floats


def normalise_rows(x: Floats) -> NormalisedRows:
    """Normalise every row to mean 0 and variance 1."""
    centred = x - x.mean(axis=1, keepdims=True)
    variance = np.einsum("ij,ij->i", centred, centred) / x.shape[1]
    deviation = np.sqrt(variance + EPSILON)[:, None]
    return NormalisedRows(centred / deviation, deviation)


def mean_word_vectors(words: Floats, buckets: Sequence[NDArray[np.integer]]) -> Floats:
    """Return the mean of each text's word vectors, (n, d); zero for a text without words."""
    counts = np.array([len(each) for each in buckets], dtype=np.int64)
    out = np.zeros((len(buckets), words.shape[1]), dtype=words.dtype)
    some = np.flatnonzero(counts)
    if some.size:
        rows = words[np.concatenate([buckets[i] for i in some.tolist()])]
        starts = np.concatenate([[0], np.cumsum(counts[some])[:-1]])
        out[some] = np.add.reduceat(rows, starts, axis=0)
        out[some] /= counts[some, None].astype(words.dtype)
    return out


def times_of(contexts: Sequence[Context], weights: Weights) -> Floats:
    """Return the seven time and gap features of each session, (S, 7)."""
    rows = [
        (
            *circle(context.hour, 24),
            *circle(context.weekday, 7),
            *circle(context.month, 12),
            float(np.log1p(context.gap_hours) - weights["signal_mean"][GAP_COLUMN])
            * float(weights["signal_scale"][GAP_COLUMN]),
        )
        for context in contexts
    ]
    return np.array(rows, dtype=weights["mean"].dtype).reshape(len(contexts), 7)


def projects_of(contexts: Sequence[Context], times: Floats, weights: Weights) -> Floats:
    """Return π, (S, 32): one-hot, or the odds by time for a session that names no project."""
    out = np.zeros((len(contexts), PROJECT_SLOTS), dtype=times.dtype)
    untagged = [i for i, context in enumerate(contexts) if context.project_slot is None]
    for i, context in enumerate(contexts):
        if context.project_slot is not None:
            out[i, context.project_slot] = 1
    if untagged:
        out[untagged] = project_odds(times[untagged], weights["project_logits"])
    return out


def project_odds(times: Floats, logits: Floats) -> Floats:
    """Return P(project | time), (S, 32), by a logistic regression on the time features."""
    score = times @ logits[:-1] + logits[-1]
    odds = np.exp(score - score.max(axis=1, keepdims=True))
    return np.asarray(odds / odds.sum(axis=1, keepdims=True))


def lift(
    weights: Weights, projected: Floats, has_context: Floats, projects: Floats, times: Floats
) -> Lifted:
    """Return keys and values of S sessions, and the intermediate values of training.

    Parameters
    ----------
    projected : (S, d) projected contexts (c - μ) W_e; zero rows for sessions without an embedding.
    has_context : (S, 1) 1 or 0.
    projects, times : as `projects_of` and `times_of` return them.
    """
    context = normalise_rows(projected)
    state = projects @ weights["projects"] + times @ weights["times"]
    z = context.rows * has_context + state
    q = z @ weights["query"] + state
    scale = weights["key"].dtype.type(1 / np.sqrt(DIMENSION))
    keys = (q @ weights["key"].T) * scale
    return Lifted(context, state, z, q, keys, z @ weights["context_value"])


def signals_of(weights: Weights, signals: Floats) -> Floats:
    """Return f, (n, 7): the standardised signals of `CANDIDATE_COLUMNS`, two freshness features.

    Signals are clipped to `SIGNAL_REACH` deviations, so that values outside the training data are
    not extrapolated: otherwise a memory that is minutes old would lead every ranking of a model
    that learned to prefer memories of a few days. Freshness is exp(-age / τ), in [0, 1], for each
    τ of `AGES_DAYS`: relevance is not linear in the logarithm of the age.
    """
    standard = (signals - weights["signal_mean"]) * weights["signal_scale"]
    age_days = np.exp(np.minimum(signals[:, LOG_AGE, None], MAX_LOG_AGE))
    fresh = np.exp(-age_days / np.array(AGES_DAYS))
    cut = np.clip(standard[:, CANDIDATE_COLUMNS], -SIGNAL_REACH, SIGNAL_REACH)
    return np.concatenate([cut, fresh.astype(cut.dtype)], axis=1)


def prior_of(weights: Weights, log_effectiveness: Floats) -> Floats:
    """Return eff, (n, 2): the effectiveness, and its standardised logarithm.

    The effectiveness is the baseline's score, in (0, 1]; above 1 it grows like its logarithm. The
    logarithm is bounded below by -1: differences among old memories hardly matter, and would make
    up most of the column's deviation.
    """
    z = (log_effectiveness - weights["prior_mean"]) * weights["prior_scale"]
    return np.stack([_elu(log_effectiveness) + 1, _elu(z)], axis=1)


def nearness_of(cosine: Floats) -> Floats:
    """Return near, (n, 2): the cosine, and (e^(4 cos) - 1) / 50: 0 at 0, about 1 at 1.

    The exponential makes differences between high cosines count more than between low ones.
    """
    steep = (_powers(cosine) - 1) / NEARNESS_UNIT
    return np.stack([cosine, steep.astype(cosine.dtype)], axis=1)


def nearness_slope(cosine: Floats, similarity: Floats) -> Floats:
    """Return the derivative of β · near by the cosine, (n,)."""
    steep = STEEPNESS / NEARNESS_UNIT * _powers(cosine) * (np.abs(cosine) < 1)
    return np.asarray(similarity[0] + similarity[1] * steep)


def _powers(cosine: Floats) -> Floats:
    """Return e^(4 cos), with the cosine clipped to [-1, 1]: estimates from words may exceed it."""
    return np.asarray(np.exp(STEEPNESS * np.clip(cosine, -1, 1)))


def _elu(x: Floats) -> Floats:
    """Return eˣ - 1 for x < 0, else x: smooth, and bounded below (ELU)."""
    return np.asarray(np.where(x > 0, x, np.expm1(np.minimum(x, 0))))


def sigmoid(x: Floats) -> Floats:
    """Return 1 / (1 + e⁻ˣ), safe at any x."""
    return np.asarray(0.5 * np.tanh(0.5 * x) + 0.5)


def blend(weights: Weights, attention: Floats, value: Floats) -> Floats:
    """Return a + σ(a) w_v · m, (n,), from a (n,) and m (n, v)."""
    return np.asarray(attention + sigmoid(attention) * (value @ weights["value_head"]))
