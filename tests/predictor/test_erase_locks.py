"""Erasing beside those who settle, draw and train: nobody waits in a ring, nothing is lost."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import datetime
from threading import Event
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from engram.kernel.actors import SYSTEM
from engram.kernel.refusals import StaleError
from engram.kernel.tenancy import in_workspace
from memories.models import Memory, Session
from memories.services.lifecycle.erase import erase
from memories.services.locks import lock
from memories.services.sessions.erase import delete_session
from memories.signals import session_erased
from predictor.models import (
    CalibrationItem,
    CanarySession,
    Label,
    PredictorState,
    Training,
    TrainingStatus,
)
from predictor.services.calibration import calibrate
from predictor.services.state import lock_state, state_of
from predictor.services.training.claim import TAKEN_OVER
from predictor.services.training.train import train_due
from tests.conftest import build_tenant
from tests.homes import PATIENCE_SECONDS
from tests.model_server import ModelServer
from tests.predictor.judged import OFFERED, World, build_world
from tests.predictor.judged_sessions import begin, commit_story, end, judge_all, judgement_of
from tests.predictor.test_judge import answer_with
from tests.predictor.test_train import LATER, due

SESSIONS = 30


@pytest.fixture
def world(transactional_db: None) -> World:
    """Return judged sessions that people may be asked about, seen by all connections."""
    built = build_world(build_tenant("busy").workspace, SESSIONS)
    with in_workspace(built.workspace):
        lock_state(LATER)
        Session.objects.update(transcript="x" * 600)
    return built


def alone(action: Callable[[], Any]) -> Callable[[], Any]:
    """Return the action for a thread, whose connection is closed behind it."""

    def run_alone() -> Any:
        try:
            return action()
        finally:
            connection.close()

    return run_alone


def wait_until_it_waits(doing: Future[Any]) -> None:
    """Wait until another connection waits for a lock."""
    until = time.monotonic() + PATIENCE_SECONDS
    asked = (
        "SELECT count(*) FROM pg_stat_activity"
        " WHERE datname = current_database() AND wait_event_type = 'Lock'"
    )
    while True:
        with connection.cursor() as cursor:
            # Within a transaction the first look at the view would be repeated for ever.
            cursor.execute("SELECT pg_stat_clear_snapshot()")
            cursor.execute(asked)
            row = cursor.fetchone()
        if row is not None and row[0]:
            return
        assert not doing.done(), doing.result()
        assert time.monotonic() < until
        time.sleep(0.01)


def draw(world: World, size: int = 50) -> list[UUID]:
    """Draw a sample; return its memories."""
    rng = np.random.default_rng(1)
    calibrate.sample(world.workspace, size, rng=rng, actor=SYSTEM, now=LATER)
    with in_workspace(world.workspace):
        return list(CalibrationItem.objects.values_list("memory_id", flat=True))


def test_what_is_drawn_while_it_is_erased_is_left_out(world: World) -> None:
    gone = world.memories[0].pk
    erasing = alone(lambda: erase(world.workspace, gone, actor=SYSTEM, now=LATER))
    with ThreadPoolExecutor(1) as pool:
        with in_workspace(world.workspace):
            lock_state(LATER)
            doing = pool.submit(erasing)
            wait_until_it_waits(doing)  # it holds the memory, and asks for the state
            drawn = draw(world, SESSIONS * OFFERED)  # whatever there is
        doing.result(PATIENCE_SECONDS)
    with in_workspace(world.workspace):
        assert not Memory.objects.filter(pk=gone).exists()
        assert CalibrationItem.objects.count() == len(drawn)
        assert len(drawn) == Label.objects.count()  # but for those of what is gone


def test_what_is_drawn_before_is_erased_after(world: World) -> None:
    with ThreadPoolExecutor(1) as pool:
        with in_workspace(world.workspace):
            drawn = draw(world, 30)
            gone = drawn[0]
            erasing = alone(lambda: erase(world.workspace, gone, actor=SYSTEM, now=LATER))
            doing = pool.submit(erasing)
            wait_until_it_waits(doing)
        doing.result(PATIENCE_SECONDS)
    with in_workspace(world.workspace):
        assert not Memory.objects.filter(pk=gone).exists()
        assert CalibrationItem.objects.count() == len([i for i in drawn if i != gone])


def test_nothing_is_drawn_when_all_of_it_is_being_erased(world: World) -> None:
    holding = connection.copy()
    holding.set_autocommit(False)
    try:
        with holding.cursor() as cursor:
            own = [str(world.workspace.pk)]
            cursor.execute("SELECT set_config('engram.workspace', %s, true)", own)
            cursor.execute("SELECT 1 FROM memories_memory FOR UPDATE")
        with pytest.raises(StaleError):
            draw(world, 30)
    finally:
        holding.rollback()
        holding.close()
    with in_workspace(world.workspace):
        assert not CalibrationItem.objects.exists()
        assert state_of().scored_at_calibration == 0
    assert len(draw(world, 30)) == 30


def test_a_training_that_redraws_the_canary_waits_in_no_ring_with_a_deletion(
    world: World,
) -> None:
    workspace = world.workspace
    due(workspace)
    with in_workspace(workspace):
        CanarySession.objects.bulk_create(
            CanarySession(session=session, chosen_at=LATER) for session in world.sessions
        )
        PredictorState.objects.update(canary_chosen_at=LATER)
    is_begun, may_go_on = Event(), Event()

    def clock() -> datetime:
        """Stop the training between its claim and its canary."""
        with in_workspace(workspace):
            if Training.objects.filter(status=TrainingStatus.RUNNING).exists():
                is_begun.set()
                assert may_go_on.wait(PATIENCE_SECONDS)
        return LATER

    def go_on(sender: Any, **_: Any) -> None:
        may_go_on.set()  # the state is locked by now, the session's rows are there
        wait_until_it_waits(doing)

    with ThreadPoolExecutor(1) as pool:
        rng = np.random.default_rng(3)
        doing = pool.submit(alone(lambda: train_due(workspace, clock=clock, rng=rng)))
        assert is_begun.wait(PATIENCE_SECONDS)
        session_erased.connect(go_on)
        try:
            delete_session(workspace, world.sessions[0].session_key, actor=SYSTEM, now=LATER)
        finally:
            session_erased.disconnect(go_on)
            may_go_on.set()
        training = doing.result(PATIENCE_SECONDS)
    assert (training.status, training.error) == (TrainingStatus.FAILED, TAKEN_OVER)
    with in_workspace(workspace):
        assert not Session.objects.filter(pk=world.sessions[0].pk).exists()
        assert CanarySession.objects.count() == len(world.sessions) - 1


def test_what_a_model_said_outlives_a_deadlock(transactional_db: None, settings: Any) -> None:
    tenant = build_tenant("busy")
    commit_story(tenant)
    begin(tenant)
    session = end(tenant)

    def judging() -> tuple[list[UUID], int]:
        """Return what was settled, and how often its memories were locked."""
        with CaptureQueriesContext(connection) as seen:
            done = judge_all(tenant)
        locks = [query["sql"] for query in seen.captured_queries]
        return done, sum("_memory" in sql and sql.endswith("FOR NO KEY UPDATE") for sql in locks)

    with ModelServer() as model, ThreadPoolExecutor(1) as pool:
        settings.ENGRAM_LLM = settings.ENGRAM_LLM | {"base_url": model.base_url}
        model.answer_chat(answer_with())
        with in_workspace(tenant.workspace):
            Session.objects.select_for_update(no_key=True).get(pk=session.pk)
            doing = pool.submit(alone(judging))
            wait_until_it_waits(doing)  # it holds the memories, and asks for the session
            lock(list(Memory.objects.values_list("pk", flat=True)))
        assert doing.result(PATIENCE_SECONDS) == ([session.pk], 2)
    assert len(model.requests) == 2  # one an order
    found = judgement_of(tenant)
    assert (found.status, found.kind, found.attempts) == ("done", "model", 1)
    assert found.raw["reasoning"] == "The wind sensor decided it."
