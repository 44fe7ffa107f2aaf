"""Ask a language model about batches of facts in parallel, within the daily spend cap."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from datetime import datetime
from time import monotonic
from typing import Literal, Self

from django.conf import settings
from pydantic import BaseModel, ConfigDict, model_validator

from conflicts.core.facts import Fact, Finding
from conflicts.core.model_prompt import MAX_FINDINGS, Reading, messages
from conflicts.core.narrative import Reported, accept_finding
from engram.kernel import llm, spend
from engram.kernel.lease import Renewal
from engram.kernel.llm import (
    ChatMessage,
    ModelAnswer,
    ModelError,
    RejectedError,
    UnavailableError,
    Usage,
)
from engram.kernel.models import Workspace
from engram.kernel.tenancy import release_connection
from memories.core.quoting import escape

MAX_OUTPUT_TOKENS = 4096
CALLS_AT_ONCE = 4
BEAT_SECONDS = 5.0
# A call is abandoned this long after the total time limit of its questions.
GRACE_SECONDS = 10.0


class ReportedShape(BaseModel):
    """One matter in the model's answer; the reasoning is written before the verdict (`kind`)."""

    model_config = ConfigDict(extra="forbid", strict=True)

    facts: list[int]
    reasoning: str
    kind: Literal["reversal", "ambiguity", "stale", "settled"]
    yes: list[int]
    question: str
    severity: Literal["low", "medium", "high"]


class NarrativeReading(BaseModel):
    """The model's answer about one batch."""

    model_config = ConfigDict(extra="forbid", strict=True)

    findings: list[ReportedShape]


def reading_of(lines: int) -> type[NarrativeReading]:
    """Return the model of an answer about so many lines: it must name at least one of them.

    An answer that names only other lines is invalid; the model is asked once more.
    """

    class ReadingOfLines(NarrativeReading):
        @model_validator(mode="after")
        def _is_about_the_lines(self) -> Self:
            named = [number for one in self.findings for number in one.facts]
            if self.findings and not any(1 <= number <= lines for number in named):
                raise ValueError(f"facts are numbers of the lines given, from 1 to {lines}")
            return self

    return ReadingOfLines


@dataclass(slots=True)
class ModelRun:
    """Result of asking about all batches."""

    findings: list[Finding] = field(default_factory=list)
    dropped: int = 0
    usage: Usage = field(default_factory=Usage)
    cost_usd: float = 0.0
    errors: list[ModelError] = field(default_factory=list)
    unsent: int = 0  # after an outage
    read: set[int] = field(default_factory=set)  # the batches that the model has answered about


class BeyondCapError(Exception):
    """Raised when the highest cost exceeds a whole day's cap."""

    def __init__(self, highest_usd: float, cap_usd: float):
        super().__init__(
            f"This reading is reserved at ${highest_usd:.4f}, more than the day's cap of "
            f"${cap_usd:.4f}: it cannot run until narrative_daily_usd is higher or "
            "story_budget_tokens lower."
        )


