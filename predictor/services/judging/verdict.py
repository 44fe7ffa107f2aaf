"""The verdict of a judge on one session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any
from uuid import UUID

from engram.kernel.llm import Usage
from predictor.core.judging import JudgeScores
from predictor.models import JudgeKind


@dataclass(frozen=True, slots=True)
class Reading:
    """One question to a model: its ratings in the order of the verdict's ids, and what it cost.

    `relevance` is None when there was no usable answer.
    """

    relevance: tuple[float | None, ...] | None
    confidence: float | None
    usage: Usage
    cost_usd: float


@dataclass(frozen=True, slots=True)
class Orders:
    """The readings of the memories in one or two orders.

    `left_out` is why there is no second one where there should be, or "". After
    `retry_after_seconds` the endpoint wants to be asked again.
    """

    readings: tuple[Reading, ...]
    left_out: str = ""
    retry_after_seconds: float = 0.0

    @property
    def as_json(self) -> dict[str, Any]:
        """Return what is stored with the judgement: figures, no words of the judge."""
        calls = [
            {"relevance": one.relevance, "confidence": one.confidence, "cost_usd": one.cost_usd}
            | asdict(one.usage)
            for one in self.readings
        ]
        read = sum(one.relevance is not None for one in self.readings)
        return {"read": read, "left_out": self.left_out, "calls": calls}


@dataclass(frozen=True, slots=True)
class JudgeVerdict:
    """A judge's scores of the memories `ids`, in the order of the prompt, and the judge's kind.

    `note` is why this judge was used instead of the usual one; `chances` with which probability a
    memory was chosen to be judged, 1 where it is not named; `orders` of a model what it said to the
    memories in each order; `contradicted` where in the transcript memories are contradicted.
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
    orders: Orders | None = None
    contradicted: Mapping[UUID, tuple[int, int]] = field(default_factory=dict)

    @property
    def relevance(self) -> dict[UUID, float]:
        """Return the relevance by memory, without those that the judge is unsure of.

        What the transcript contradicts is evidence against a memory, and no sign of its use.
        """
        pairs = zip(self.ids, self.scores.relevance, strict=True)
        return {i: value for i, value in pairs if value is not None and i not in self.contradicted}
