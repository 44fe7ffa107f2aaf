"""What every lease does, whoever uses it: the rows of each model are put through the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import timedelta
from threading import Barrier
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.db import connections
from django.db.models import QuerySet

from engram.console.models import Digest, DigestMail, WebhookDelivery, WebhookEndpoint
from engram.kernel.lease import (
    Lease,
    TakenOverError,
    WorkspaceLease,
    acquire,
    lease_of,
    release,
    renew,
    renew_or_raise,
    revoke,
    stalled,
)
from engram.kernel.models import Job, Workspace
from engram.kernel.tenancy import in_workspace
from engram.kernel.workspace_deletions import WorkspaceDeletion
from memories.models import Session
from predictor.models import Judgement
from tests.conftest import NOW

SECOND = timedelta(seconds=1)
MODELS = [model for model in apps.get_models() if issubclass(model, Lease)]


def judgement(workspace: Workspace) -> QuerySet[Judgement]:
    """Return the lease of a session that is to be judged."""
    session = Session(session_key="s", started_at=NOW, k=5, budget_chars=0)
    Session.objects.bulk_create([session])
    made = Judgement.objects.create(session=session, due_at=NOW)
    return Judgement.objects.filter(pk=made.pk)


def job(workspace: Workspace) -> QuerySet[Job]:
    """Return the lease of a job that is queued."""
    made = Job.objects.create(
        kind="extraction", caller="system:", role="agent", created_at=NOW, due_at=NOW
    )
    return Job.objects.filter(pk=made.pk)


def mail(workspace: Workspace) -> QuerySet[DigestMail]:
    """Return the lease of a mail that waits."""
    digest = Digest.objects.create(day=NOW.date(), made_at=NOW, open_count=1)
    user = User.objects.create_user(f"reader-{uuid4()}")
    made = DigestMail.objects.create(digest=digest, user=user, queued_at=NOW, due_at=NOW)
    return DigestMail.objects.filter(pk=made.pk)


def deletion(workspace: Workspace) -> QuerySet[WorkspaceDeletion]:
    """Return the lease of the deletion of a workspace."""
    made = WorkspaceDeletion.objects.create(
        target=workspace.pk, caller="system:", requested_at=NOW, due_at=NOW
    )
    return WorkspaceDeletion.objects.filter(pk=made.pk)


def delivery(workspace: Workspace) -> QuerySet[WebhookDelivery]:
    """Return the lease of a delivery that waits."""
    endpoint = WebhookEndpoint.objects.create(url="https://a.example/", events=[], created_at=NOW)
    made = WebhookDelivery.objects.create(
        endpoint=endpoint, kind="conflict.opened", at=NOW, queued_at=NOW, due_at=NOW
    )
    return WebhookDelivery.objects.filter(pk=made.pk)


# Leases of work of which a workspace has many: how one is made.
MADE: dict[type[Lease], Callable[[Workspace], QuerySet[Any]]] = {
    WorkspaceDeletion: deletion,
    Job: job,
    Judgement: judgement,
    DigestMail: mail,
    WebhookDelivery: delivery,
}


@dataclass(frozen=True)
class Held:
    """A lease of one workspace, and where its rows can be seen."""

    rows: QuerySet[Lease]
    silence: timedelta
    planned_ahead: timedelta
    visible: Callable[[], AbstractContextManager[None]]


@contextmanager
def lease_in(model: type[Lease], slug: str) -> Iterator[Held]:
    """Make a workspace and its lease."""
    workspace = Workspace.objects.create(slug=slug, name=slug)
    if issubclass(model, WorkspaceLease):
        rows: QuerySet[Lease] = lease_of(model, workspace.pk)
        yield Held(rows, model.silence, model.planned_ahead, nullcontext)
        return
    with in_workspace(workspace):
        made = MADE[model](workspace)
        yield Held(made, model.silence, model.planned_ahead, lambda: in_workspace(workspace))


@pytest.fixture(params=MODELS, ids=lambda model: model.__name__)
def held(db: None, request: pytest.FixtureRequest) -> Iterator[Held]:
    """Return the lease of each model in turn."""
    with lease_in(request.param, "one") as held:
        yield held


def test_there_are_leases_of_both_kinds() -> None:
    assert len(MODELS) >= 4
    assert [model for model in MODELS if not issubclass(model, WorkspaceLease)] == list(MADE)


def test_one_holds_it_at_a_time(held: Held) -> None:
    one, other = uuid4(), uuid4()
    assert acquire(held.rows, one, NOW)
    assert not acquire(held.rows, other, NOW)
    assert not acquire(held.rows, one, NOW)  # who works holds it once
    assert renew(held.rows, one, NOW + SECOND)
    assert not renew(held.rows, other, NOW + SECOND)
    assert release(held.rows, one)
    assert not release(held.rows, one)
    assert acquire(held.rows, other, NOW)


def test_a_holder_that_died_is_replaced_after_its_silence(held: Held) -> None:
    dead, next_one = uuid4(), uuid4()
    assert acquire(held.rows, dead, NOW)
    assert not acquire(held.rows, next_one, NOW + held.silence)
    assert held.rows.get().is_held(NOW + held.silence)
    after = NOW + held.silence + SECOND
    assert not held.rows.get().is_held(after)
    assert acquire(held.rows, next_one, after)


def test_a_holder_that_renews_is_never_replaced(held: Held) -> None:
    holder = uuid4()
    assert acquire(held.rows, holder, NOW)
    for n in range(1, 6):
        assert renew(held.rows, holder, NOW + n * held.silence)
        assert not acquire(held.rows, uuid4(), NOW + n * held.silence + SECOND)


def test_a_holder_that_was_taken_over_learns_it_and_frees_nothing(held: Held) -> None:
    slow, fast = uuid4(), uuid4()
    assert acquire(held.rows, slow, NOW)
    later = NOW + held.silence + SECOND
    assert acquire(held.rows, fast, later)
    assert not renew(held.rows, slow, later)
    with pytest.raises(TakenOverError):
        renew_or_raise(held.rows, slow, later)
    assert not release(held.rows, slow)
    row = held.rows.get()
    assert (row.holder, row.heartbeat_at) == (fast, later)


def test_a_holder_whose_lease_was_revoked_learns_it(held: Held) -> None:
    holder = uuid4()
    assert acquire(held.rows, holder, NOW)
    assert revoke(held.rows, due_at=NOW + SECOND)
    row = held.rows.get()
    assert (row.holder, row.heartbeat_at, row.due_at) == (None, None, NOW + SECOND)
    assert not renew(held.rows, holder, NOW)
    assert not release(held.rows, holder)
    assert acquire(held.rows, uuid4(), NOW)


def test_a_heartbeat_of_before_the_clock_was_set_back_counts_as_none(held: Held) -> None:
    dead, next_one = uuid4(), uuid4()
    ahead = NOW + timedelta(hours=3)
    assert acquire(held.rows, dead, ahead)
    held.rows.update(due_at=NOW)
    assert not held.rows.get().is_held(NOW)
    assert list(stalled(held.rows, NOW)) == list(held.rows)
    assert acquire(held.rows, next_one, NOW)
    assert not renew(held.rows, dead, NOW)


def test_a_clock_that_is_a_little_behind_takes_nobody_over(held: Held) -> None:
    assert acquire(held.rows, uuid4(), NOW)
    assert not acquire(held.rows, uuid4(), NOW - held.silence)
    assert acquire(held.rows, uuid4(), NOW - held.silence - SECOND)


def test_what_is_due_and_nobody_does_is_stalled(held: Held) -> None:
    held.rows.update(due_at=NOW)
    assert list(stalled(held.rows, NOW)) == list(held.rows)
    holder = uuid4()
    assert acquire(held.rows, holder, NOW)
    assert list(stalled(held.rows, NOW + held.silence)) == []
    assert list(stalled(held.rows, NOW + held.silence + SECOND)) == list(held.rows)
    assert release(held.rows, holder, due_at=NOW + held.planned_ahead)
    is_planned = held.planned_ahead > timedelta(0)
    assert (list(stalled(held.rows, NOW)) == []) == is_planned
    assert list(stalled(held.rows, NOW + held.planned_ahead)) == list(held.rows)


def test_what_was_planned_before_the_clock_was_set_back_is_due(held: Held) -> None:
    held.rows.update(due_at=NOW + held.planned_ahead + SECOND)
    assert list(stalled(held.rows, NOW)) == list(held.rows)


@pytest.mark.parametrize(
    "model", [m for m in MODELS if issubclass(m, WorkspaceLease)], ids=lambda m: m.__name__
)
def test_who_has_waited_longest_comes_first(db: None, model: type[WorkspaceLease]) -> None:
    waits: dict[UUID, int] = {}
    for n, minutes in enumerate((2, 5, 3)):
        workspace = Workspace.objects.create(slug=f"w{n}", name="W")
        lease_of(model, workspace.pk).update(due_at=NOW - timedelta(minutes=minutes))
        waits[workspace.pk] = minutes
    idle = Workspace.objects.create(slug="idle", name="Idle")
    assert lease_of(model, idle.pk).get().due_at is None
    line = [lease.workspace_id for lease in stalled(model._default_manager.all(), NOW)]
    assert [waits[workspace_id] for workspace_id in line] == [5, 3, 2]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_of_many_that_acquire_at_once_one_does(transactional_db: None, model: type[Lease]) -> None:
    with lease_in(model, "busy") as made:
        rows, visible = made.rows, made.visible
    many = 6
    together = Barrier(many)

    def try_it() -> bool:
        try:
            together.wait(30)
            with visible():
                return acquire(rows.all(), uuid4(), NOW)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(many) as pool:
        got = [attempt.result(60) for attempt in [pool.submit(try_it) for _ in range(many)]]
    assert got.count(True) == 1