def ask_model(
    workspace: Workspace,
    readings: Sequence[Reading],
    *,
    renew: Renewal,
    charge: Callable[[Usage, float], None],
    now: datetime,
) -> ModelRun | None:
    """Ask about every reading; None when the daily cap has no room for all of them.

    No connection, lock or transaction is held during the calls; `renew` is called every few
    seconds. `charge` is called with the reserved cost first, and with the actual cost at the end,
    also after an error.

    Raises
    ------
    BeyondCapError
        When the highest cost exceeds a whole day's cap.
    """
    prompts = [messages(reading) for reading in readings]
    model = llm.model_name(workspace.config.language_model)
    highest = [llm.highest_cost_usd(one, MAX_OUTPUT_TOKENS, model) for one in prompts]
    cap = workspace.config.narrative_daily_usd
    if sum(highest) > cap:
        raise BeyondCapError(sum(highest), cap)
    reserved = spend.reserve(workspace, sum(highest), now=now)
    if reserved is None:
        return None
    run = ModelRun()
    sent: set[int] = set()
    answered: set[int] = set()
    try:
        charge(Usage(), reserved.usd)
        shapes = [reading_of(len(reading.facts)) for reading in readings]
        for i, answer in _answers(model, prompts, shapes, sent, renew=renew):
            answered.add(i)
            if not isinstance(answer, UnavailableError | RejectedError):
                run.read.add(i)
            _add_answer(run, readings[i].facts, answer)
        if lost := sent - answered:
            run.errors.append(UnavailableError(f"{len(lost)} calls did not come back"))
        run.unsent = len(prompts) - len(sent)
    finally:
        # An abandoned call may be charged all the same.
        run.cost_usd += sum(highest[i] for i in sent - answered)
        spend.settle(workspace, reserved, usage=run.usage, cost_usd=run.cost_usd)
        charge(run.usage, run.cost_usd)
    return run


def _answers(
    model: str,
    prompts: Sequence[Sequence[ChatMessage]],
    shapes: Sequence[type[NarrativeReading]],
    sent: set[int],
    *,
    renew: Renewal,
) -> Iterator[tuple[int, ModelAnswer[NarrativeReading] | ModelError]]:
    """Yield each answer as it arrives, with its batch number, and add sent ones to `sent`.

    After an outage no more are sent. Answers that do not arrive in time are not yielded.
    """
    gives_up_at = monotonic() + settings.ENGRAM_LLM["total_seconds"] * _rounds(len(prompts))
    gives_up_at += GRACE_SECONDS
    pool = ThreadPoolExecutor(CALLS_AT_ONCE, thread_name_prefix="narrative")
    queued = list(range(len(prompts)))[::-1]
    calls: dict[Future[ModelAnswer[NarrativeReading] | ModelError], int] = {}
    try:
        while queued or calls:
            while queued and len(calls) < CALLS_AT_ONCE:
                i = queued.pop()
                sent.add(i)
                calls[pool.submit(_ask, model, prompts[i], shapes[i])] = i
            release_connection()
            done, _ = wait(calls, timeout=BEAT_SECONDS, return_when=FIRST_COMPLETED)
            renew()
            for call in done:
                answer = call.result()
                if isinstance(answer, UnavailableError):
                    queued.clear()
                yield calls.pop(call), answer
            if calls and monotonic() > gives_up_at:
                return
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _ask(
    model: str, prompt: Sequence[ChatMessage], shape: type[NarrativeReading]
) -> ModelAnswer[NarrativeReading] | ModelError:
    """Ask about one batch; runs in a thread without a workspace or database connection."""
    try:
        return llm.ask(
            prompt, shape, model=model, escape=escape, max_output_tokens=MAX_OUTPUT_TOKENS
        )
    except ModelError as error:
        return error


def _rounds(calls: int) -> int:
    return -(-calls // CALLS_AT_ONCE)


def _add_answer(
    run: ModelRun, facts: Sequence[Fact], answer: ModelAnswer[NarrativeReading] | ModelError
) -> None:
    """Add an answer's usage and cost to a run, and its findings about the facts that it read."""
    run.usage += answer.usage
    if isinstance(answer, ModelError):
        run.cost_usd += answer.cost_usd
        run.errors.append(answer)
        return
    run.cost_usd += answer.cost_usd
    matters = 0
    for one in answer.value.findings:
        if one.kind == "settled":
            continue
        matters += 1
        reported = Reported(
            kind=one.kind,
            facts=tuple(one.facts),
            yes=tuple(one.yes),
            question=one.question,
            severity=one.severity,
            reasoning=one.reasoning,
        )
        finding = accept_finding(reported, facts) if matters <= MAX_FINDINGS else None
        if finding is None:
            run.dropped += 1
        else:
            run.findings.append(finding)
