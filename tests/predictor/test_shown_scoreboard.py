"""The scoreboard that is kept between looks: never another than the one computed anew."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import numpy as np
import pytest
from django.db import connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext

from engram.kernel.actors import SYSTEM
from engram.kernel.services import change_settings
from engram.kernel.tenancy import in_workspace
from memories.models import Session, SessionCandidate
from memories.services.lifecycle.erase import erase
from predictor.core.metrics import ndcg
from predictor.models import Comparison, JudgeKind, Judgement, Training
from predictor.services.status import shown_scoreboard as kept
from predictor.services.status.scoreboard import Scoreboard, scoreboard
from tests.conftest import NOW, Tenant, build_tenant
from tests.predictor.judged import build_world
from tests.predictor.serving import promote


@pytest.fixture(autouse=True)
def _empty() -> None:
    kept._kept.clear()


def compare(session: Session, place: int) -> None:
    rows = session.candidates.order_by("rank")
    relevance = {str(row.memory_id): ((row.rank or 0) * 3 + place) % 5 / 4 for row in rows}
    Comparison.objects.create(
        session=session, outcome="win", relevance=relevance, phase="warming",
        created_at=NOW + timedelta(hours=place),
    )  # fmt: skip


def furnish(tenant: Tenant, sessions: int, *, name: str = "s") -> list[Session]:
    """Judge sessions whose learned order differs from the baseline's."""
    world = build_world(tenant.workspace, sessions, name=name)
    with in_workspace(tenant.workspace):
        SessionCandidate.objects.update(predictor_rank=13 - F("rank"), cosine=1.0 / F("rank"))
        for place, session in enumerate(world.sessions):
            compare(session, place)
    return list(world.sessions)


def look(tenant: Tenant) -> Scoreboard:
    """Return what pages show, and demand that it is what is computed anew."""
    with in_workspace(tenant.workspace):
        found = kept.shown_scoreboard()
        assert found == scoreboard(rng=np.random.default_rng(kept._RESAMPLING_SEED))
        again = kept.shown_scoreboard()
    assert again is found
    return found


def judge_one_more(tenant: Tenant) -> None:
    furnish(tenant, 1, name="late")


def erase_a_memory(tenant: Tenant) -> None:
    with in_workspace(tenant.workspace):
        newest = Comparison.objects.order_by("-created_at")[0]
        best = max(newest.relevance, key=lambda i: newest.relevance[i])
        memory = SessionCandidate.objects.get(session=newest.session_id, memory=best).memory_id
    erase(tenant.workspace, memory, actor=SYSTEM, now=NOW)


def delete_a_session(tenant: Tenant) -> None:
    with in_workspace(tenant.workspace):
        Comparison.objects.order_by("-created_at")[0].session.delete()


def rank_anew(tenant: Tenant) -> None:
    with in_workspace(tenant.workspace):
        row = SessionCandidate.objects.filter(rank=3).first()
        assert row is not None
        SessionCandidate.objects.filter(pk=row.pk).update(predictor_rank=1)


def judge_by_its_agent(tenant: Tenant) -> None:
    with in_workspace(tenant.workspace):
        newest = Comparison.objects.order_by("-created_at")[0]
        Judgement.objects.filter(session=newest.session_id).update(kind=JudgeKind.AGENT)


def void_one(tenant: Tenant) -> None:
    with in_workspace(tenant.workspace):
        Comparison.objects.filter(session__candidates__rank=1).update(void_reason="flat")


def draft_one(tenant: Tenant) -> None:
    with in_workspace(tenant.workspace):
        newest = Comparison.objects.order_by("-created_at")[0]
        Comparison.objects.filter(pk=newest.pk).update(is_drafted=True, drafted_margin=0.1)


def judge_one_by_a_model(tenant: Tenant) -> None:
    with in_workspace(tenant.workspace):
        newest = Comparison.objects.order_by("-created_at")[0]
        Judgement.objects.filter(session=newest.session_id).update(kind=JudgeKind.MODEL)


@pytest.mark.parametrize(
    "change",
    [
        judge_one_more, erase_a_memory, delete_a_session, rank_anew, judge_by_its_agent, void_one,
        draft_one, judge_one_by_a_model,
    ],
)  # fmt: skip
def test_what_changes_the_scoreboard_is_seen_at_the_next_look(
    tenant: Tenant, change: Callable[[Tenant], None]
) -> None:
    furnish(tenant, 5)
    before = look(tenant)
    change(tenant)
    assert look(tenant) != before


