"""The first session of a version in a process: it waits for the weights so long and no longer."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection

from engram.kernel.models import StageError
from engram.kernel.tenancy import in_workspace
from memories.services.sessions.ranker_hook import RankerAnswer
from predictor.core.governance import Phase
from predictor.models import ModelVersion, PredictorState
from predictor.services.serving import served
from predictor.services.serving.deadline import Deadline
from predictor.services.serving.rank_session import rank_session
from predictor.services.serving.served import ModelCache
from tests.conftest import Tenant, build_tenant
from tests.homes import PATIENCE_SECONDS
from tests.predictor.serving import configure, make_request, promote, state


@pytest.fixture
def cold(transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> Tenant:
    """Return a workspace with an active model that this process has never read."""
    monkeypatch.setattr(served, "cache", ModelCache())
    monkeypatch.setattr(served, "_loading", Deadline(1, name="loading"))
    tenant = build_tenant("cold")
    promote(tenant.workspace, phase=Phase.ACTIVE)
    return tenant


def start(tenant: Tenant, number: int, **settings: object) -> RankerAnswer:
    """Start a session and commit it."""
    workspace = configure(tenant.workspace, predictor_mode="on", **settings)
    with in_workspace(workspace):
        return rank_session(make_request(workspace, session_key=f"s-{number}"))


def codes(tenant: Tenant) -> list[str]:
    with in_workspace(tenant.workspace):
        return list(StageError.objects.values_list("code", flat=True))


@contextmanager
def weights_locked() -> Iterator[None]:
    """Let nobody read the weights meanwhile, as a migration of their table does."""
    other = connection.copy()
    other.set_autocommit(False)
    try:
        with other.cursor() as cursor:
            cursor.execute(f"LOCK TABLE {ModelVersion._meta.db_table} IN ACCESS EXCLUSIVE MODE")
        yield
    finally:
        other.rollback()
        other.close()


def wait_until_held(tenant: Tenant) -> None:
    until = time.monotonic() + PATIENCE_SECONDS
    while served.cache.get(tenant.workspace.pk, 1) is None:
        assert time.monotonic() < until
        time.sleep(0.01)


def threads_of_loading() -> int:
    return sum(thread.name == "loading" for thread in threading.enumerate())


def test_weights_that_cannot_be_read_in_time_hold_up_no_session(cold: Tenant) -> None:
    with weights_locked():
        found = [start(cold, number, score_timeout_ms=30) for number in range(4)]
        reading = threads_of_loading()
    wait_until_held(cold)

    assert {(one.no_opinion_reason, one.alpha, len(one.scores)) for one in found} == {
        ("loading", 1.0, 0)
    }
    assert {len(one.signals) for one in found} == {8}
    assert reading == 1  # whatever number of sessions were late
    assert codes(cold) == ["predictor_loading"] * 4
    assert state(cold.workspace).disabled_until is None
    later = start(cold, 5)
    assert (later.model_version, len(later.scores)) == (1, 8)
    assert codes(cold) == ["predictor_loading"] * 4


def test_weights_that_cannot_be_decoded_in_time_hold_up_no_session(cold: Tenant) -> None:
    go_on = threading.Event()
    served._loading.begin(lambda: go_on.wait(PATIENCE_SECONDS))
    found = start(cold, 1, score_timeout_ms=200)
    go_on.set()

    assert (found.scores, found.alpha, found.no_opinion_reason) == ({}, 1.0, "loading")
    assert codes(cold) == ["predictor_loading"]
    assert len(start(cold, 2).scores) == 8


def test_the_time_of_statements_is_given_back(cold: Tenant) -> None:
    with in_workspace(cold.workspace), connection.cursor() as cursor:
        served.load(1, PATIENCE_SECONDS)
        cursor.execute("SHOW statement_timeout")
        assert cursor.fetchone() == ("0",)


def test_a_version_is_read_by_one_statement_that_has_all_the_time(cold: Tenant) -> None:
    reads = []

    def note(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        reads.extend([sql] if "predictor_modelversion" in sql else [])
        return execute(sql, params, many, context)

    with in_workspace(cold.workspace), connection.execute_wrapper(note):
        model = served.load(1, PATIENCE_SECONDS)
    assert (model.number, model.embedding_model) == (1, cold.workspace.embedding_model)
    assert model.scorer is not None
    assert len(reads) == 1


def test_a_load_behind_that_finds_nothing_leaves_nothing(cold: Tenant) -> None:
    served.load_in_background(cold.workspace.pk, 2)
    until = time.monotonic() + PATIENCE_SECONDS
    while threads_of_loading() and time.monotonic() < until:
        time.sleep(0.01)

    assert threads_of_loading() == 0
    assert served.cache.get(cold.workspace.pk, 2) is None
    assert len(start(cold, 1).scores) == 8


def test_a_process_lets_go_of_what_its_workspace_serves_no_more(cold: Tenant) -> None:
    other = build_tenant("other").workspace
    promote(other, phase=Phase.ACTIVE)
    with in_workspace(other):
        served.load(1, PATIENCE_SECONDS)
    assert start(cold, 1).model_version == 1
    promote(cold.workspace, number=2, phase=Phase.ACTIVE)
    assert start(cold, 2).model_version == 2
    own = cold.workspace.pk
    assert [served.cache.get(own, number) is None for number in (1, 2)] == [True, False]
    with in_workspace(cold.workspace):
        PredictorState.objects.update(served=None)
    assert start(cold, 3).no_opinion_reason == "no_model"
    assert served.cache.get(own, 2) is None
    with in_workspace(other):
        assert served.cache.get(other.pk, 1) is served.load(1, PATIENCE_SECONDS)


def test_a_process_lets_go_of_the_models_of_who_switched_them_off(cold: Tenant) -> None:
    start(cold, 1)
    with in_workspace(cold.workspace):
        rank_session(
            make_request(configure(cold.workspace, predictor_mode="off"), session_key="s-2")
        )
    assert served.cache.get(cold.workspace.pk, 1) is None
