"""Asking a model about the batches of a story side by side, within the day's cap."""

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
from conflicts.core.narrative import MAX_FINDINGS, Reported, accept_finding, messages
from engram.kernel import llm, spend
from engram.kernel.lease import Renewal
from engram.kernel.llm import (
    Message,
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
# After what a question may take at most, a call that has not come back is given up.
GRACE_SECONDS = 10.0


class ReportedShape(BaseModel):
    """One matter, as the model is asked to put it."""

    model_config = ConfigDict(extra="forbid", strict=True)

    kind: Literal["reversal", "ambiguity", "stale"]
    facts: list[int]
    yes: list[int]
    question: str
    severity: Literal["low", "medium", "high"]
    reasoning: str


class Reading(BaseModel):
    """What the model answers about one batch."""

    model_config = ConfigDict(extra="forbid", strict=True)

    findings: list[ReportedShape]


def reading_of(lines: int) -> type[Reading]:
    """Return the shape of an answer about so many lines: some of what it names was offered.

    An answer that names nothing but other lines is about something else: it does not fit, which
    the model is told once, and is no word on whether the notes agree.
    """

    class ReadingOfLines(Reading):
        @model_validator(mode="after")
        def _is_about_the_lines(self) -> Self:
            named = [number for one in self.findings for number in one.facts]
            if self.findings and not any(1 <= number <= lines for number in named):
                raise ValueError(f"facts are numbers of the lines given, from 1 to {lines}")
            return self

    return ReadingOfLines


@dataclass(slots=True)
class ModelRun:
    """What came of a story's batches."""

    findings: list[Finding] = field(default_factory=list)
    dropped: int = 0
    usage: Usage = field(default_factory=Usage)
    cost_usd: float = 0.0
    errors: list[ModelError] = field(default_factory=list)
    unsent: int = 0  # after an outage
    read: set[int] = field(default_factory=set)  # the batches that the model has answered about


class BeyondCapError(Exception):
    """The reading would be reserved at more than a whole day's cap: no day has room for it."""

    def __init__(self, highest_usd: float, cap_usd: float):
        super().__init__(
            f"This reading is reserved at ${highest_usd:.4f}, more than the day's cap of "
            f"${cap_usd:.4f}: it cannot run until narrative_daily_usd is higher or "
            "story_budget_tokens lower."
        )


def ask_model(
    workspace: Workspace,
    batches: Sequence[Sequence[Fact]],
    *,
    renew: Renewal,
    charge: Callable[[Usage, float], None],
    now: datetime,
) -> ModelRun | None:
    """Ask about every batch; None when the day's cap has no room for all of them.

    No connection, no lock and no transaction is held while the model thinks; `renew` is called
    every few seconds meanwhile. `charge` is told what is set aside, and at last, whatever happens,
    what the account was charged.

    Raises
    ------
    BeyondCapError
        No day's cap has room for them.
    """
    told = [messages(batch) for batch in batches]
    highest = [llm.highest_cost_usd(one, MAX_OUTPUT_TOKENS) for one in told]
    cap = workspace.config.narrative_daily_usd
    if sum(highest) > cap:
        raise BeyondCapError(sum(highest), cap)
    reserved = spend.reserve(workspace, sum(highest), now=now)
    if reserved is None:
        return None
    asked = ModelRun()
    sent: set[int] = set()
    answered: set[int] = set()
    try:
        charge(Usage(), reserved.usd)
        shapes = [reading_of(len(batch)) for batch in batches]
        for i, answer in _answers(told, shapes, sent, renew=renew):
            answered.add(i)
            if not isinstance(answer, UnavailableError | RejectedError):
                asked.read.add(i)
            _take(asked, batches[i], answer)
        if lost := sent - answered:
            asked.errors.append(UnavailableError(f"{len(lost)} calls did not come back"))
        asked.unsent = len(told) - len(sent)
    finally:
        # A call that was given up may be paid for all the same.
        asked.cost_usd += sum(highest[i] for i in sent - answered)
        spend.settle(workspace, reserved, usage=asked.usage, cost_usd=asked.cost_usd)
        charge(asked.usage, asked.cost_usd)
    return asked


def _answers(
    told: Sequence[Sequence[Message]],
    shapes: Sequence[type[Reading]],
    sent: set[int],
    *,
    renew: Renewal,
) -> Iterator[tuple[int, ModelAnswer[Reading] | ModelError]]:
    """Yield each question's answer as it comes, and note which were sent.

    After an outage no more are sent: who asks for a pause has it. What does not come back in time
    is not yielded.
    """
    gives_up_at = monotonic() + settings.ENGRAM_LLM["total_seconds"] * _rounds(len(told))
    gives_up_at += GRACE_SECONDS
    pool = ThreadPoolExecutor(CALLS_AT_ONCE, thread_name_prefix="narrative")
    queued = list(range(len(told)))[::-1]
    calls: dict[Future[ModelAnswer[Reading] | ModelError], int] = {}
    try:
        while queued or calls:
            while queued and len(calls) < CALLS_AT_ONCE:
                i = queued.pop()
                sent.add(i)
                calls[pool.submit(_ask, told[i], shapes[i])] = i
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


def _ask(told: Sequence[Message], shape: type[Reading]) -> ModelAnswer[Reading] | ModelError:
    """Ask in a thread that knows no workspace and no database."""
    try:
        return llm.ask(told, shape, escape=escape, max_output_tokens=MAX_OUTPUT_TOKENS)
    except ModelError as error:
        return error


def _rounds(calls: int) -> int:
    return -(-calls // CALLS_AT_ONCE)


def _take(
    asked: ModelRun, batch: Sequence[Fact], answer: ModelAnswer[Reading] | ModelError
) -> None:
    """Count what an answer took, and keep of it what names memories that were offered."""
    asked.usage += answer.usage
    if isinstance(answer, ModelError):
        asked.cost_usd += llm.cost_usd(answer.usage, llm.model_name())
        asked.errors.append(answer)
        return
    asked.cost_usd += answer.cost_usd
    reported = answer.value.findings
    asked.dropped += max(0, len(reported) - MAX_FINDINGS)
    for one in reported[:MAX_FINDINGS]:
        finding = accept_finding(
            Reported(
                kind=one.kind,
                facts=tuple(one.facts),
                yes=tuple(one.yes),
                question=one.question,
                severity=one.severity,
            ),
            batch,
        )
        if finding is None:
            asked.dropped += 1
        else:
            asked.findings.append(finding)
