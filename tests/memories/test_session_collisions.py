"""A session's calls beside others: what the database ended in a deadlock is done again."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import timedelta
from random import Random
from typing import Any

import pytest
from django.db import DatabaseError, OperationalError, connection, transaction

from engram.kernel.collisions import AGAIN, ATTEMPTS, retry_on_collision
from engram.kernel.locks import one_at_a_time
from engram.kernel.models import Event, Workspace
from engram.kernel.refusals import StaleError
from engram.kernel.tenancy import in_workspace, set_database_variable
from memories.models import Memory, Session, SessionCandidate
from memories.services.sessions.end import end_session
from memories.services.sessions.prompts import prompt
from memories.services.sessions.start import SessionRequest, start_session
from tests.conftest import NOW, Tenant, build_tenant
from tests.homes import PATIENCE_SECONDS
from tests.memories.session_world import AGENT, begin, remember

LOCK_NOT_AVAILABLE = "55P03"
LATER = NOW + timedelta(minutes=5)
DOG = "Biscuit is the dog of the office."
ASKED = "Is Biscuit the dog of the office?"
WAITING = (
    "SELECT count(*) FROM pg_stat_activity"
    " WHERE datname = current_database() AND wait_event_type = 'Lock'"
)


@pytest.fixture
def shared_tenant(transactional_db: None) -> Tenant:
    """Return a workspace that several connections see."""
    return build_tenant("busy")


def wait_until_it_waits(doing: Future[Any]) -> None:
    """Wait until another connection waits for a lock."""
    until = time.monotonic() + PATIENCE_SECONDS
    while True:
        with connection.cursor() as cursor:
            cursor.execute(WAITING)
            waiting = cursor.fetchone()[0]
        if waiting:
            return
        assert not doing.done(), doing.result()
        assert time.monotonic() < until
        time.sleep(0.005)


def in_a_ring(tenant: Tenant, work: Callable[[], Any], then: Callable[[], Any]) -> Any:
    """Hold what `work` asks for last, then ask for what it holds: `work` is ended for it.

    The database looks for a ring once somebody has waited for a second: nobody but `work` does.
    """

    def alone() -> Any:
        try:
            return work()
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        with in_workspace(tenant.workspace):
            Workspace.objects.select_for_update().get(pk=tenant.workspace.pk)
            doing = pool.submit(alone)
            wait_until_it_waits(doing)
            ask_for_short(then)
        return doing.result(PATIENCE_SECONDS)


def ask_for_short(then: Callable[[], Any]) -> None:
    """Ask for a lock again and again, each time for less than a second."""
    until = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < until:
        try:
            with transaction.atomic():
                set_database_variable("lock_timeout", "600ms")
                then()
                return
        except OperationalError as error:
            if getattr(error.__cause__, "sqlstate", None) != LOCK_NOT_AVAILABLE:
                raise
    raise AssertionError("nobody was ended in a deadlock")


def lock_session() -> None:
    Session.objects.select_for_update().get(session_key="s1")


def test_a_start_that_met_another_writer_is_done_again_and_draws_alike(
    shared_tenant: Tenant,
) -> None:
    dog = remember(shared_tenant, DOG)
    workspace, drawn = shared_tenant.workspace, Random("s1")
    started = in_a_ring(
        shared_tenant,
        lambda: start_session(workspace, SessionRequest("s1"), actor=AGENT, now=LATER, rng=drawn),
        lambda: one_at_a_time(f"session:{workspace.pk}:s1"),
    )
    assert started.is_new
    assert [one.memory_id for one in started.offered] == [dog]
    assert drawn.getstate() == Random("s1").getstate()
    with in_workspace(workspace):
        assert (Session.objects.count(), SessionCandidate.objects.count()) == (1, 1)
        assert Event.objects.filter(type="session.started").count() == 1
        assert Memory.objects.get().injected_count == 1


def test_a_prompt_that_met_another_writer_counts_once(shared_tenant: Tenant) -> None:
    remember(shared_tenant, DOG)
    begin(shared_tenant)
    found = in_a_ring(
        shared_tenant,
        lambda: prompt(
            shared_tenant.workspace,
            "s1",
            "Is Biscuit the dog of the office?",
            actor=AGENT,
            now=LATER,
        ),
        lock_session,
    )
    assert found.is_counted
    with in_workspace(shared_tenant.workspace):
        assert (Memory.objects.get().hit_count, Session.objects.get().prompt_count) == (1, 1)
        assert Event.objects.filter(type="session.prompted").count() == 1


def test_an_end_that_met_another_writer_ends_once(shared_tenant: Tenant) -> None:
    remember(shared_tenant, DOG)
    begin(shared_tenant)
    in_a_ring(
        shared_tenant,
        lambda: end_session(shared_tenant.workspace, "s1", "x" * 600, actor=AGENT, now=LATER),
        lock_session,
    )
    with in_workspace(shared_tenant.workspace):
        assert Session.objects.get().ended_at == LATER
        assert Event.objects.filter(type="session.ended").count() == 1


def failing(state: str, calls: list[int]) -> None:
    calls.append(1)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"DO $$ BEGIN RAISE SQLSTATE '{state}'; END $$")


@pytest.mark.parametrize("state", ["40P01", "40001", "23503", "23505"])
def test_who_meets_others_every_time_is_refused_after_a_few(db: None, state: str) -> None:
    calls: list[int] = []
    with pytest.raises(StaleError, match=AGAIN):
        retry_on_collision(failing)(state, calls)
    assert len(calls) == ATTEMPTS


@pytest.mark.parametrize("state", ["23502", "22003", "57014"])
def test_mistakes_of_ours_are_made_once(db: None, state: str) -> None:
    calls: list[int] = []
    with pytest.raises(DatabaseError):
        retry_on_collision(failing)(state, calls)
    assert len(calls) == 1
