"""The queue of sessions to judge: rows with a holder and a heartbeat, without locks meanwhile.

Sessions of a workspace are judged one after the other, in the order in which they ended, so that
the evidence is in time order.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from django.db.models import Max, Q, QuerySet

from engram.kernel import lease, llm, telemetry
from engram.kernel.due import due_workspaces
from engram.kernel.jobs import wake
from engram.kernel.models import Workspace
from engram.kernel.tenancy import in_workspace
from memories.models import Session
from predictor.core.judging import is_judgeable
from predictor.models import Judgement, JudgeStatus
from predictor.services.judging.agents_word import has_word
from predictor.services.state import lock_state

JUDGE_TASK = "predictor.judge_workspace"
JUDGE_BY_MODEL_TASK = "predictor.judge_workspace_by_model"
STAGE = "judge"
TOO_SHORT = "too short"
NO_MEMORIES = "no memories"

FIRST_PAUSE = timedelta(seconds=30)
LONGEST_PAUSE = timedelta(minutes=15)
# The model is asked so often about a session, and not again once it has waited so long: then the
# judge that needs no model takes its place.
MODEL_ATTEMPTS = 3
PATIENCE = timedelta(minutes=30)
LONGEST_REST = timedelta(days=1)
# The most attempts at a judgement that did not end, by all workers together.
ATTEMPTS_MAX = 8
# An outage is no fault of the session: it waits however long that takes.
OUTAGES = frozenset({"EmbeddingUnavailableError"})


def is_by_model(workspace: Workspace) -> bool:
    """Return whether a language model judges the workspace's sessions."""
    return bool(llm.model_name()) and workspace.config.judge_by_model


def wake_judge(workspace: Workspace) -> None:
    """Wake a worker of the queue for the workspace's judge, after the commit."""
    wake(JUDGE_BY_MODEL_TASK if is_by_model(workspace) else JUDGE_TASK, workspace.pk)


def note_ended(sender: Any, *, session: Session, now: datetime, **_: Any) -> None:
    """Queue a session for judging, in the transaction that ends it; not in the mode `off`.

    A session closed as idle has no transcript to judge; it is queued when the transcript arrives.
    One of which the agent said what it used needs none.
    """
    workspace = session.workspace
    if workspace.config.predictor_mode == "off":
        return
    if not is_judgeable(session.transcript) and not has_word(session):
        Judgement.objects.get_or_create(
            session=session,
            defaults={
                "status": JudgeStatus.SKIPPED,
                "due_at": now,
                "judged_at": now,
                "void_reason": TOO_SHORT,
            },
        )
        return
    waiting = {"due_at": now}
    judgement = Judgement.objects.get_or_create(session=session, defaults=waiting)[0]
    if judgement.status == JudgeStatus.SKIPPED:
        judgement.status, judgement.void_reason = JudgeStatus.DUE, ""
        judgement.due_at, judgement.judged_at = now, None
        judgement.save(update_fields=["status", "void_reason", "due_at", "judged_at"])
    wake_judge(workspace)


def select_due() -> QuerySet[Judgement]:
    """Return the judgements that wait, in the order in which their sessions ended."""
    waiting = Judgement.objects.filter(status=JudgeStatus.DUE)
    return waiting.order_by("due_at", "session_id")


def is_judged(now: datetime) -> bool:
    """Return whether a live worker is judging a session of the workspace."""
    return select_due().filter(lease.match_held(select_due(), now)).exists()


def renew(judgement: Judgement, now: datetime) -> bool:
    """Write a heartbeat, unless another worker has taken the session over."""
    with in_workspace(judgement.workspace_id):
        return lease.renew(_lease(judgement), _holder(judgement), now)


def _lease(judgement: Judgement) -> QuerySet[Judgement]:
    return Judgement.objects.filter(pk=judgement.pk)


def _holder(judgement: Judgement) -> UUID:
    assert judgement.holder is not None  # noqa: S101  `acquire` has set it
    return judgement.holder


def acquire(workspace: Workspace, now: datetime) -> Judgement | None:
    """Acquire the session that ended first, if no other is being judged and it is due now.

    A session that was started too often is marked as failed, and the next one is acquired.
    """
    with in_workspace(workspace):
        lock_state(now)  # two that take at the same time
        if is_judged(now):
            return None
        line = (
            select_due().select_related("session").defer("session__transcript", "session__context")
        )
        while (judgement := line.first()) is not None:
            if _has_to_wait(workspace, judgement, now):
                return None
            if judgement.attempts >= ATTEMPTS_MAX and judgement.error not in OUTAGES:
                _give_up(judgement, now)
                continue
            judgement.holder = uuid4()
            if not lease.acquire(_lease(judgement), judgement.holder, now):
                return None
            judgement.attempts = min(judgement.attempts + 1, 30_000)
            judgement.save(update_fields=["attempts"])
            return judgement
    return None


