"""Asking a model about the batches of a story side by side, within the day's cap."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from datetime import datetime
from time import monotonic
from typing import Literal

from django.conf import settings
from django.db import connection
from pydantic import BaseModel, ConfigDict

from conflicts.core.facts import Fact, Finding
from conflicts.core.narrative import MAX_FINDINGS, Reported, messages, taken
from engram.kernel import llm, spend
from engram.kernel.llm import Answer, Message, ModelError, UnavailableError, Usage
from engram.kernel.models import Workspace

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


@dataclass(slots=True)
class Asked:
    """What came of a story's batches."""

    findings: list[Finding] = field(default_factory=list)
    dropped: int = 0
    usage: Usage = field(default_factory=Usage)
    cost_usd: float = 0.0
    errors: list[ModelError] = field(default_factory=list)


def ask_model(
    workspace: Workspace,
    batches: Sequence[Sequence[Fact]],
    *,
    beat: Callable[[], None],
    now: datetime,
) -> Asked | None:
    """Ask about every batch; None when the day's cap has no room for all of them.

    No connection, no lock and no transaction is held while the model thinks; `beat` is called
    every few seconds meanwhile.
    """
    told = [messages(batch) for batch in batches]
    highest = [llm.highest_cost_usd(one, MAX_OUTPUT_TOKENS) for one in told]
    reserved = spend.reserve(workspace, sum(highest), now=now)
    if reserved is None:
        return None
    asked = Asked()
    open_calls = set(range(len(batches)))
    try:
        for i, answer in _answers(told, beat=beat):
            open_calls.discard(i)
            _take(asked, batches[i], answer)
    finally:
        # A call that was given up may be paid for all the same.
        asked.cost_usd += sum(highest[i] for i in open_calls)
        spend.settle(workspace, reserved, usage=asked.usage, cost_usd=asked.cost_usd)
    return asked


def _answers(
    told: Sequence[Sequence[Message]], *, beat: Callable[[], None]
) -> Iterator[tuple[int, Answer[Reading] | ModelError]]:
    """Yield each question's answer as it comes; what does not come in time is an error."""
    gives_up_at = monotonic() + settings.ENGRAM_LLM["total_seconds"] * _rounds(len(told))
    gives_up_at += GRACE_SECONDS
    pool = ThreadPoolExecutor(CALLS_AT_ONCE, thread_name_prefix="narrative")
    try:
        calls = {pool.submit(_ask, one): i for i, one in enumerate(told)}
        while calls:
            _let_go_of_connection()
            done, _ = wait(calls, timeout=BEAT_SECONDS, return_when=FIRST_COMPLETED)
            beat()
            for call in done:
                yield calls.pop(call), call.result()
            if calls and monotonic() > gives_up_at:
                raise UnavailableError("a call did not come back")
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _ask(told: Sequence[Message]) -> Answer[Reading] | ModelError:
    """Ask in a thread that knows no workspace and no database."""
    try:
        return llm.ask(told, Reading, max_output_tokens=MAX_OUTPUT_TOKENS)
    except ModelError as error:
        return error


def _rounds(calls: int) -> int:
    return -(-calls // CALLS_AT_ONCE)


def _let_go_of_connection() -> None:
    """Give the connection back to the pool; within somebody's transaction it has to stay."""
    if not connection.in_atomic_block:
        connection.close()


def _take(asked: Asked, batch: Sequence[Fact], answer: Answer[Reading] | ModelError) -> None:
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
        finding = taken(
            Reported(
                kind=one.kind,
                facts=tuple(one.facts),
                yes=tuple(one.yes),
                question=one.question,
                severity=one.severity,
                reasoning=one.reasoning,
            ),
            batch,
        )
        if finding is None:
            asked.dropped += 1
        else:
            asked.findings.append(finding)
