"""What tests of the seam share: sessions that start, and models that are served to them."""

from __future__ import annotations

import hashlib
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import numpy as np

from engram.kernel.models import Workspace
from engram.kernel.tenancy import in_workspace
from memories.services.sessions.ranker_hook import CandidateFacts, RankerRequest
from predictor.core.governance import Governor, Phase, SessionOutcome
from predictor.core.scorer import Scorer
from predictor.core.types import FEATURE_VERSION
from predictor.models import ModelVersion, PredictorState
from predictor.services.state import lock_state, store_governor
from tests.conftest import NOW

WIDTH = 16


def unit(rng: np.random.Generator, n: int, width: int = WIDTH) -> Any:
    rows = rng.standard_normal((n, width)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def facts(n: int, *, seed: int = 0, width: int = WIDTH, text_only: int = 0) -> list[CandidateFacts]:
    """Return candidates in the baseline's order; the last `text_only` have no vector."""
    vectors = unit(np.random.default_rng(seed), n, width)
    return [
        CandidateFacts(
            id=UUID(int=1000 + i),
            content=f"Statement number {i} about billing.",
            vector=vectors[i] if i < n - text_only else None,
            age_days=float(i),
            importance=0.5,
            access_count=i,
            is_superseded=False,
            baseline_score=1 / (i + 1),
            effectiveness=1 / (i + 1),
        )
        for i in range(n)
    ]


def make_request(
    workspace: Workspace, n: int = 8, *, now: datetime = NOW, **others: Any
) -> RankerRequest:
    """Return a session that starts."""
    given = {
        "session_key": "s-1",
        "context": unit(np.random.default_rng(99), 1)[0],
        "model": workspace.embedding_model,
        "project": "atlas",
        "gap_hours": 3.0,
        "candidates": facts(n),
    }
    return RankerRequest(workspace=workspace, now=now, **(given | others))


def scorer(*, seed: int = 0, width: int = WIDTH) -> Scorer:
    rng = np.random.default_rng(seed)
    return Scorer.initial(None, unit(rng, 40, width), rng=rng)


def promote(
    workspace: Workspace,
    raw: bytes | None = None,
    *,
    number: int = 1,
    phase: Phase = Phase.WARMING,
    now: datetime = NOW,
    draft_share: float = 0.0,
    **others: Any,
) -> ModelVersion:
    """Store a model and serve it, as a training does; the governor is put into the phase.

    No list is drafted, unless a share says so, until the next session is settled.
    """
    raw = scorer(seed=number).to_bytes() if raw is None else raw
    workspace.settings.setdefault("score_timeout_ms", 10_000)  # a busy machine fails no test
    workspace.__dict__.pop("config", None)
    workspace.save(update_fields=["settings"])
    given = {
        "checkpoint": raw,
        "sha256": hashlib.sha256(raw).hexdigest(),
        "embedding_model": workspace.embedding_model,
        "feature_version": FEATURE_VERSION,
    }
    with in_workspace(workspace):
        version = ModelVersion.objects.create(
            number=number,
            origin="trained",
            parameter_count=1,
            created_at=now,
            promoted_at=now,
            **(given | others),
        )
        state = lock_state(now)
        state.served = state.last_version = number
        store_governor(state, governor(phase), now)
        state.draft_share = draft_share
        state.save(update_fields=["draft_share"])
    return version


def governor(phase: Phase) -> Governor:
    """Return a governor that came into the phase by what it saw."""
    found = Governor.initial()
    good = SessionOutcome(0.12, is_trained=True, is_out_of_sample=True)
    bad = SessionOutcome(-0.9, is_trained=True, is_out_of_sample=True)
    if phase is not Phase.COLLECTING:
        found = found.after_training()
    while found.phase is not phase:
        found = found.update(bad if phase is Phase.RETRAINING else good)
    return found


def configure(workspace: Workspace, **settings: Any) -> Workspace:
    """Change settings, and return the workspace as a request would read it."""
    Workspace.objects.filter(pk=workspace.pk).update(settings=workspace.settings | settings)
    return Workspace.objects.get(pk=workspace.pk)


def state(workspace: Workspace) -> PredictorState:
    with in_workspace(workspace):
        return PredictorState.objects.get()


def minutes(n: float) -> timedelta:
    return timedelta(minutes=n)
