"""The learned ranker: scores candidates for a session's context, trained on judged sessions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from predictor.core import basis, checkpoint, scoring, weights, wordvectors
from predictor.core.checkpoint import CheckpointError
from predictor.core.checks import ScoreError, check_context, check_session
from predictor.core.features import WidthError
from predictor.core.recipe import Recipe, TrainingReport, train_weights
from predictor.core.scoring import PreparedCandidates
from predictor.core.types import TOKEN_BUCKETS, Candidates, Context, LabelledSession
from predictor.core.weights import DIMENSION, Floats, Weights

__all__ = [
    "CheckpointError",
    "PreparedCandidates",
    "Recipe",
    "ScoreError",
    "Scorer",
    "TrainingReport",
    "WidthError",
]


class Scorer:
    """A model for embeddings of one width; its weights are replaced, never changed in place."""

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
        """Return an untrained model, which ranks as the baseline does.

        Without the baseline's scores it ranks by nearness and effectiveness.

        Parameters
        ----------
        config : the training constants; None for the defaults.
        embeddings : (n, native) of the memories known so far, for their mean and principal
            directions; n may be 0.
        texts : their n token buckets, from which word vectors are fitted without labels.

        Raises
        ------
        WidthError, ScoreError
            When embeddings do not have the shape (n, native) or are not finite, or texts are not n.
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
        found = basis.principal_directions(embeddings - mean, DIMENSION, rng=rng)
        projection[:, : found.shape[1]] = found
        state = weights.initial(native, mean=mean, projection=projection, rng=rng)
        if texts is not None:
            state["words"] = wordvectors.word_vectors(
                texts, (embeddings - mean) @ projection, size=TOKEN_BUCKETS
            )
        return cls(state, recipe=config)

    @property
    def embedding_width(self) -> int:
        """Return the width of the embeddings that the model reads."""
        return len(self._weights["mean"])

    @property
    def parameter_count(self) -> int:
        """Return the number of parameters."""
        return weights.count(self.embedding_width)

    @property
    def is_trained(self) -> bool:
        """Return whether the model was trained, in this workspace or elsewhere."""
        return self.flags != 0

    def copy(self) -> Self:
        """Return another scorer with the same weights; training one does not change the other."""
        return type(self)(self._weights, flags=self.flags, recipe=self.recipe)

    def prepare(self, candidates: Candidates) -> PreparedCandidates:
        """Return the part of scoring that does not depend on the session.

        Raises
        ------
        WidthError, ScoreError
            When the candidates have other widths, or numbers that are not finite.
        """
        return scoring.prepare_candidates(self._weights, candidates)

    def score(
        self, context: Context, candidates: Candidates | PreparedCandidates
    ) -> NDArray[np.float32]:
        """Return the candidates' scores, (n,); each is independent of the other candidates.

        With `Candidates.baseline` an untrained model orders them as the baseline does. A trained
        one adds what it has learned, as far as that held in sessions it had not learned from.

        Raises
        ------
        WidthError
            When context or candidates have other widths than the model, or were prepared by
            another one.
        ScoreError
            When an input or a score is not finite.
        """
        check_context(context, self.embedding_width)
        ready = (
            candidates if isinstance(candidates, PreparedCandidates) else self.prepare(candidates)
        )
        untrained = None if self.is_trained else scoring.untrained_scores(ready)
        return scoring.scores(self._weights, context, ready) if untrained is None else untrained

    def linear_scores(
        self, context: Context, candidates: PreparedCandidates
    ) -> NDArray[np.float32] | None:
        """Return the scores by the linear ranking alone, (n,); None where none was learned.

        For comparison: the model's own scores hold a share of it. Raises as `score` does.
        """
        check_context(context, self.embedding_width)
        if not self._weights["linear"].any():
            return None
        return scoring.linear_scores(self._weights, context, candidates)

    def fit(
        self,
        sessions: Sequence[LabelledSession],
        *,
        rng: np.random.Generator,
        epochs: int | None = None,
        progress: Callable[[float], object] | None = None,
    ) -> TrainingReport:
        """Train on judged sessions; the same weights, sessions and seed give the same bytes.

        Flat sessions and those of low confidence are skipped. Weights are unchanged when an error
        is raised.

        Parameters
        ----------
        epochs : passes over the sessions; None for the recipe's.
        progress : called with the finished share in [0, 1] after each epoch.

        Raises
        ------
        WidthError, ScoreError
            When a session cannot be read, or when a trained weight is not finite.
        """
        for session in sessions:
            check_session(session, self.embedding_width)
        recipe = self.recipe if epochs is None else replace(self.recipe, epochs=epochs)
        state, report = train_weights(
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
        """Return the weights as checkpoint bytes."""
        return checkpoint.write(self._weights, self.flags)

    @classmethod
    def from_bytes(cls, raw: bytes) -> Self:
        """Return the model stored in checkpoint bytes.

        Raises
        ------
        CheckpointError
            When the bytes are not a checkpoint of this model.
        """
        state, flags = checkpoint.read(raw)
        return cls(state, flags=flags)

    def as_base(self) -> Self:
        """Return a copy marked as base weights, trained elsewhere."""
        return type(self)(self._weights, flags=checkpoint.PRETRAINED, recipe=self.recipe)
