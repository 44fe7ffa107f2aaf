"""What one training reads, all of it at once: sessions to learn from, canary, models."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import numpy as np

from engram.kernel.models import Workspace
from predictor.core.labels import MIN_CONFIDENCE
from predictor.core.scorer import Scorer
from predictor.models import CanarySession, ModelVersion, PredictorState, Training, TrainingStatus
from predictor.services import canary, models_store
from predictor.services.dataset import (
    SESSIONS_MAX,
    JudgedSession,
    KnownMemories,
    gather,
    known_memories,
)

# These trainings learn from the newest sessions and the best before; every other one from all.
# Each begins anew: going on from the served weights was measured to overfit (docs/operators.md).
MIXED = frozenset({"interval", "drift", "manual"})
REPLAY = 20  # the best of what lies behind
RECENT = 80  # four times as many


@dataclass(frozen=True, slots=True)
class Material:
    """What a training learns from, what it starts from, and what it is measured against.

    `base` are the weights that it starts from; where there are none it starts from what is
    `known`. `served` is None when no model that fits the workspace's vectors is served.
    """

    sessions: Sequence[JudgedSession]
    replay_count: int
    skipped: int  # sessions that could not be read
    canary: Sequence[JudgedSession]
    known: KnownMemories | None
    base: Scorer | None
    served: Scorer | None
    served_number: int | None
    promoted_models: int
    embedding_model: str
    width: int

    @property
    def label_count(self) -> int:
        """How many labels are learned from."""
        return sum(len(session.memory_ids) for session in self.sessions)


def collect(
    workspace: Workspace,
    state: PredictorState,
    *,
    reason: str,
    rng: np.random.Generator,
    now: datetime,
    limit: int = SESSIONS_MAX,
    min_confidence: float = MIN_CONFIDENCE,
) -> Material:
    """Read what a training for `reason` needs; called inside the workspace, changes nothing."""
    model = workspace.embedding_model
    found = gather(workspace, limit=limit, min_confidence=min_confidence)
    chosen = _canary(found.sessions, state, rng=rng, now=now)
    rest = [session for session in found.sessions if session.id not in chosen]
    served = models_store.fitting(state.served, model)
    base = models_store.base_of(model)
    sessions, replay_count = mixed(rest) if reason in MIXED else (rest, 0)
    return Material(
        sessions=sessions,
        replay_count=replay_count,
        skipped=found.skipped,
        canary=[session for session in found.sessions if session.id in chosen],
        known=None if base else known_memories(workspace, width=found.width, now=now),
        base=base and base[1],
        served=served and served[1],
        served_number=served and served[0].number,
        promoted_models=ModelVersion.objects.exclude(promoted_at=None).count(),
        embedding_model=model,
        width=found.width,
    )


def mixed(sessions: Sequence[JudgedSession]) -> tuple[list[JudgedSession], int]:
    """Return the newest 80 sessions behind the 20 best of those before, and how many these are."""
    before, recent = sessions[:-RECENT], sessions[-RECENT:]
    best = sorted(before, key=lambda session: (-session.overall, session.started_at))[:REPLAY]
    replayed = sorted(best, key=lambda session: (session.started_at, session.id))
    return [*replayed, *recent], len(replayed)


def _canary(
    sessions: Sequence[JudgedSession],
    state: PredictorState,
    *,
    rng: np.random.Generator,
    now: datetime,
) -> set[UUID]:
    kept: Collection[UUID] = ()
    if not canary.is_old(state, now):
        kept = set(CanarySession.objects.values_list("session_id", flat=True))
    return canary.choose(sessions, kept=kept, seen=_seen(state), rng=rng)


def _seen(state: PredictorState) -> set[UUID]:
    """Return what the served model has learned from."""
    if state.served is None:
        return set()
    learned = Training.objects.filter(status=TrainingStatus.PROMOTED, version=state.served)
    return {i for ids in learned.values_list("trained_session_ids", flat=True) for i in ids}
