"""The shape of a language model's answer about a session, checked by pydantic."""

from __future__ import annotations

from typing import Self

from pydantic import BaseModel, ConfigDict, model_validator

from memories.core.quoting import legible
from predictor.core.judging import MAX_NOVEL, JudgeScores, explain_mismatch


class NoteShape(BaseModel):
    """One note's relevance in the model's answer."""

    model_config = ConfigDict(extra="forbid", strict=True)

    note: int
    relevance: float


class VerdictShape(BaseModel):
    """The model's answer about one session."""

    model_config = ConfigDict(extra="forbid", strict=True)

    reasoning: str  # first, as a model writes in this order
    relevance: list[NoteShape]
    overall: float
    confidence: float
    missing_topics: list[str]
    novel_context_count: int

    def verdict(self) -> JudgeScores:
        """Return the scores, relevance in the order of the notes' numbers."""
        ordered = sorted(self.relevance, key=lambda one: one.note)
        return JudgeScores(
            overall=self.overall,
            confidence=self.confidence,
            relevance=tuple(one.relevance for one in ordered),
            missing_topics=tuple(legible(topic) for topic in self.missing_topics),
            novel_context_count=self.novel_context_count,
            reasoning=legible(self.reasoning),
        )


def shape_for(notes: int) -> type[VerdictShape]:
    """Return the model of an answer about so many notes: each named once, values in [0, 1]."""

    class Judged(VerdictShape):
        @model_validator(mode="after")
        def _fits(self) -> Self:
            notes_named = [one.note for one in self.relevance]
            wrong = explain_mismatch(notes_named, [one.relevance for one in self.relevance], notes)
            if not 0 <= self.overall <= 1 or not 0 <= self.confidence <= 1:
                wrong = wrong or "overall and confidence lie between 0 and 1"
            if not 0 <= self.novel_context_count <= MAX_NOVEL:
                wrong = wrong or f"novel_context_count lies between 0 and {MAX_NOVEL}"
            if wrong:
                raise ValueError(wrong)
            return self

    return Judged
