"""Figures of a judge of sessions: how well it orders, how sure it is, and what it goes by."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from pydantic import Field

from engram.console.evaluation.judge_bias import RatedSession, length_bias, position_bias
from engram.console.evaluation.lines import InputRow
from engram.console.evaluation.outcome import Figure
from memories.core.metrics import bootstrap, bootstrap_difference
from predictor.core.judging import JudgeScores
from predictor.core.labels import MIN_CONFIDENCE

RELEVANT: Final = 0.5


class NoteRow(InputRow):
    """A memory that the session was offered, with its relevance."""

    text: str = Field(min_length=1)
    relevance: float = Field(ge=0, le=1)


class SessionRow(InputRow):
    """A session with labels."""

    id: str
    transcript: str = Field(min_length=1)
    context: str = ""
    memories: list[NoteRow] = Field(min_length=1)


@dataclass(frozen=True, slots=True)
class JudgedSession:
    """A session with the judge's scores and two plain cosines, in the order of its memories.

    `first` are the scores of one order alone, `contradicted` the memories that the transcript
    contradicts, by number.
    """

    row: SessionRow
    scores: JudgeScores
    first: Sequence[float | None]
    rated: RatedSession
    to_context: Sequence[float]
    to_pieces: Sequence[float]
    contradicted: Sequence[int] = ()

    def auc(self, scores: Sequence[float | None]) -> float | None:
        """Return how often scores order a relevant memory and one of relevance 0 right."""
        pairs = [
            (score, note.relevance)
            for score, note in zip(scores, self.row.memories, strict=True)
            if score is not None
        ]
        above = np.array([score for score, relevance in pairs if relevance >= RELEVANT])
        below = np.array([score for score, relevance in pairs if relevance == 0])
        if not above.size or not below.size:
            return None
        wins = above[:, None] > below
        return float((wins + 0.5 * (above[:, None] == below)).mean())


def figures_of(judged: Sequence[JudgedSession], seed: int) -> dict[str, Figure]:
    """Return the figures that later runs are compared with."""
    rng = np.random.default_rng(seed)
    errors = [
        abs(said - note.relevance)
        for one in judged
        for said, note in zip(one.scores.relevance, one.row.memories, strict=True)
        if said is not None
    ]
    figures = {}
    own = {
        one.row.id: value for one in judged if (value := one.auc(one.scores.relevance)) is not None
    }
    if own:
        # Of the sessions that have pairs: where a model is unsure of a memory there may be none.
        paired = [one for one in judged if one.row.id in own]
        cosines = max(_cosines(paired).values(), key=lambda values: float(np.mean(values)))
        told = list(own.values())
        figures["auc"] = Figure(bootstrap(told, rng=rng))
        figures["over_cosine"] = Figure(bootstrap_difference(told, cosines, rng=rng))
    if errors:
        figures["error"] = Figure(bootstrap(errors, rng=rng), is_lower_better=True)
    sure = [float(one.scores.confidence >= MIN_CONFIDENCE) for one in judged]
    return figures | {"sure": Figure(bootstrap(sure, rng=rng))}


def _aucs(
    judged: Sequence[JudgedSession], scores: Callable[[JudgedSession], Sequence[float | None]]
) -> list[float]:
    found = (one.auc(scores(one)) for one in judged)
    return [value for value in found if value is not None]


def _cosines(judged: Sequence[JudgedSession]) -> dict[str, list[float]]:
    return {
        "cosine to the context": _aucs(judged, lambda one: one.to_context),
        "largest cosine to the transcript": _aucs(judged, lambda one: one.to_pieces),
    }


def of_model(judged: Sequence[JudgedSession]) -> dict[str, Any]:
    """Return what two orders change: the AUC of one alone, and the share that is then unknown."""
    said = [value is None for one in judged for value in one.scores.relevance]
    alone = _aucs(judged, lambda one: one.first)
    return {
        "unsure of the memories": round(float(np.mean(said)), 3),
        **({"auc of one order alone": round(float(np.mean(alone)), 3)} if alone else {}),
    }


def details_of(judged: Sequence[JudgedSession], seed: int) -> dict[str, Any]:
    """Return counts, the AUC of others and of parts, and what the ratings go by."""
    is_sure = [one for one in judged if one.scores.confidence >= MIN_CONFIDENCE]
    unsure = [one for one in judged if one.scores.confidence < MIN_CONFIDENCE]
    found = {
        **_cosines(judged),
        "judge where it is sure": _aucs(is_sure, lambda one: one.scores.relevance),
        "judge where it is not": _aucs(unsure, lambda one: one.scores.relevance),
    }
    return {
        "sessions": len(judged),
        "memories": sum(len(one.row.memories) for one in judged),
        **{f"auc of {name}": round(float(np.mean(own)), 3) for name, own in found.items() if own},
        "orders": len(judged[0].rated.places),
        **position_bias([one.rated for one in judged], np.random.default_rng(seed)),
        **length_bias([one.rated for one in judged], np.random.default_rng(seed)),
    }
