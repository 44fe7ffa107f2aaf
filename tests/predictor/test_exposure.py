"""Whoever is shown is judged better, and nobody earns influence by it: sessions from start to
settlement, with a judge that sees what is true, and .3 more in what the session was shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from random import Random
from uuid import UUID

import numpy as np
import pytest

from engram.kernel.actors import SYSTEM
from engram.kernel.tenancy import in_workspace
from memories.core.content import content_hash
from memories.models import Memory, Session, SessionCandidate
from memories.services.sessions.end import end_session
from memories.services.sessions.start import SessionRequest, start_session
from predictor.core.governance import Governor, Phase
from predictor.core.judging import JudgeScores
from predictor.models import Comparison, JudgeKind, Judgement, PredictorState
from predictor.services.judging.pool import read_pool
from predictor.services.judging.settle import JudgeVerdict, settle
from predictor.services.serving import served
from predictor.services.serving.served import ModelCache
from tests.conftest import NOW, Tenant
from tests.predictor.serving import configure, promote, state
from tests.predictor.test_rank_session import StandIn, serve_stand_in

LIFT = 0.3
MEMORIES, PLACES, GOOD = 30, 6, 8
HOLDER = UUID(int=7)


@dataclass
class Guessing(StandIn):
    """Ranks nearly by chance, a little towards the baseline's best; the same for a seed."""

    seed: int = 3

    def __post_init__(self) -> None:
        self.rng = np.random.default_rng(self.seed)

    def score(self, context: object, candidates: object) -> np.ndarray:
        guessed: np.ndarray = self.rng.random(MEMORIES) + 0.3 * (np.arange(MEMORIES) < GOOD)
        return guessed


class Knowing(StandIn):
    """Ranks by what is true of the session, which it is told."""

    worth: np.ndarray

    def score(self, context: object, candidates: object) -> np.ndarray:
        return self.worth


@pytest.fixture(autouse=True)
def nothing_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(served, "cache", ModelCache())


@dataclass
class Life:
    """Sessions of a workspace, one after the other, whose memories have the baseline's order."""

    tenant: Tenant
    ids: Sequence[UUID]
    ranker: Guessing | Knowing
    lift: float = LIFT
    held: int = 0

    def hold(self, *, may_draft: bool = True) -> Comparison:
        """Start, end and settle a session; what it was shown is judged better."""
        self.held += 1
        if not may_draft:
            with in_workspace(self.tenant.workspace):
                PredictorState.objects.update(draft_share=0.0)
        now = NOW + timedelta(hours=self.held)
        rng = np.random.default_rng([17, self.held])
        # The baseline has most of what is of use among its first eight.
        chance = np.where(np.arange(MEMORIES) < GOOD, 0.5, 0.15)
        worth = np.where(rng.random(MEMORIES) < chance, 0.6, 0.1)
        if isinstance(self.ranker, Knowing):
            self.ranker.worth = worth
        workspace = configure(self.tenant.workspace)
        request = SessionRequest(session_key=f"s{self.held}", k=PLACES)
        started = start_session(
            workspace, request, actor=SYSTEM, now=now, rng=Random(self.held)
        ).session
        end_session(workspace, started.session_key, "x" * 600, actor=SYSTEM, now=now)
        with in_workspace(workspace):
            Judgement.objects.filter(session=started).update(holder=HOLDER)
            pool = read_pool(started.pk)
            shown = set(
                SessionCandidate.objects.filter(session=started, was_injected=True).values_list(
                    "memory_id", flat=True
                )
            )
        assert pool is not None
        known = dict(zip(self.ids, worth.tolist(), strict=True))
        told = tuple(min(1.0, known[i] + self.lift * (i in shown)) for i in pool.ids)
        verdict = JudgeVerdict(JudgeScores(0.6, 0.9, told), list(pool.ids), JudgeKind.MODEL, "test")
        compared = settle(workspace, started.pk, HOLDER, verdict, now=now + timedelta(minutes=5))
        assert compared is not None
        return compared

    def margins(self, *, is_drafted: bool) -> list[float]:
        with in_workspace(self.tenant.workspace):
            rows = Comparison.objects.filter(is_drafted=is_drafted, margin__isnull=False)
            return [row.margin or 0.0 for row in rows]


