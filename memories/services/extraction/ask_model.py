"""Ask a language model what a transcript says that is worth a memory, within the day's cap."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from pydantic import BaseModel, ConfigDict

from engram.kernel import job_queue, llm, spend
from engram.kernel.job_queue import Clock
from engram.kernel.llm import ChatMessage, ModelAnswer, ModelError, UnavailableError, Usage
from engram.kernel.models import Job, Workspace
from engram.kernel.tenancy import release_connection
from memories.core.accepted_answers import accept_answers
from memories.core.answer_prompt import Statement
from memories.core.answers import Answer
from memories.core.extraction.model_facts import Found, TranscriptText, accept_facts
from memories.core.extraction.prompt import (
    MAX_FACTS_A_CALL,
    PROMPT,
    Passage,
    Prompt,
    line,
    messages,
)
from memories.core.quoting import escape
from memories.services.extraction.write import TranscriptReading

MODEL_ATTEMPTS: Final = 3  # then rules read the transcript
OUTPUT_TOKENS: Final = 256 + 220 * MAX_FACTS_A_CALL
CAPPED: Final = "The day's budget for models is used up; rules read the transcript."
FAILED: Final = "The model gave no usable answer; rules read the transcript."
CAPPED_LATE: Final = "The day's budget for models was used up on the way; rules read the rest."
FAILED_LATE: Final = "The model gave no usable answer for a part; rules read from there on."


class AnswerShape(BaseModel):
    """A plain question that a fact answers."""

    model_config = ConfigDict(extra="forbid", strict=True)

    question: str
    answer: str
    was: str | None


class FactShape(BaseModel):
    """One fact in the model's reply."""

    model_config = ConfigDict(extra="forbid", strict=True)

    passage: int
    quote: str
    fact: str
    confidence: float
    answers: list[AnswerShape]


class TranscriptFacts(BaseModel):
    """The model's reply about the passages of one call."""

    model_config = ConfigDict(extra="forbid", strict=True)

    facts: list[FactShape]


class LaterError(Exception):
    """The job is to be done later; `until` is the earliest time, None for the usual pause.

    `is_outage`: the model cannot be reached, whatever it is asked.
    """

    def __init__(self, what: str, until: datetime | None = None, *, is_outage: bool = False):
        super().__init__(what)
        self.until = until
        self.is_outage = is_outage


class CappedError(Exception):
    """The day's cap has no room for a call."""


def is_by_model(workspace: Workspace) -> bool:
    """Return whether a language model reads the workspace's transcripts."""
    return bool(llm.model_name()) and workspace.config.extraction_by_model


def read_by_model(
    workspace: Workspace,
    job: Job,
    transcript: str,
    *,
    agent: str = "",
    clock: Clock,
    prompt: Prompt = PROMPT,
) -> TranscriptReading:
    """Return what a model finds, checked against the transcript; by rules when it cannot be asked.

    Where it can be asked no more, what it has answered counts, and rules read the rest.

    Raises
    ------
    LaterError
        When the model gave no usable answer and may be asked again.
    """
    text = TranscriptText(transcript, agent)
    batches = _batches(text.passages(), workspace.config.story_budget_tokens)
    found: list[tuple[Found, Sequence[Answer]]] = []
    model, note, read = "", "", 0
    for batch in batches:
        try:
            answer = _ask(workspace, messages(batch, prompt), now=clock())
        except CappedError:
            note = CAPPED_LATE if read else CAPPED
            break
        except ModelError as error:
            if job.attempts < MODEL_ATTEMPTS:
                raise _later(error, clock()) from None
            note = FAILED_LATE if read else FAILED
            break
        model, read = f"{answer.model} ({prompt.version})", read + 1
        found += [_found(one, batch) for one in answer.value.facts[:MAX_FACTS_A_CALL]]
        job_queue.note_progress(job, 0.1 + 0.7 * read / len(batches), now=clock())
    if note and not read:
        return _by_rules(text, note)
    unread_from = batches[read][0].start if note else None
    return _checked(text, found, unread_from, model=model, note=note)


def _later(error: ModelError, now: datetime) -> LaterError:
    seconds = getattr(error, "retry_after_seconds", None)
    until = now + timedelta(seconds=seconds) if seconds else None
    return LaterError(type(error).__name__, until, is_outage=isinstance(error, UnavailableError))


def _checked(
    text: TranscriptText,
    found: Sequence[tuple[Found, Sequence[Answer]]],
    unread_from: int | None,
    *,
    model: str,
    note: str,
) -> TranscriptReading:
    read = accept_facts(text, [one for one, _ in found], unread_from)
    given = {one.fact: answers for one, answers in found}
    answers = {
        one.start: accept_answers(given.get(one.fact.text, ()), Statement(one.fact.text), ())
        for one in read.kept
    }
    return TranscriptReading(
        text.transcript, read.kept, read.refused, read_by="model",
        model=model, note=note, answers=answers,
    )  # fmt: skip


def _by_rules(text: TranscriptText, note: str) -> TranscriptReading:
    found = text.by_rules
    return TranscriptReading(text.transcript, found.kept, found.refused, note=note)


def _batches(passages: Sequence[Passage], budget_tokens: int) -> list[list[Passage]]:
    """Return passages in runs that fit into a call, in order."""
    batches: list[list[Passage]] = []
    used = 0
    for passage in passages:
        tokens = llm.estimate_tokens(line(999, passage))
        if not batches or used + tokens > budget_tokens:
            batches.append([])
            used = 0
        batches[-1].append(passage)
        used += tokens
    return batches


def _ask(
    workspace: Workspace, prompt: Sequence[ChatMessage], *, now: datetime
) -> ModelAnswer[TranscriptFacts]:
    """Return the model's reply to a prompt; its cost is charged in any case.

    Raise `CappedError` when the day's cap has no room for the call.
    """
    model = llm.model_name(workspace.config.language_model)
    highest = llm.highest_cost_usd(prompt, OUTPUT_TOKENS, model)
    reserved = spend.reserve(workspace, highest, now=now)
    if reserved is None:
        raise CappedError
    usage, cost_usd = Usage(), reserved.usd
    try:
        release_connection()
        answer = llm.ask(
            prompt, TranscriptFacts, model=model, escape=escape, max_output_tokens=OUTPUT_TOKENS
        )
        usage, cost_usd = answer.usage, answer.cost_usd
    except ModelError as error:
        usage, cost_usd = error.usage, error.cost_usd
        raise
    finally:
        spend.settle(workspace, reserved, usage=usage, cost_usd=cost_usd)
    return answer


def _found(one: FactShape, batch: Sequence[Passage]) -> tuple[Found, Sequence[Answer]]:
    passage = batch[one.passage - 1] if 1 <= one.passage <= len(batch) else None
    fact = " ".join(one.fact.split())
    certain = min(max(one.confidence, 0.0), 1.0) if math.isfinite(one.confidence) else 0.5
    found = Found(passage, one.quote, fact, certain)
    return found, [Answer(given.question, given.answer, given.was) for given in one.answers]