def test_a_training_or_a_setting_leaves_it_equal_to_one_computed_anew(tenant: Tenant) -> None:
    furnish(tenant, 4)
    look(tenant)
    change_settings(tenant.workspace, {"exploration_rate": 0.2}, actor=SYSTEM, now=NOW)
    look(tenant)
    promote(tenant.workspace, number=4)
    with in_workspace(tenant.workspace):
        Training.objects.create(reason="first", status="promoted", started_at=NOW)
    look(tenant)


def test_what_is_written_while_it_is_computed_is_not_kept(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    (first, *_) = furnish(tenant, 4)
    real = kept.scoreboard

    def interrupted(**given: object) -> Scoreboard:
        Comparison.objects.filter(session=first).update(void_reason="flat")
        return real(**given)  # type: ignore[arg-type]

    with in_workspace(tenant.workspace), monkeypatch.context() as patch:
        patch.setattr(kept, "scoreboard", interrupted)
        assert kept.shown_scoreboard().sessions == 3
    with in_workspace(tenant.workspace):  # as it was before: the other one is not taken for it
        Comparison.objects.update(void_reason="")
    assert look(tenant).sessions == 4


def test_a_look_costs_two_statements_for_few_sessions_and_for_many(tenant: Tenant) -> None:
    counts = []
    for sessions, name in ((1, "few"), (20, "many")):
        furnish(tenant, sessions, name=name)
        look(tenant)
        with in_workspace(tenant.workspace), CaptureQueriesContext(connection) as caught:
            kept.shown_scoreboard()
        counts.append(len(caught))
    assert counts == [2, 2]


def test_drafted_lists_are_measured_by_themselves_over_what_could_be_drafted(
    tenant: Tenant,
) -> None:
    """The newest hundred drafted ones, however many others came since."""
    drafted = furnish(tenant, 3)
    with in_workspace(tenant.workspace):
        Comparison.objects.update(is_drafted=True, drafted_margin=0.1)
        # Of the last memories neither side could choose one: there the orders do not count.
        SessionCandidate.objects.filter(rank__gt=8).update(is_relevant=False)
    furnish(tenant, 4, name="later")
    with in_workspace(tenant.workspace):
        found = scoreboard(rng=np.random.default_rng(1), sessions=4)
        expected: dict[str, list[float]] = {"baseline": [], "model": [], "cosine": []}
        for session in drafted:
            relevance = Comparison.objects.get(session=session).relevance
            order = list(session.candidates.filter(rank__lte=8).order_by("rank"))
            judged = {row.memory_id: relevance[str(row.memory_id)] for row in order}
            ids = [row.memory_id for row in order]
            expected["baseline"].append(ndcg(ids, judged))
            expected["cosine"].append(ndcg(ids, judged))
            expected["model"].append(ndcg(ids[::-1], judged))

    assert found.sessions == 4
    assert (found.drafted.sessions, found.drafted.since) == (3, NOW)
    rows = {one.ranker: one for one in found.drafted.standings}
    assert set(rows) == {"cosine", "baseline", "model", "served"}
    for name, values in expected.items():
        assert rows[name].ndcg.mean == pytest.approx(np.mean(values))
        assert (rows[name].ndcg.n, rows[name].is_enough) == (3, False)
    gain = rows["model"].gain
    assert gain is not None
    assert gain.mean == pytest.approx(np.mean(expected["model"]) - np.mean(expected["baseline"]))


def test_figures_are_told_by_judge_where_two_have_judged(tenant: Tenant) -> None:
    sessions = furnish(tenant, 6)
    assert look(tenant).by_judge == ()
    with in_workspace(tenant.workspace):
        Judgement.objects.filter(session__in=sessions[:2]).update(kind=JudgeKind.MODEL)

    board = look(tenant)

    assert [(part.judge, part.sessions) for part in board.by_judge] == [
        ("model", 2),
        ("offline", 4),
    ]
    means = [{one.ranker: one.ndcg.mean for one in part.standings} for part in board.by_judge]
    whole = {one.ranker: one.ndcg.mean for one in board.standings}
    assert means[0] != means[1]
    for ranker, mean in whole.items():
        assert (2 * means[0][ranker] + 4 * means[1][ranker]) / 6 == pytest.approx(mean)


def test_workspaces_have_their_own_and_the_oldest_look_leaves_first(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept, "WORKSPACES", 1)
    other = build_tenant("Other")
    furnish(tenant, 3)
    assert (look(tenant).sessions, look(other).sessions) == (3, 0)
    assert list(kept._kept) == [other.workspace.pk]
    assert look(tenant).sessions == 3
