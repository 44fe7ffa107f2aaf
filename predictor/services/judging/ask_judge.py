"""Ask a language model to judge a session, within the workspace's daily spend cap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from engram.kernel import llm, spend
from engram.kernel.llm import ModelError, Usage
from engram.kernel.models import Workspace
from memories.core.quoting import escape
from predictor.core.judging import PROMPT_VERSION, JudgeScores, build_messages
from predictor.core.orders import average, reverse
from predictor.models import JudgeKind
from predictor.services.judging.answer_shape import shape_for
from predictor.services.judging.pool import JudgingPool
from predictor.services.judging.verdict import JudgeVerdict, Orders, Reading

BASE_OUTPUT_TOKENS = 1024
OUTPUT_TOKENS_A_NOTE = 24
# Of the day's cap: a second order for one session never takes the room of a first one for another.
SECOND_SHARE: Final = 0.5
ONE_FOR_BUDGET: Final = "half of the day's cap is spent"


class CappedError(Exception):
    """Raised when the daily spend cap leaves no room for the question."""


@dataclass(frozen=True, slots=True)
class Answered:
    """A model's usable answer to one order of the notes."""

    scores: JudgeScores
    model: str
    reading: Reading


def ask_judge(workspace: Workspace, pool: JudgingPool, *, now: datetime) -> JudgeVerdict:
    """Return the model's verdict; no connection and no lock is held during the calls.

    With `judge_two_orders` it is the mean of two orders, as long as the day has cost less than
    `SECOND_SHARE` of the cap; without a usable second answer the first one stands alone.

    Raises
    ------
    CappedError
        Before the model is called, when the cap leaves no room.
    ModelError
        When there is no usable first answer; its cost is charged all the same.
    """
    pool = pool.for_model()
    first = ask_once(workspace, pool.contents, pool.session.transcript, now=now)
    scores, orders = first.scores, Orders((first.reading,))
    if workspace.config.judge_two_orders and len(pool.ids) > 1:
        scores, orders = _ask_again(workspace, pool, first, now=now)
    return JudgeVerdict(
        scores=scores,
        ids=pool.ids,
        kind=JudgeKind.MODEL,
        version=PROMPT_VERSION,
        model=first.model,
        usage=sum((one.usage for one in orders.readings), Usage()),
        cost_usd=sum(one.cost_usd for one in orders.readings),
        chances=pool.chances,
        orders=orders,
    )


def _ask_again(
    workspace: Workspace, pool: JudgingPool, first: Answered, *, now: datetime
) -> tuple[JudgeScores, Orders]:
    """Return the mean of the first answer and of one to the reverse order, or the first alone."""
    contents, transcript = reverse(pool.contents), pool.session.transcript
    try:
        second = ask_once(workspace, contents, transcript, now=now, share=SECOND_SHARE)
    except CappedError:
        return first.scores, Orders((first.reading,), ONE_FOR_BUDGET)
    except ModelError as error:
        failed = Reading(None, None, error.usage, error.cost_usd)
        rest = getattr(error, "retry_after_seconds", None) or 0.0
        return first.scores, Orders((first.reading, failed), str(error)[:300], rest)
    reading = replace(second.reading, relevance=reverse(second.scores.relevance))
    return average(first.scores, second.scores), Orders((first.reading, reading))


def ask_once(
    workspace: Workspace,
    contents: Sequence[str],
    transcript: str,
    *,
    now: datetime,
    share: float = 1.0,
) -> Answered:
    """Return a model's answer to notes in this order; the cost is reserved, then settled.

    Raises
    ------
    CappedError
        Before the model is called, when this `share` of the cap leaves no room.
    ModelError
        When there is no usable answer.
    """
    messages = build_messages(contents, transcript)
    most = BASE_OUTPUT_TOKENS + OUTPUT_TOKENS_A_NOTE * len(contents)
    model = llm.model_name(workspace.config.language_model)
    highest = llm.highest_cost_usd(messages, most, model)
    reserved = spend.reserve(workspace, highest, now=now, share=share)
    if reserved is None:
        raise CappedError
    usage, cost_usd = Usage(), reserved.usd
    try:
        answer = llm.ask(
            messages,
            shape_for(len(contents)),
            model=model,
            escape=escape,
            max_output_tokens=most,
        )
        usage, cost_usd = answer.usage, answer.cost_usd
    except ModelError as error:
        usage, cost_usd = error.usage, error.cost_usd
        raise
    finally:
        spend.settle(workspace, reserved, usage=usage, cost_usd=cost_usd)
    scores = answer.value.verdict()
    reading = Reading(scores.relevance, scores.confidence, usage, cost_usd)
    return Answered(scores, answer.model, reading)
