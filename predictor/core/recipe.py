"""Train the model: parts that need no labels, closed-form parts, Adam, then how far to trust it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from predictor.core import basis, heads, projects, wordvectors
from predictor.core.adam import Adam
from predictor.core.assembly import Batch, DistinctMemories, assemble_batches, pool_of
from predictor.core.gradients import ScoredBatch, loss_and_gradient, loss_of
from predictor.core.labels import MIN_CONFIDENCE, is_flat
from predictor.core.linear import fit_linear
from predictor.core.shares import choose_shares
from predictor.core.types import TOKEN_BUCKETS, LabelledSession
from predictor.core.weights import DIMENSION, Floats, Weights


@dataclass(frozen=True, slots=True)
class Recipe:
    """The constants of training; their effects are measured in `benchmarks/`."""

    epochs: int = 25
    batch: int = 32  # sessions a step
    rate: float = 2e-3
    decay: float = 30.0  # weight decay towards the closed forms, times the rate, with many sessions
    caution: float = 500.0  # the decay is multiplied by (1 + caution / number of sessions)
    temperature: float = 0.5
    head_penalty: float = 10.0
    project_penalties: tuple[float, ...] = projects.PENALTIES


@dataclass(frozen=True, slots=True)
class TrainingReport:
    """Result of a fit: the mean loss per session in the last epoch, and the time it took."""

    loss: float
    steps: int
    samples_used: int
    samples_skipped: int
    duration_seconds: float
    cpu_seconds: float


def is_useful(session: LabelledSession) -> bool:
    """Return whether the labels differ and the judge was confident enough to learn from them."""
    return session.confidence >= MIN_CONFIDENCE and not is_flat(session.labels.tolist())


def train_weights(
    state: Weights,
    sessions: Sequence[LabelledSession],
    recipe: Recipe,
    *,
    is_first: bool,
    rng: np.random.Generator,
    progress: Callable[[float], object] | None,
    is_tried: bool = True,
) -> tuple[Weights, TrainingReport]:
    """Return the trained weights and a report; ``state`` itself is not changed.

    Parameters
    ----------
    is_tried : whether the shares of `predictor.core.shares` are measured; else they stay as they
        were.
    is_first : first training: means, deviations and missing word vectors are computed from the
        sessions. A later fit keeps them and starts from the learned weights.
    """
    began, began_cpu = time.perf_counter(), time.process_time()
    before = state

    def learn(some: Sequence[LabelledSession]) -> Weights:
        return train_weights(
            before, some, recipe, is_first=is_first, rng=rng, progress=None, is_tried=False
        )[0]

    useful = [session for session in sessions if is_useful(session)]
    loss, steps = 0.0, 0
    if useful:
        pool = pool_of(useful)
        if is_first:
            state = _fit_unlabelled(state, useful, pool, rng=rng)
        directions = _directions(state, pool, rng=rng)
        order = rng.permutation(len(useful))
        batches = assemble_batches(
            state, useful, pool, directions, size=recipe.batch, order=order.tolist()
        )
        state = heads.fit_head(state, batches, penalty=recipe.head_penalty, is_first=is_first)
        state = projects.fit_projects(state, batches, penalties=recipe.project_penalties)
        state, loss, steps = _descend(
            state, batches, directions, recipe, rng=rng, progress=progress
        )
        state |= _fit_linear(useful)
        if is_tried:
            found = choose_shares(useful, learn)
            state["linear_share"] = np.full(1, found.linear, dtype=np.float32)
            state["trust"] = np.full(1, found.trust, dtype=np.float32)
    report = TrainingReport(
        loss=loss,
        steps=steps,
        samples_used=len(useful),
        samples_skipped=len(sessions) - len(useful),
        duration_seconds=time.perf_counter() - began,
        cpu_seconds=time.process_time() - began_cpu,
    )
    return state, report


def _fit_linear(useful: Sequence[LabelledSession]) -> Weights:
    """Return the linear ranking of the sessions as weights."""
    found = fit_linear(useful)
    return {
        "linear_mean": found.mean.astype(np.float32),
        "linear_scale": found.scale.astype(np.float32),
        "linear": found.slopes.astype(np.float32),
    }


def _descend(
    state: Weights,
    batches: list[Batch],
    directions: Floats,
    recipe: Recipe,
    *,
    rng: np.random.Generator,
    progress: Callable[[float], object] | None,
) -> tuple[Weights, float, int]:
    start = state | {"turn": np.zeros((directions.shape[1], DIMENSION), dtype=np.float32)}
    sessions = sum(len(batch.starts) for batch in batches)
    decay = recipe.decay * (1 + recipe.caution / sessions)
    adam = Adam(start, rate=recipe.rate, decay=decay, steps=recipe.epochs * len(batches))
    current = start | adam.weights
    for epoch in range(recipe.epochs):
        for number in rng.permutation(len(batches)):
            _, gradient = loss_and_gradient(current, batches[number], recipe.temperature)
            adam.step(gradient)
        if progress is not None:
            progress((epoch + 1) / recipe.epochs)
    total = sum(
        loss_of(ScoredBatch(current, batch).scores, batch, recipe.temperature)[0]
        * len(batch.starts)
        for batch in batches
    )
    after = {name: np.array(current[name]) for name in state}
    after["scale_text"] = np.clip(after["scale_text"], *heads.TEXT_SCALES)
    after["projection"] = state["projection"] + directions @ current["turn"]
    return after, total / sessions, recipe.epochs * len(batches)


def _fit_unlabelled(
    state: Weights,
    sessions: Sequence[LabelledSession],
    pool: DistinctMemories,
    *,
    rng: np.random.Generator,
) -> Weights:
    """Compute the parts of the weights that need no labels from the sessions' memories."""
    state = dict(state)
    embedded = pool.embeddings[~pool.is_text]
    if not state["mean"].any() and len(embedded):
        state["mean"] = basis.mean_of(embedded)
        found = basis.principal_directions(embedded - state["mean"], DIMENSION, rng=rng)
        state["projection"] = np.zeros_like(state["projection"])
        state["projection"][:, : found.shape[1]] = found
    if not state["words"].any():
        words = [pool.words[i] for i in np.flatnonzero(~pool.is_text)]
        targets = (embedded - state["mean"]) @ state["projection"]
        state["words"] = wordvectors.word_vectors(words, targets, size=TOKEN_BUCKETS)
    signals = np.concatenate([session.candidates.signals for session in sessions])
    prior = np.concatenate([session.candidates.log_effectiveness for session in sessions])
    state["signal_mean"], state["signal_scale"] = basis.means_and_scales(signals)
    state["prior_mean"], state["prior_scale"] = basis.means_and_scales(prior[:, None])
    state["project_logits"] = heads.fit_project_logits(sessions, state)
    return state


def _directions(state: Weights, pool: DistinctMemories, *, rng: np.random.Generator) -> Floats:
    embedded = pool.embeddings[~pool.is_text]
    return basis.principal_directions(embedded - state["mean"], basis.DIRECTIONS, rng=rng)
