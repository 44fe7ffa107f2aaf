"""Load everything that one training reads: sessions, canary and models."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import numpy as np

from engram.kernel.models import Workspace
from predictor.core.labels import MIN_CONFIDENCE
from predictor.core.scorer import Scorer
from predictor.models import (
    CanarySession,
    Comparison,
    ModelVersion,
    PredictorState,
    Training,
    TrainingStatus,
)
from predictor.services.models import store
from predictor.services.training import canary
from predictor.services.training.dataset import (
    SESSIONS_MAX,
    JudgedSession,
    KnownMemories,
    gather,
    known_memories,
)

# These trainings learn from the newest sessions and the best before; every other one from all.
# Each begins anew: going on from the served weights was measured to overfit (docs/predictor.md).
MIXED = frozenset({"interval", "drift", "manual"})
REPLAY = 20  # the best of what lies behind
RECENT = 80  # four times as many
# A drift is found so many sessions after the change (the median of predictor.md); what lies
# before is of habits that are gone. From all sessions, nDCG@10 of the next ones was .37 in a
# simulated drift, .57 from the newest 80 and the best 20.
DRIFT_LAG = 20


@dataclass(frozen=True, slots=True)
class Material:
    """What a training learns from, what it starts from, and what it is measured against.

    `base` are the weights that it starts from; where there are none it starts from what is
    `known`. `served` is None when no model that fits the workspace's vectors is served;
    `state_served` is the number that the state named when this was read, whether it fits or not.
    """

    sessions: Sequence[JudgedSession]
    replay_count: int
    skipped: int  # sessions that could not be read
    canary: Sequence[JudgedSession]
    is_canary_redrawn: bool
    known: KnownMemories | None
    base: Scorer | None
    served: Scorer | None
    served_number: int | None
    state_served: int | None
    promoted_models: int
    embedding_model: str
    width: int

    @property
    def label_count(self) -> int:
        """The number of labels that are learned from."""
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
    """Load the data of a training for `reason`; called inside the workspace, writes nothing."""
    model = workspace.embedding_model
    found = gather(workspace, limit=limit, min_confidence=min_confidence)
    drift = _last_drift()
    current = _of_today(found.sessions, drift)
    is_redrawn = _is_canary_old(state, drift, now)
    kept: Collection[UUID] = ()
    if not is_redrawn:
        kept = set(CanarySession.objects.values_list("session_id", flat=True))
    chosen = canary.choose(current, kept=kept, seen=_sessions_trained_on(state), rng=rng)
    rest = [session for session in found.sessions if session.id not in chosen]
    served = store.load_usable(state.served, model)
    base = store.base_of(model)
    is_current = {session.id for session in current} - chosen
    recent = RECENT if reason in MIXED else len(is_current)
    sessions, replay_count = mix_sessions(rest, recent)
    return Material(
        sessions=sessions,
        replay_count=replay_count,
        skipped=found.skipped,
        canary=[session for session in found.sessions if session.id in chosen],
        is_canary_redrawn=is_redrawn,
        known=None if base else known_memories(workspace, width=found.width, now=now),
        base=base and base[1],
        served=served and served[1],
        served_number=served and served[0].number,
        state_served=state.served,
        promoted_models=ModelVersion.objects.exclude(promoted_at=None).count(),
        embedding_model=model,
        width=found.width,
    )


def mix_sessions(
    sessions: Sequence[JudgedSession], recent: int = RECENT
) -> tuple[list[JudgedSession], int]:
    """Return the newest sessions behind the 20 best of those before, and how many these are."""
    start = max(0, len(sessions) - recent)
    before = sorted(sessions[:start], key=lambda session: (-session.overall, session.started_at))
    replayed = sorted(before[:REPLAY], key=lambda session: (session.started_at, session.id))
    return [*replayed, *sessions[start:]], len(replayed)


def _last_drift() -> Comparison | None:
    resets = Comparison.objects.filter(is_drift_reset=True).select_related("session")
    found = resets.only("created_at", "session__started_at", "session__workspace_id")
    return found.order_by("-created_at").first()


def _of_today(
    sessions: Sequence[JudgedSession], drift: Comparison | None
) -> Sequence[JudgedSession]:
    """Return the sessions since the last detected change of behaviour."""
    if drift is None:
        return sessions
    until = sum(one.started_at < drift.session.started_at for one in sessions)
    return sessions[max(0, until - DRIFT_LAG) :]


def _is_canary_old(state: PredictorState, drift: Comparison | None, now: datetime) -> bool:
    """Return whether the canary must be drawn again: after a week, and after a drift."""
    chosen_at = state.canary_chosen_at
    if chosen_at is None or now - chosen_at >= canary.REFRESH:
        return True
    return drift is not None and drift.created_at > chosen_at


def _sessions_trained_on(state: PredictorState) -> set[UUID]:
    """Return the ids of the sessions that the served model was trained on."""
    if state.served is None:
        return set()
    learned = Training.objects.filter(status=TrainingStatus.PROMOTED, version=state.served)
    return {i for ids in learned.values_list("trained_session_ids", flat=True) for i in ids}
