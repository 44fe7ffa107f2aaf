"""What was earned by evidence that no longer counts is dropped, and models stay.

Against the former baseline it says nothing of the one that serves now; margins of lists that one
ranking chose favour this ranking.
"""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

import pytest
from django.db import connection

from engram.kernel.models import Workspace
from engram.kernel.tenancy import in_workspace
from predictor.core.governance import Governor, Phase, SessionOutcome
from predictor.core.margins import Margins
from predictor.models import PredictorState
from predictor.services.state import lock_state, state_of, store_governor
from tests.conftest import NOW, Tenant
from tests.predictor.serving import configure

BASELINE = import_module("predictor.migrations.0004_another_baseline").DROP
DRAFTED = import_module("predictor.migrations.0005_drafted_evidence").DROP
LEAD = import_module("predictor.migrations.0010_lead_above_036").SCALE
KEEP = import_module("engram.kernel.migrations.0008_keep_collecting").KEEP


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


def upgrade(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)


def stored_in(tenant: Tenant) -> Governor:
    with in_workspace(tenant.workspace):
        return Governor.from_json(state_of().governor)


@pytest.mark.parametrize("drop", [BASELINE, DRAFTED])
def test_influence_is_earned_anew_and_models_stay(
    tenant: Tenant, neighbour: Tenant, drop: str
) -> None:
    before = earn(tenant, 60)
    assert (before.phase, before.alpha < 0.2) == (Phase.ACTIVE, True)
    ramping = earn(neighbour, 20)
    assert ramping.phase is Phase.RAMP
    upgrade(drop)
    for one, was in ((tenant, before), (neighbour, ramping)):
        with in_workspace(one.workspace):
            state = state_of()
        assert (state.phase, state.alpha, state.served) == ("warming", 1.0, 3)
        found = stored_in(one)
        assert replace(found, shown=Margins(), adopted_at=0) == was.after_replacement()
        assert state.scored_sessions == was.scored_sessions
    upgrade(drop)
    found = stored_in(tenant)
    assert replace(found, shown=Margins(), adopted_at=0) == before.after_replacement()


def test_what_bets_on_a_smaller_lead_have_won_gives_no_say_by_itself(
    tenant: Tenant, neighbour: Tenant
) -> None:
    serving = earn(neighbour, 20)
    waiting = Governor.initial()
    for margin in [0.03, -0.03] * 12:
        waiting = waiting.update(
            SessionOutcome(margin, is_trained=True, is_out_of_sample=True, is_served=True)
        )
    waiting = replace(waiting, betting=replace(waiting.betting, wealth=29.0))
    with in_workspace(tenant.workspace):
        store_governor(lock_state(NOW), waiting, NOW)
    upgrade(LEAD)
    found = stored_in(tenant)
    tie = SessionOutcome(0.0, is_trained=True, is_out_of_sample=True)
    assert (waiting.update(tie).phase, found.update(tie).phase) == (Phase.RAMP, Phase.WARMING)
    assert found.betting.wealth == pytest.approx(29 * 26 / 30)
    assert replace(found, betting=waiting.betting) == waiting
    assert stored_in(neighbour) == serving


def test_the_margins_of_lists_of_one_ranking_stay_as_a_description(tenant: Tenant) -> None:
    before = earn(tenant, 60)
    upgrade(DRAFTED)
    found = stored_in(tenant)
    assert (found.shown, found.margins, found.adopted_at) == (before.margins, Margins(), 0)


@pytest.mark.parametrize("drop", [BASELINE, DRAFTED])
def test_a_workspace_without_a_model_stays_as_it_is(
    tenant: Tenant, neighbour: Tenant, drop: str
) -> None:
    with in_workspace(tenant.workspace):
        store_governor(lock_state(NOW), Governor.initial().update(SessionOutcome(None)), NOW)
    with in_workspace(neighbour.workspace):
        lock_state(NOW)
    upgrade(drop)
    with in_workspace(tenant.workspace):
        state = state_of()
        assert (state.phase, state.scored_sessions) == ("collecting", 1)
        assert Governor.from_json(state.governor).phase is Phase.COLLECTING
    with in_workspace(neighbour.workspace):
        assert PredictorState.objects.get().governor == {}


def test_workspaces_keep_their_mode_and_new_ones_begin_with_on(
    tenant: Tenant, neighbour: Tenant
) -> None:
    configure(neighbour.workspace, predictor_mode="off")
    assert Workspace.objects.get(pk=tenant.workspace.pk).config.predictor_mode == "on"
    upgrade(KEEP)
    modes = {
        one.slug: one.config.predictor_mode
        for one in Workspace.objects.filter(pk__in=[tenant.workspace.pk, neighbour.workspace.pk])
    }
    assert modes == {tenant.workspace.slug: "collect", neighbour.workspace.slug: "off"}
