"""Judge the due sessions of a workspace one at a time, in the order in which they ended.

Safe to kill at any point: a judgement is due until the transaction that settles it, and a worker
without a heartbeat loses it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from time import monotonic
from traceback import format_tb
from uuid import UUID

from engram.kernel import telemetry
from engram.kernel.collisions import retry_on_collision
from engram.kernel.lease import renewing
from engram.kernel.llm import ModelError, UnavailableError, Usage
from engram.kernel.models import Workspace
from engram.kernel.tenancy import in_workspace
from predictor.core.judging import is_judgeable
from predictor.models import Judgement
from predictor.services.judging import due
from predictor.services.judging.agents_word import AgentsWord, judge_by_agent, read_word
from predictor.services.judging.ask_judge import CappedError, ask_judge
from predictor.services.judging.contradicted import places_contradicting
from predictor.services.judging.offline import judge_offline
from predictor.services.judging.pool import JudgingPool, read_pool
from predictor.services.judging.settle import settle
from predictor.services.judging.verdict import JudgeVerdict

log = logging.getLogger(__name__)

Clock = Callable[[], datetime]

CAPPED = "the day's cap is reached"
RESTS = "the endpoint asked for a pause"


class _LaterError(Exception):
    """Raised when the model is to be called again later."""

    def __init__(self, error: ModelError):
        super().__init__(str(error))
        self.error = error


def judge_turn(workspace_id: UUID, *, clock: Clock, seconds: float, may_ask: bool) -> list[UUID]:
    """Judge for about `seconds`; a worker that may not call a model wakes one that may."""
    workspace = Workspace.objects.filter(pk=workspace_id).first()
    if workspace is None:
        return []
    if due.is_by_model(workspace) and not may_ask:
        due.wake_judge(workspace)
        return []
    return judge_due(workspace, clock=clock, seconds=seconds)


def judge_due(
    workspace: Workspace,
    *,
    clock: Clock,
    seconds: float | None = None,
) -> list[UUID]:
    """Judge and settle the due sessions; return those that were settled.

    After `seconds` the rest is left to a later wake-up, so that other workspaces are served. Does
    nothing while another worker judges here, or while the first session has to wait.
    """
    settled: list[UUID] = []
    started = monotonic()
    while seconds is None or not settled or monotonic() - started < seconds:
        workspace = Workspace.objects.get(pk=workspace.pk)  # settings as they are now
        if workspace.config.predictor_mode == "off":
            due.drop_due(workspace)
            return settled
        judgement = due.acquire(workspace, clock())
        if judgement is None:
            return settled
        try:
            is_settled = _judge(workspace, judgement, clock=clock)
        except _LaterError as later:
            _put_off(judgement, later.error, now=clock())
            return settled
        except Exception as error:  # noqa: BLE001  whatever it was, the session stays due
            # Messages of exceptions may quote memories: the log has the places, the row the type.
            kind, places = type(error).__name__, "".join(format_tb(error.__traceback__))
            log.error("judging %s failed: %s\n%s", judgement.session_id, kind, places)
            _put_off(judgement, error, now=clock())
            return settled
        if is_settled:
            settled.append(judgement.session_id)
    due.wake_judge(workspace)
    return settled


def _judge(workspace: Workspace, judgement: Judgement, *, clock: Clock) -> bool:
    """Judge one session and settle it; False when there was nothing to judge, or it was lost."""
    with (
        telemetry.timed(due.STAGE, workspace),
        renewing(lambda: due.renew(judgement, clock())),
    ):
        with in_workspace(workspace):
            pool = read_pool(judgement.session_id)
            word = pool and _word_alone(pool)
        if pool is None:
            return False
        if not pool.ids:
            due.skip(judgement, due.NO_MEMORIES, now=clock())
            return False
        verdict = judge_by_agent(word) if word else _read(workspace, judgement, pool, clock=clock)
        assert judgement.holder is not None  # noqa: S101  `acquire` has set it
        # A collision repeats the writing only: the model's answer is kept.
        settled = retry_on_collision(settle)(
            workspace, judgement.session_id, judgement.holder, verdict, now=clock()
        )
        return settled is not None


def _word_alone(pool: JudgingPool) -> AgentsWord | None:
    """Return what the agent said where there is too little of a transcript to judge."""
    if is_judgeable(pool.session.transcript):
        return None
    word = read_word(pool.session, list(pool.session.candidates.all()))
    return word or None


def _read(
    workspace: Workspace, judgement: Judgement, pool: JudgingPool, *, clock: Clock
) -> JudgeVerdict:
    """Return the verdict of who reads the transcript, and what the transcript contradicts."""
    if due.is_by_model(workspace):
        verdict = _ask(workspace, judgement, pool, clock=clock)
    else:
        verdict = judge_offline(workspace, pool)
    return replace(verdict, contradicted=places_contradicting(pool))


def _ask(
    workspace: Workspace, judgement: Judgement, pool: JudgingPool, *, clock: Clock
) -> JudgeVerdict:
    """Return the verdict of the model, or of the judge that needs none and why."""
    now = clock()
    if judgement.attempts > due.MODEL_ATTEMPTS:  # a worker died while it asked
        return judge_offline(workspace, pool, note=judgement.error)
    if rests_until := due.rests_until(judgement, now):
        if due.is_beyond_patience(judgement, rests_until):
            return judge_offline(workspace, pool, note=RESTS)
        raise _LaterError(UnavailableError(RESTS, Usage(), (rests_until - now).total_seconds()))
    try:
        verdict = ask_judge(workspace, pool, now=now)
    except CappedError:
        return judge_offline(workspace, pool, note=CAPPED)
    except ModelError as error:
        rest = timedelta(seconds=getattr(error, "retry_after_seconds", None) or 0.0)
        is_last = judgement.attempts >= due.MODEL_ATTEMPTS
        if not is_last and not due.is_beyond_patience(judgement, now + rest):
            raise _LaterError(error) from None
        if rest:
            due.note_rest(judgement, clock() + rest)
        offline = judge_offline(workspace, pool, note=_describe_error(error))
        return replace(offline, usage=error.usage, cost_usd=error.cost_usd)
    if verdict.orders and (seconds := verdict.orders.retry_after_seconds):
        due.note_rest(judgement, clock() + timedelta(seconds=seconds))
    return verdict


def _put_off(judgement: Judgement, error: Exception, *, now: datetime) -> None:
    usage = error.usage if isinstance(error, ModelError) else Usage()
    due.put_off(
        judgement,
        error=_describe_error(error),
        asked_seconds=getattr(error, "retry_after_seconds", None),
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cost_usd=error.cost_usd if isinstance(error, ModelError) else 0.0,
        now=now,
    )


def _describe_error(error: Exception) -> str:
    """Return the text of an error that may be stored: messages of `ModelError` quote no memory."""
    return str(error)[:300] if isinstance(error, ModelError) else type(error).__name__
