"""Evidence against the former baseline is none against the one that serves now."""

from __future__ import annotations

from importlib import import_module

from django.db import connection

from engram.kernel.tenancy import in_workspace
from predictor.core.governance import Governor, Phase, SessionOutcome
from predictor.models import PredictorState
from predictor.services.state import lock_state, state_of, store_governor
from tests.conftest import NOW, Tenant

DROP = import_module("predictor.migrations.0004_another_baseline").DROP


def earn(tenant: Tenant, sessions: int) -> Governor:
    """Store the state of a ranker that won so many sessions."""
    governor = Governor.initial()
    for _ in range(sessions):
        governor = governor.update(
            SessionOutcome(0.4, is_trained=True, is_out_of_sample=True, is_served=True)
        )
    with in_workspace(tenant.workspace):
        state = lock_state(NOW)
        state.served = 3
        store_governor(state, governor, NOW)
    return governor


def upgrade() -> None:
    with connection.cursor() as cursor:
        cursor.execute(DROP)


def test_influence_is_earned_anew_and_models_stay(tenant: Tenant, neighbour: Tenant) -> None:
    before = earn(tenant, 60)
    assert (before.phase, before.alpha < 0.2) == (Phase.ACTIVE, True)
    ramping = earn(neighbour, 20)
    assert ramping.phase is Phase.RAMP
    upgrade()
    for one, was in ((tenant, before), (neighbour, ramping)):
        with in_workspace(one.workspace):
            state = state_of()
        assert (state.phase, state.alpha, state.served) == ("warming", 1.0, 3)
        assert Governor.from_json(state.governor) == was.after_replacement()
        assert state.scored_sessions == was.scored_sessions
    upgrade()
    with in_workspace(tenant.workspace):
        assert Governor.from_json(state_of().governor) == before.after_replacement()


def test_a_workspace_without_a_model_stays_as_it_is(tenant: Tenant, neighbour: Tenant) -> None:
    with in_workspace(tenant.workspace):
        store_governor(lock_state(NOW), Governor.initial().update(SessionOutcome(None)), NOW)
    with in_workspace(neighbour.workspace):
        lock_state(NOW)
    upgrade()
    with in_workspace(tenant.workspace):
        state = state_of()
        assert (state.phase, state.scored_sessions) == ("collecting", 1)
        assert Governor.from_json(state.governor).phase is Phase.COLLECTING
    with in_workspace(neighbour.workspace):
        assert PredictorState.objects.get().governor == {}
