"""Ask a language model to judge a session, within the workspace's daily spend cap."""

from __future__ import annotations

from datetime import datetime
from typing import Self

from pydantic import BaseModel, ConfigDict, model_validator

from engram.kernel import llm, spend
from engram.kernel.llm import ModelError, Usage
from engram.kernel.models import Workspace
from memories.core.quoting import escape, legible
from predictor.core.judging import (
    MAX_NOVEL,
    PROMPT_VERSION,
    JudgeScores,
    build_messages,
    explain_mismatch,
)
from predictor.models import JudgeKind
from predictor.services.judging.pool import JudgingPool
from predictor.services.judging.verdict import JudgeVerdict

BASE_OUTPUT_TOKENS = 1024
OUTPUT_TOKENS_A_NOTE = 24


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


class CappedError(Exception):
    """Raised when the daily spend cap leaves no room for the question."""


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


def ask_judge(workspace: Workspace, pool: JudgingPool, *, now: datetime) -> JudgeVerdict:
    """Return the model's verdict; no connection and no lock is held during the call.

    Raises
    ------
    CappedError
        Before the model is called, when the cap leaves no room.
    ModelError
        When there is no usable answer; its cost is charged all the same.
    """
    pool = pool.for_model()
    messages = build_messages(pool.contents, pool.session.transcript)
    most = BASE_OUTPUT_TOKENS + OUTPUT_TOKENS_A_NOTE * len(pool.ids)
    reserved = spend.reserve(workspace, llm.highest_cost_usd(messages, most), now=now)
    if reserved is None:
        raise CappedError
    usage, cost_usd = Usage(), reserved.usd
    try:
        answer = llm.ask(messages, shape_for(len(pool.ids)), escape=escape, max_output_tokens=most)
        usage, cost_usd = answer.usage, answer.cost_usd
    except ModelError as error:
        usage, cost_usd = error.usage, llm.cost_usd(error.usage, llm.model_name())
        raise
    finally:
        spend.settle(workspace, reserved, usage=usage, cost_usd=cost_usd)
    return JudgeVerdict(
        scores=answer.value.verdict(),
        ids=pool.ids,
        kind=JudgeKind.MODEL,
        version=PROMPT_VERSION,
        model=answer.model,
        usage=usage,
        cost_usd=cost_usd,
        chances=pool.chances,
    )
