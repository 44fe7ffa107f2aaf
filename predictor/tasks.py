"""Celery tasks of the predictor: each takes ids and makes one service call."""

from __future__ import annotations

from uuid import UUID

import numpy as np
from celery import shared_task
from django.utils import timezone

from engram.kernel.jobs import wake
from predictor.services.judging import due
from predictor.services.judging.due import JUDGE_BY_MODEL_TASK, JUDGE_TASK
from predictor.services.judging.judge import judge_turn
from predictor.services.training import turn
from predictor.services.training.due import TRAIN_TASK

SWEEP_TRAINING_TASK = "predictor.sweep_training"
# Time limit of a turn, after which the next workspace is served; a running judgement is finished.
SECONDS_A_TURN = 10.0


@shared_task(name=TRAIN_TASK)
def train_workspace(workspace_id: str) -> None:
    """Train a workspace if that is due and no other training computes; then let the next one."""
    rng = np.random.default_rng()
    if turn.train_turn(UUID(workspace_id), clock=timezone.now, rng=rng) is not None:
        wake(SWEEP_TRAINING_TASK)


@shared_task(name=SWEEP_TRAINING_TASK)
def sweep_training() -> None:
    """Wake trainings that wait: for a turn, after a lost wake-up, after a dead worker."""
    for workspace_id in turn.stalled(timezone.now()):
        wake(TRAIN_TASK, workspace_id)


@shared_task(name=JUDGE_TASK)
def judge_workspace(workspace_id: str) -> None:
    """Judge the due sessions of a workspace without a language model."""
    judge_turn(UUID(workspace_id), clock=timezone.now, seconds=SECONDS_A_TURN, may_ask=False)


@shared_task(name=JUDGE_BY_MODEL_TASK)
def judge_workspace_by_model(workspace_id: str) -> None:
    """Judge the due sessions of a workspace by a language model."""
    judge_turn(UUID(workspace_id), clock=timezone.now, seconds=SECONDS_A_TURN, may_ask=True)


@shared_task(name="predictor.sweep_judging")
def sweep_judging() -> None:
    """Wake judging in workspaces with due sessions and no running judge, the oldest first."""
    for workspace in due.stalled(timezone.now()):
        due.wake_judge(workspace)
