"""Train the model in three steps: parts that need no labels, closed-form parts, then Adam."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from predictor.core import basis, heads, projects, scoring, wordvectors
from predictor.core.adam import Adam
from predictor.core.assembly import Batch, DistinctMemories, assemble_batches, pool_of
from predictor.core.gradients import ScoredBatch, loss_and_gradient, loss_of
from predictor.core.labels import MIN_CONFIDENCE, is_flat
from predictor.core.metrics import ndcg
from predictor.core.types import TOKEN_BUCKETS, LabelledSession
from predictor.core.weights import BASELINE_SCALE, DIMENSION, Floats, Weights

FOLDS = 3
MOST_TRIED = 120  # sessions
SHARES = (0.0, 0.25, 0.5, 1.0)


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
    is_tried : whether the trust in what is learned is measured; else it stays as it was.
    is_first : first training: means, deviations and missing word vectors are computed from the
        sessions. A later fit keeps them and starts from the learned weights.
    """
    began, began_cpu = time.perf_counter(), time.process_time()
    useful = [session for session in sessions if is_useful(session)]
    loss, steps, before = 0.0, 0, state
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
        if is_tried:
            state["trust"] = trust_of(before, useful, recipe, is_first=is_first, rng=rng)
    report = TrainingReport(
        loss=loss,
        steps=steps,
        samples_used=len(useful),
        samples_skipped=len(sessions) - len(useful),
        duration_seconds=time.perf_counter() - began,
        cpu_seconds=time.process_time() - began_cpu,
    )
    return state, report


def trust_of(
    state: Weights,
    sessions: Sequence[LabelledSession],
    recipe: Recipe,
    *,
    is_first: bool,
    rng: np.random.Generator,
) -> Floats:
    """Return τ, (1,): the share of what is learned that ranks sessions not learned from best.

    The newest sessions with the baseline's scores are divided into `FOLDS` parts; each is ranked by
    what is learned from the others, with every share of `SHARES`. Taken is the largest that is
    better than the baseline by more than a standard error, and within one of the best.
    """
    tried = [session for session in sessions if session.candidates.baseline is not None]
    tried = tried[-MOST_TRIED:]
    if len(tried) < 2 * FOLDS:
        return np.full(1, 0.0 if tried else 1.0, dtype=np.float32)
    gains = []
    for fold in range(FOLDS):
        others = [session for i, session in enumerate(tried) if i % FOLDS != fold]
        learned, _ = train_weights(
            state, others, recipe, is_first=is_first, rng=rng, progress=None, is_tried=False
        )
        learned["trust"] = np.ones(1, dtype=np.float32)
        gains += [_gains(learned, session) for session in tried[fold::FOLDS]]
    table = np.array(gains)  # (sessions, shares)
    mean, error = table.mean(axis=0), table.std(axis=0, ddof=1) / np.sqrt(len(table))
    best = int(np.argmax(mean))
    is_good = (mean > error) & (mean >= mean[best] - error[best])
    share = max((one for one, good in zip(SHARES, is_good, strict=True) if good), default=0.0)
    return np.full(1, share, dtype=np.float32)


def _gains(learned: Weights, session: LabelledSession) -> list[float]:
    """Return for every share the nDCG@10 by the labels, less the baseline's."""
    candidates = session.candidates
    assert candidates.baseline is not None  # noqa: S101  chosen by the caller
    ready = scoring.prepare_candidates(learned, candidates)
    start = BASELINE_SCALE * np.asarray(candidates.baseline)
    own = scoring.scores(learned, session.context, ready) - start
    worth = dict(enumerate(np.maximum(session.labels, 0).tolist()))
    if not max(worth.values()) > 0:
        return [0.0] * len(SHARES)
    found = [
        ndcg(np.argsort(-(start + share * own), kind="stable").tolist(), worth) for share in SHARES
    ]
    return [quality - found[0] for quality in found]


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