def begin_life(tenant: Tenant, ranker: Guessing | Knowing, *, phase: Phase) -> Life:
    """Store memories of falling importance, and serve the ranker."""
    configure(tenant.workspace, predictor_mode="on", exploration_rate=0.0)
    tenant.workspace.refresh_from_db()
    with in_workspace(tenant.workspace):
        rows = [
            Memory(
                id=UUID(int=n + 1),
                content=f"Memory {n}",
                content_hash=content_hash(f"{tenant.workspace.pk} {n}"),
                importance=0.9 - n / 50,
                observed_at=NOW,
                created_at=NOW,
                updated_at=NOW,
            )
            for n in range(MEMORIES)
        ]
        ids = [memory.pk for memory in Memory.objects.bulk_create(rows)]
    promote(tenant.workspace, phase=phase, draft_share=1.0)
    serve_stand_in(tenant.workspace, ranker)
    return Life(tenant, ids, ranker)


def test_a_harmful_ranker_gains_nothing_by_being_shown(tenant: Tenant) -> None:
    life = begin_life(tenant, Guessing(), phase=Phase.WARMING)
    found = [life.hold() for _ in range(60)]

    assert {row.alpha for row in found} == {1.0}
    assert {row.phase for row in found} <= {"warming", "retraining"}
    drafted = [row for row in found if row.is_drafted]
    assert 18 <= len(drafted) < 40  # fewer, once it seems worse
    assert np.mean([row.drafted_margin or 0.0 for row in drafted]) < -0.02
    governor = Governor.from_json(state(tenant.workspace).governor)
    assert governor.betting.wealth < 1
    status = tenant.reader.get("predictor/status").json()["drafted_lists"]
    assert status["drafted"]["sessions"] == len(drafted)
    assert status["drafted"]["margin"] < 0
    assert status["says"].startswith("The learned ranking has no say yet: worse by 0.")


def test_a_harmful_ranker_that_serves_is_found_out_though_its_lists_seem_good(
    tenant: Tenant,
) -> None:
    """The lists that it chose speak for it: they were shown."""
    life = begin_life(tenant, Guessing(), phase=Phase.ACTIVE)
    before = state(tenant.workspace).alpha
    for _ in range(12):
        life.hold(may_draft=False)
    assert before == state(tenant.workspace).alpha < 0.2
    assert np.mean(life.margins(is_drafted=False)) > 0.02
    while not life.hold().is_drift_reset:
        assert life.held < 12 + 60

    assert np.mean(life.margins(is_drafted=True)) < 0
    assert (state(tenant.workspace).phase, state(tenant.workspace).alpha) == ("retraining", 1.0)


def test_a_good_ranker_is_adopted_though_the_baseline_was_shown(tenant: Tenant) -> None:
    life = begin_life(tenant, Knowing(), phase=Phase.WARMING)
    while life.hold().phase != "ramp":
        assert life.held < 40
    now = state(tenant.workspace)
    assert (now.phase, now.alpha) == ("ramp", 0.8)
    says = tenant.reader.get("predictor/status").json()["drafted_lists"]["says"]
    adopted = Governor.from_json(now.governor).adopted_at
    assert says.startswith(
        f"The learned ranking has had a say since session {adopted}, its choices being better by 0."
    )
    configure(tenant.workspace, predictor_mode="collect")
    told = tenant.reader.get("predictor/status").json()["drafted_lists"]
    assert told["says"].startswith(
        f"The learned ranking would have had a say since session {adopted}, its"
    )
    assert told["says"].endswith(": switch on.")
    assert tenant.reader.get("diagnostics/predictor").json()["fields"]["drafted_lists"] == told


def test_every_place_of_a_drafted_list_is_stored_with_its_side(tenant: Tenant) -> None:
    life = begin_life(tenant, Guessing(), phase=Phase.WARMING)
    life.hold()

    with in_workspace(tenant.workspace):
        session = Session.objects.get()
        rows = list(session.candidates.filter(was_injected=True).order_by("rank"))
    assert (session.is_drafted, session.draft_share) == (True, 1.0)
    assert [row.rank for row in rows] == list(range(1, PLACES + 1))
    assert {row.propensity for row in rows} == {0.5}
    sides = [row.drafted_by for row in rows]
    assert [set(sides[n : n + 2]) for n in (0, 2, 4)] == [{"baseline", "predictor"}] * 3
    for side in ("baseline", "predictor"):
        ranks = [getattr(row, f"{side}_rank") for row in rows if row.drafted_by == side]
        assert ranks == sorted(ranks)
    detail = tenant.reader.get("sessions/s1").json()
    assert (detail["is_drafted"], detail["draft_share"]) == (True, 1.0)
    given = [one for one in detail["records"] if one["injected"]]
    assert [one["drafted_by"] for one in given] == sides
    audit = tenant.reader.get("predictor/audit/s1").json()
    assert audit["session"]["is_drafted"] is True
    assert audit["moved"].startswith("It counts as evidence.")
