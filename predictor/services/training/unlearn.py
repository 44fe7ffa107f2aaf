"""Unlearning: after an erasure, drop the weights that may contain it and train new ones.

In the erasing transaction: 1. Every version made while the memory or session was known is marked,
and the weights of all but the served one are dropped. 2. A running training loses its right to
promote. 3. A full training becomes due. Its model replaces the served version; when it fails or is
late, the served version is dropped anyway, and the baseline ranks alone.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.db.models import Min, Q

from engram.kernel.actors import SYSTEM
from engram.kernel.history import record
from engram.kernel.lease import revoke, time_around
from engram.kernel.models import Event, Workspace
from memories.models import Session
from predictor.models import ModelVersion, PredictorState, Training, TrainingLease
from predictor.services.models import store
from predictor.services.models.reset import cold_start
from predictor.services.training.due import ERASED, note_training_due, training_lease

# Who erases a thousand memories one after the other interrupts so many trainings a minute.
TRAININGS_AT_ONCE, AT_ONCE = 3, timedelta(minutes=1)
# So long a version may go on to serve after something was erased that it may hold.
SERVES_AT_MOST = timedelta(minutes=10)
MADE = ("training.finished", "predictor.imported")  # events that name a new version


def note_memories_erased(sender: Any, *, first_seq: int, now: datetime, **_: Any) -> None:
    """Mark the versions made since memories about to be erased were created.

    Every training reads all recallable memories, for the mean and the principal directions, besides
    those of its sessions, so every later version may contain them.
    """
    if (state := _lock_state()) is not None:
        unlearn(state, _first_made_since(first_seq), now)


def note_session_erased(sender: Any, *, session: Session, now: datetime, **_: Any) -> None:
    """Mark the versions made since a training first used a session about to be erased."""
    if (state := _lock_state()) is not None:
        learned = Training.objects.filter(trained_session_ids__contains=[session.pk])
        unlearn(state, learned.aggregate(first=Min("version"))["first"], now)


def unlearn(state: PredictorState, first: int | None, now: datetime) -> None:
    """Mark the versions from `first` on; None when there are none, unless a training is running.

    Called inside the workspace, with memories, sessions and the state locked in this order.
    Versions are compared by number, because a clock may be set back.
    """
    if first is not None:
        _mark(state, first, now)
    stopped = _stop_training()
    reason = ERASED if is_erased(state) else stopped
    if not reason:
        return
    workspace = Workspace.objects.get(pk=state.workspace_id)
    if workspace.config.predictor_mode == "off":
        drop_erased(workspace, state, now)
        return
    if drop_overdue(workspace, state, now):
        return
    lease = training_lease()
    if stopped or not (lease.due_at and lease.reason == ERASED):
        # What failed before is no failure of what is due now.
        TrainingLease.objects.filter(pk=lease.pk, due_at__isnull=False).update(due_at=now)
        note_training_due(state, reason, now)


def _lock_state() -> PredictorState | None:
    return PredictorState.objects.select_for_update().first()


def _first_made_since(seq: int) -> int | None:
    """Return the first version made after an event; the first of all for 0."""
    if not seq:
        return 1
    made = Event.objects.filter(seq__gt=seq, type__in=MADE, data__version__gte=1)
    return made.order_by("seq").values_list("data__version", flat=True).first()


def is_erased(state: PredictorState) -> bool:
    """Return whether the served version may contain something erased."""
    if state.served is None:
        return False
    return ModelVersion.objects.filter(number=state.served, erased_at__isnull=False).exists()


def drop_erased(workspace: Workspace, state: PredictorState, now: datetime) -> None:
    """Stop serving a version that may contain something erased; the caller holds the state's lock.

    Called when no training will replace it.
    """
    if is_erased(state):
        cold_start(state, workspace, reason=ERASED, actor=SYSTEM, now=now)


def drop_overdue(workspace: Workspace, state: PredictorState, now: datetime) -> bool:
    """Stop serving it when its replacement is overdue; return whether it was.

    Repeated erasures could otherwise keep every training from ending. The training stays due; the
    caller holds the state's lock.
    """
    served = ModelVersion.objects.filter(number=state.served or 0, erased_at__isnull=False)
    if not served.exclude(erased_at__range=time_around(now, SERVES_AT_MOST)).exists():
        return False
    cold_start(state, workspace, reason=ERASED, actor=SYSTEM, now=now)
    note_training_due(state, ERASED, now)
    return True


def may_wait(lease: TrainingLease, now: datetime) -> bool:
    """Return whether a training due after an erasure is postponed because others just started."""
    if lease.reason != ERASED:
        return False
    begun = Training.objects.filter(started_at__range=time_around(now, AT_ONCE))
    return begun.count() >= TRAININGS_AT_ONCE


def _mark(state: PredictorState, first: int, now: datetime) -> None:
    made = ModelVersion.objects.filter(number__gte=first, is_learned_here=True, erased_at=None)
    kept = made.exclude(checkpoint=None).order_by("number")
    numbers = list(kept.values_list("number", flat=True))
    made.update(erased_at=now)
    if numbers:
        store.drop_weights(Q(number__in=numbers), served=state.served)
        record(
            "predictor.unlearned",
            of=("predictor", state.workspace_id),
            actor=SYSTEM,
            now=now,
            data={"versions": numbers, "served": state.served},
        )


def _stop_training() -> str:
    """Take the workspace from a running training; return that training's reason, "" without one."""
    lease = training_lease()
    if lease.holder is None:
        return ""
    held = Training.objects.filter(pk=lease.holder)
    revoke(TrainingLease.objects.filter(pk=lease.pk))
    return held.values_list("reason", flat=True).first() or ""