def _has_to_wait(workspace: Workspace, judgement: Judgement, now: datetime) -> bool:
    """Return whether a session is not due yet, within the patience for the model."""
    if judgement.not_before is None or judgement.not_before <= now:
        return False
    is_for_model = is_by_model(workspace) and judgement.attempts <= MODEL_ATTEMPTS
    is_outage = judgement.error in OUTAGES
    return is_outage or not is_for_model or not is_beyond_patience(judgement, judgement.not_before)


def is_beyond_patience(judgement: Judgement, at: datetime) -> bool:
    """Return whether a session has waited too long at `at` to wait for the model any longer."""
    return at - judgement.due_at > PATIENCE


def rests_until(judgement: Judgement, now: datetime) -> datetime | None:
    """Return the end of the pause that the endpoint asked for, over all sessions."""
    with in_workspace(judgement.workspace_id):
        recent = Q(status=JudgeStatus.DUE) | Q(judged_at__gte=now - LONGEST_REST)
        pauses = Judgement.objects.filter(recent, not_before__gt=now)
        until: datetime | None = pauses.aggregate(at=Max("not_before"))["at"]
        return until


def note_rest(judgement: Judgement, until: datetime) -> None:
    """Store the pause that the endpoint asked for; it also holds for later sessions."""
    with in_workspace(judgement.workspace_id):
        Judgement.objects.filter(pk=judgement.pk).update(not_before=until)


def _give_up(judgement: Judgement, now: datetime) -> None:
    judgement.status, judgement.judged_at = JudgeStatus.FAILED, now
    judgement.holder = judgement.heartbeat_at = judgement.not_before = None
    judgement.save(update_fields=["status", "holder", "heartbeat_at", "not_before", "judged_at"])
    telemetry.record_error(
        STAGE,
        "judge_given_up",
        detail=judgement.error,
        session_key=judgement.session.session_key,
        now=now,
    )


def put_off(
    judgement: Judgement,
    *,
    error: str,
    asked_seconds: float | None,
    input_tokens: int,
    output_tokens: int,
    cost_usd: float,
    now: datetime,
) -> None:
    """Postpone a failed judgement, at least as long as the endpoint asked for."""
    pause = min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** min(judgement.attempts - 1, 10))
    pause = max(pause, timedelta(seconds=asked_seconds or 0.0))
    with in_workspace(judgement.workspace_id):
        lease.release(
            _lease(judgement),
            _holder(judgement),
            not_before=now + pause,
            error=error,
            input_tokens=judgement.input_tokens + input_tokens,
            output_tokens=judgement.output_tokens + output_tokens,
            cost_usd=judgement.cost_usd + cost_usd,
        )
        is_outage = error in OUTAGES
        telemetry.record_error(
            "embedding" if is_outage else STAGE,
            "embedding_unavailable" if is_outage else "judge_failed",
            detail=judgement.workspace.embedding_model if is_outage else error,
            session_key=judgement.session.session_key,
            now=now,
        )


def skip(judgement: Judgement, reason: str, *, now: datetime) -> None:
    """Close a judgement without anything to judge."""
    with in_workspace(judgement.workspace_id):
        lease.release(
            _lease(judgement),
            _holder(judgement),
            status=JudgeStatus.SKIPPED,
            void_reason=reason,
            judged_at=now,
        )


def drop_due(workspace: Workspace) -> None:
    """Delete the due judgements of a workspace whose predictor was switched off."""
    with in_workspace(workspace):
        select_due().order_by().delete()


def stalled(now: datetime) -> list[Workspace]:
    """Return the workspaces with a due session and no live judge, the oldest first."""
    waiting: dict[UUID, tuple[datetime, Workspace]] = {}
    for workspace in due_workspaces(select_due, "due_at"):
        with in_workspace(workspace):
            first = select_due().first()
            if first is None or is_judged(now):
                continue
        if workspace.config.predictor_mode == "off":
            drop_due(workspace)
        elif first.not_before is None or first.not_before <= now:
            waiting[workspace.pk] = (first.due_at, workspace)
    return [one for _, one in sorted(waiting.values(), key=lambda pair: (pair[0], pair[1].pk))]
