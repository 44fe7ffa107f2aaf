"""The learned ranker: scores from a session's context, learning from judged sessions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from predictor.core import basis, checkpoint, forward, weights, wordvectors
from predictor.core.checkpoint import CheckpointError
from predictor.core.checks import ScoreError, check_candidates, check_context, check_session
from predictor.core.features import WidthError
from predictor.core.recipe import Recipe, TrainingReport, learned
from predictor.core.types import TOKEN_BUCKETS, Candidates, Context, LabelledSession
from predictor.core.weights import DIMENSION, Floats, Weights

__all__ = [
    "CheckpointError",
    "Prepared",
    "Recipe",
    "ScoreError",
    "Scorer",
    "TrainingReport",
    "WidthError",
]


@dataclass(frozen=True, slots=True)
class Prepared:
    """What scoring needs of n candidates, whatever the session; good for one set of weights."""

    weights: Weights
    hidden: Floats  # h, (n, 64)
    values: Floats  # h W_v, (n, 32)
    embeddings: Floats  # (n, native), rows of text-only candidates zero
    text_at: NDArray[np.intp]  # which candidates are text only
    text: Floats  # their pooled words, (text only, 64)
    fixed: Floats  # w_f · f + ρ z(log eff), (n,)

    def __len__(self) -> int:
        return len(self.fixed)


class Scorer:
    """A model for embeddings of one width. Its weights are replaced, never changed in place."""

    def __init__(self, state: Weights, *, flags: int = 0, recipe: Recipe | None = None) -> None:
        self._weights = state
        self.flags = flags
        self.recipe = recipe or Recipe()

    @classmethod
    def initial(
        cls,
        config: Recipe | None,
        embeddings: Floats,
        *,
        rng: np.random.Generator,
        texts: Sequence[NDArray[np.integer]] | None = None,
    ) -> Self:
        """Return a model that has learned nothing: it ranks by cosine and log effectiveness.

        Parameters
        ----------
        config : how it will learn; None for the defaults.
        embeddings : (n, native) of the memories known so far, for their mean and principal
            directions; n may be 0.
        texts : their n token buckets, from which words get vectors without labels.

        Raises
        ------
        WidthError, ScoreError
            When embeddings are no (n, native) or not finite, or texts are not n.
        """
        embeddings = np.array(embeddings, dtype=np.float32)
        if embeddings.ndim != 2 or not 1 <= embeddings.shape[1] <= checkpoint.MAX_NATIVE:
            raise WidthError(f"embeddings of shape {embeddings.shape}")
        if texts is not None and len(texts) != len(embeddings):
            raise WidthError(f"{len(texts)} texts of {len(embeddings)} embeddings")
        if not np.isfinite(embeddings).all():
            raise ScoreError("an embedding is not finite")
        native = int(embeddings.shape[1])
        mean = basis.mean_of(embeddings)
        projection = np.zeros((native, DIMENSION), dtype=np.float32)
        found = basis.directions(embeddings - mean, DIMENSION, rng=rng)
        projection[:, : found.shape[1]] = found
        state = weights.initial(native, mean=mean, projection=projection, rng=rng)
        if texts is not None:
            state["words"] = wordvectors.word_vectors(
                texts, (embeddings - mean) @ projection, size=TOKEN_BUCKETS
            )
        return cls(state, recipe=config)

    @property
    def embedding_width(self) -> int:
        """Width of the embeddings that it reads."""
        return len(self._weights["mean"])

    @property
    def parameter_count(self) -> int:
        """How many numbers it is made of."""
        return weights.count(self.embedding_width)

    @property
    def is_trained(self) -> bool:
        """Whether it has learned from any session, here or elsewhere."""
        return self.flags != 0

    def copy(self) -> Self:
        """Return another scorer with the same weights; learning changes one of the two."""
        return type(self)(self._weights, flags=self.flags, recipe=self.recipe)

    def cached(self, candidates: Candidates) -> Prepared:
        """Return what can be known of the candidates before the session is.

        Raises
        ------
        WidthError, ScoreError
            When the candidates have other widths, or numbers that are not finite.
        """
        check_candidates(candidates, self.embedding_width)
        w = self._weights
        text_at = np.flatnonzero(~candidates.is_embedded)
        embeddings: Floats = np.asarray(candidates.embeddings, dtype=np.float32)
        if text_at.size:
            embeddings = np.where(candidates.is_embedded[:, None], embeddings, np.float32(0))
        x = (embeddings - w["mean"]) @ w["projection"]
        text = forward.pooled(w["words"], [candidates.token_buckets[i] for i in text_at.tolist()])
        x[text_at] = text
        rows = forward.normed(x).rows
        hidden = rows * w["scale_embedded"] + w["shift_embedded"]
        if text_at.size:
            hidden[text_at] = rows[text_at] * w["scale_text"] + w["shift_text"]
        return Prepared(
            weights=w,
            hidden=hidden,
            values=hidden @ w["value"],
            embeddings=embeddings,
            text_at=text_at,
            text=text,
            fixed=self._fixed(candidates.signals, candidates.log_effectiveness),
        )

    def refreshed(self, prepared: Prepared, signals: Floats, log_effectiveness: Floats) -> Prepared:
        """Return ``prepared`` with the candidates' signals (n, 12) and effectiveness of today."""
        n = len(prepared)
        if signals.shape != (n, 12) or log_effectiveness.shape != (n,):
            raise WidthError(f"signals of shape {signals.shape} for {n} candidates")
        if not (np.isfinite(signals).all() and np.isfinite(log_effectiveness).all()):
            raise ScoreError("signals are not finite")
        return replace(prepared, fixed=self._fixed(signals, log_effectiveness))

    def score(self, context: Context, candidates: Candidates | Prepared) -> NDArray[np.float32]:
        """Return the candidates' scores, (n,); each is independent of the other candidates.

        Raises
        ------
        WidthError
            When context or candidates have other widths than the model, or were prepared by
            another one.
        ScoreError
            When something is not finite: an input, or a score.
        """
        check_context(context, self.embedding_width)
        ready = candidates if isinstance(candidates, Prepared) else self.cached(candidates)
        w = self._weights
        if ready.weights is not w:
            raise WidthError("the candidates were prepared by other weights")
        times = forward.times_of([context], w)
        projects = forward.projects_of([context], times, w)
        has_context = np.full((1, 1), context.embedding is not None, dtype=np.float32)
        projected: Floats = np.zeros((1, DIMENSION), dtype=np.float32)
        scores: Floats = ready.fixed
        if context.embedding is not None:
            embedding = np.asarray(context.embedding, dtype=np.float32)
            projected = (embedding - w["mean"])[None] @ w["projection"]
            cosine = ready.embeddings @ embedding
            cosine[ready.text_at] = ready.text @ projected[0] + w["mean"] @ embedding
            scores = scores + w["similarity"] * cosine
        asked = forward.lift(w, projected, has_context, projects, times)
        value = np.tanh(ready.values + asked.values)
        scores = scores + forward.blend(w, ready.hidden @ asked.keys[0], value)
        if not np.isfinite(scores).all():
            raise ScoreError("a score is not finite")
        return np.asarray(scores, dtype=np.float32)

    def fit(
        self,
        sessions: Sequence[LabelledSession],
        *,
        rng: np.random.Generator,
        epochs: int | None = None,
        progress: Callable[[float], object] | None = None,
    ) -> TrainingReport:
        """Learn from judged sessions; the same weights, sessions and seed give the same bytes.

        Flat sessions and those of low confidence are skipped. Weights stay as they are when
        something raises.

        Parameters
        ----------
        epochs : passes over the sessions; None for the recipe's.
        progress : told the finished share in [0, 1], now and then.

        Raises
        ------
        WidthError, ScoreError
            When a session cannot be read, or when what was learned is not finite.
        """
        for session in sessions:
            check_session(session, self.embedding_width)
        recipe = self.recipe if epochs is None else replace(self.recipe, epochs=epochs)
        state, report = learned(
            self._weights,
            sessions,
            recipe,
            is_first=not self.is_trained,
            rng=rng,
            progress=progress,
        )
        if not all(np.isfinite(array).all() for array in state.values()):
            raise ScoreError("what was learned is not finite")
        if report.samples_used:
            self._weights = state
            self.flags |= checkpoint.FINE_TUNED
        return report

    def to_bytes(self) -> bytes:
        """Return the checkpoint."""
        return checkpoint.write(self._weights, self.flags)

    @classmethod
    def from_bytes(cls, raw: bytes) -> Self:
        """Return the model of a checkpoint.

        Raises
        ------
        CheckpointError
            When the bytes are no checkpoint of this model.
        """
        state, flags = checkpoint.read(raw)
        return cls(state, flags=flags)

    def as_base(self) -> Self:
        """Return a copy marked as base weights, learned elsewhere."""
        return type(self)(self._weights, flags=checkpoint.PRETRAINED, recipe=self.recipe)

    def _fixed(self, signals: Floats, log_effectiveness: Floats) -> Floats:
        w = self._weights
        standard = (signals - w["signal_mean"]) * w["signal_scale"]
        prior = forward.prior_of(w, log_effectiveness)
        fixed = standard @ w["signal_head"] + w["prior"] * prior
        with np.errstate(over="ignore"):  # a score that is not finite is refused
            return np.asarray(fixed, dtype=np.float32)
