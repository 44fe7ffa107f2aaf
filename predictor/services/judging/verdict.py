"""The verdict of a judge on one session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from engram.kernel.llm import Usage
from predictor.core.judging import JudgeScores
from predictor.models import JudgeKind


@dataclass(frozen=True, slots=True)
class JudgeVerdict:
    """A judge's scores of the memories `ids`, in the order of the prompt, and the judge's kind.

    `note` is why this judge was used instead of the usual one; `chances` with which probability a
    memory was chosen to be judged, 1 where it is not named.
    """

    scores: JudgeScores
    ids: Sequence[UUID]
    kind: JudgeKind
    version: str
    model: str = ""
    note: str = ""
    usage: Usage = field(default_factory=Usage)
    cost_usd: float = 0.0
    chances: Mapping[UUID, float] = field(default_factory=dict)

    @property
    def relevance(self) -> dict[UUID, float]:
        """Return the relevance by memory."""
        return dict(zip(self.ids, self.scores.relevance, strict=True))
