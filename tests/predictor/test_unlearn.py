"""Erasing takes back what was learned from what is erased: weights go, others are learned."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from io import StringIO
from itertools import count
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from engram.kernel.actors import SYSTEM
from engram.kernel.models import Event
from engram.kernel.refusals import InvalidError, MissingError
from engram.kernel.tenancy import in_workspace
from memories.models import Memory, Observation, Revision, Session, SessionCandidate
from memories.services.lifecycle.erase import erase
from memories.services.lifecycle.forget import forget
from memories.services.sessions.erase import delete_session
from memories.signals import memories_erased
from predictor.core.governance import Phase
from predictor.models import Label, ModelVersion, Training, TrainingLease, TrainingStatus
from predictor.services.models import store, transfer
from predictor.services.serving.rank_session import rank_session
from predictor.services.state import lock_state, state_of
from predictor.services.training import turn
from predictor.services.training.due import drop_training_due, training_lease
from predictor.services.training.train import trial
from predictor.services.training.unlearn import SERVES_AT_MOST, TRAININGS_AT_ONCE, unlearn
from tests.conftest import NOW, Tenant, build_tenant
from tests.killing import kill_at
from tests.predictor.judged import World, build_world, train_meanwhile
from tests.predictor.judged_sessions import begin, commit
from tests.predictor.serving import configure, governor, make_request, promote
from tests.predictor.test_train import LATER, due, run, served, trained

pytestmark = pytest.mark.usefixtures("trainings_run_once")

GONE = LATER + timedelta(hours=1)  # when something is erased
THEN = LATER + timedelta(hours=2)


@pytest.fixture
def world(tenant: Tenant) -> World:
    """Return a workspace whose second version serves."""
    built = build_world(tenant.workspace, 30)
    trained(tenant.workspace, seed=3)
    trained(tenant.workspace, "interval", seed=4)
    return built


def take_out(world: World, *memories: Memory, now: datetime = GONE) -> None:
    for memory in memories:
        erase(world.workspace, memory.pk, actor=SYSTEM, now=now)


def kept(world: World) -> list[int]:
    """Return the versions whose weights are there."""
    with in_workspace(world.workspace):
        found = ModelVersion.objects.exclude(checkpoint=None).order_by("number")
        return list(found.values_list("number", flat=True))


def marked(world: World) -> list[int]:
    with in_workspace(world.workspace):
        found = ModelVersion.objects.exclude(erased_at=None).order_by("number")
        return list(found.values_list("number", flat=True))


def waiting(world: World) -> tuple[datetime | None, str]:
    with in_workspace(world.workspace):
        lease = training_lease()
        return lease.due_at, lease.reason


def events(world: World, kind: str) -> list[Any]:
    with in_workspace(world.workspace):
        return list(Event.objects.filter(type=kind).order_by("seq").values_list("data", flat=True))


def teach_the_opposite(world: World) -> None:
    """Let what is learned from now on rank the canary badly."""
    with in_workspace(world.workspace):
        for label in Label.objects.filter(session__canary=None):
            Label.objects.filter(pk=label.pk).update(final=1 - (label.final or 0))


def test_erasing_a_memory_drops_kept_weights_and_learns_others_without_it(
    tenant: Tenant, neighbour: Tenant, world: World
) -> None:
    theirs = build_world(neighbour.workspace, 30)
    trained(neighbour.workspace)
    trained(neighbour.workspace, "interval")
    before = served(neighbour.workspace)
    assert kept(world) == [1, 2]
    memory = world.memories[0]
    take_out(world, memory)
    assert (kept(world), marked(world)) == ([2], [1, 2])
    assert waiting(world) == (GONE, "erased")
    assert events(world, "predictor.unlearned") == [{"versions": [1, 2], "served": 2}]
    assert turn.stalled(GONE) == [tenant.workspace.pk]
    read, _ = trial(tenant.workspace, reason="erased", seed=1, now=THEN)
    assert memory.pk not in {i for session in read.sessions for i in session.memory_ids}
    training = run(tenant.workspace, at=THEN)
    assert training is not None
    assert (training.status, training.reason) == (TrainingStatus.PROMOTED, "erased")
    assert training.replay_count == 0  # from all sessions
    assert (training.base_version, training.version) == (2, 3)
    assert served(tenant.workspace)[0] == 3
    assert (kept(world), marked(world), waiting(world)) == ([3], [1, 2], (None, ""))
    assert turn.stalled(THEN) == []
    assert (kept(theirs), marked(theirs), waiting(theirs)) == ([1, 2], [], (None, ""))
    assert served(neighbour.workspace) == before


def test_forgetting_keeps_what_was_learned(world: World) -> None:
    forget(world.workspace, [world.memories[0].pk], actor=SYSTEM, now=GONE)
    assert (kept(world), marked(world), waiting(world)) == ([1, 2], [], (None, ""))


def test_versions_older_than_what_is_erased_stay(tenant: Tenant, world: World) -> None:
    young = commit(tenant, "The young oak stands by the gate.")
    erase(tenant.workspace, young, actor=SYSTEM, now=GONE)
    assert (kept(world), marked(world), waiting(world)) == ([1, 2], [], (None, ""))


@pytest.mark.parametrize("told", ["observation", "former wording", "context"])
def test_what_was_told_before_in_another_place_counts(
    tenant: Tenant, world: World, told: str
) -> None:
    text = "The young oak stands by the gate."
    young = commit(tenant, text)
    old = world.memories[0]
    with in_workspace(tenant.workspace):
        digest = Memory.objects.get(pk=young).content_hash
        if told == "observation":
            seen = Observation.objects.get(memory=young)
            seen.pk, seen.memory, seen.created_at = None, old, NOW
            seen.save()
        elif told == "former wording":
            Revision.objects.create(
                memory=old, number=1, content=text, content_hash=digest, created_at=GONE
            )
        else:
            Session.objects.filter(pk=world.sessions[0].pk).update(context=f"I say: {text}")
    erase(tenant.workspace, young, actor=SYSTEM, now=GONE)
    assert marked(world) == [1, 2]


def test_many_erasings_make_one_training_due(world: World) -> None:
    take_out(world, world.memories[0])
    take_out(world, *world.memories[1:6], now=GONE + timedelta(seconds=1))
    assert waiting(world) == (GONE, "erased")
    assert len(events(world, "predictor.unlearned")) == 1
    run(world.workspace, at=THEN)
    with in_workspace(world.workspace):
        assert Training.objects.filter(reason="erased").count() == 1


def test_unlearning_asks_as_often_for_a_hundred_versions_as_for_one(
    tenant: Tenant, neighbour: Tenant
) -> None:
    counts = []
    for one, versions in ((tenant, 1), (neighbour, 100)):
        for number in range(1, versions + 1):
            promote(one.workspace, b"weights", number=number)
        with in_workspace(one.workspace), CaptureQueriesContext(connection) as asked_for:
            unlearn(lock_state(GONE), 1, GONE)
        counts.append(len(asked_for))
        with in_workspace(one.workspace):
            assert ModelVersion.objects.exclude(checkpoint=None).count() == 1
    assert counts[0] == counts[1]


def test_a_worker_that_dies_leaves_the_training_due(transactional_db: None) -> None:
    tenant = build_tenant("busy")
    world = build_world(tenant.workspace, 15)
    trained(tenant.workspace)
    take_out(world, world.memories[0])
    task = "predictor.tasks.train_workspace"
    kill_at(tenant, task, "predictor.services.training.train", "promote.finish", "before")
    assert (kept(world), waiting(world)) == ([1], (GONE, "erased"))
    with in_workspace(tenant.workspace):
        began = Training.objects.get(reason="erased").started_at
    now = began + TrainingLease.silence + timedelta(seconds=5)
    (found,) = turn.stalled(now)
    training = turn.train_turn(found, clock=lambda: now, rng=np.random.default_rng(2))
    assert training is not None
    assert training.status == TrainingStatus.PROMOTED
    assert (kept(world), served(tenant.workspace)[0]) == ([2], 2)


def test_a_training_that_may_have_read_it_does_not_promote(tenant: Tenant) -> None:
    world = build_world(tenant.workspace, 20)
    due(tenant.workspace)

    def erasing(now: datetime) -> None:
        with in_workspace(tenant.workspace):
            is_there = Memory.objects.filter(pk=world.memories[0].pk).exists()
        if is_there:
            take_out(world, world.memories[0], now=GONE)

    training = train_meanwhile(tenant.workspace, erasing, clock=lambda: LATER)
    assert training is not None
    assert training.status == TrainingStatus.FAILED
    assert "erased" in training.error
    assert served(tenant.workspace) == (None, b"")
    assert waiting(world) == (GONE, "first")
    again = run(tenant.workspace, at=THEN)
    assert again is not None
    assert again.status == TrainingStatus.PROMOTED


def test_who_erases_on_and_on_interrupts_few_trainings(tenant: Tenant, world: World) -> None:
    take_out(world, world.memories[0])
    left = iter(world.memories[1:])
    ticks = (THEN + timedelta(milliseconds=n) for n in count())

    def erasing(now: datetime) -> None:
        take_out(world, next(left), now=now)

    for _ in range(TRAININGS_AT_ONCE):
        training = train_meanwhile(tenant.workspace, erasing, clock=lambda: next(ticks))
        assert training is not None
        assert training.status == TrainingStatus.FAILED
    assert run(tenant.workspace, at=THEN + timedelta(seconds=30)) is None
    assert waiting(world)[1] == "erased"
    done = run(tenant.workspace, at=THEN + timedelta(seconds=61))
    assert done is not None
    assert done.status == TrainingStatus.PROMOTED


def order(tenant: Tenant, key: str) -> Sequence[UUID]:
    """Start a session; return what it was given, in its order."""
    session = begin(tenant, key, k=8, now=THEN + timedelta(hours=1), context="topic1 fact3 word2")
    with in_workspace(tenant.workspace):
        rows = SessionCandidate.objects.filter(session=session, was_injected=True)
        return list(rows.order_by("rank").values_list("memory_id", flat=True))


def test_a_gate_that_fails_drops_the_served_version(tenant: Tenant, world: World) -> None:
    configure(tenant.workspace, predictor_mode="on", session_min_relevance=0)
    take_out(world, world.memories[0])
    teach_the_opposite(world)
    training = run(tenant.workspace, at=THEN)
    assert training is not None
    assert training.status == TrainingStatus.REJECTED
    with in_workspace(tenant.workspace):
        state = state_of()
        assert (state.served, state.last_dropped) == (None, 2)
        assert (state.phase, state.alpha, state.scored_sessions) == ("collecting", 1.0, 0)
    assert (kept(world), waiting(world)) == ([], (None, ""))
    assert events(world, "predictor.reset") == [{"reason": "erased", "version": 2}]
    assert turn.stalled(THEN) == []
    tenant.workspace.refresh_from_db()
    with in_workspace(tenant.workspace):
        found = rank_session(make_request(tenant.workspace))
    assert (found.scores, found.alpha, found.no_opinion_reason) == ({}, 1.0, "no_model")
    without = order(tenant, "dropped")
    configure(tenant.workspace, predictor_mode="off", session_min_relevance=0)
    assert (len(without), order(tenant, "off")) == (8, without)


def test_a_training_that_is_given_up_drops_the_served_version(world: World) -> None:
    take_out(world, world.memories[0])
    with in_workspace(world.workspace):
        for _ in range(3):
            Training.objects.create(status=TrainingStatus.FAILED, reason="erased", started_at=GONE)
    assert run(world.workspace, at=THEN) is None
    assert (served(world.workspace), kept(world)) == ((None, b""), [])


def test_too_few_sessions_left_drop_the_served_version(tenant: Tenant) -> None:
    world = build_world(tenant.workspace, 12)
    trained(tenant.workspace)
    for session in world.sessions[:2]:
        delete_session(tenant.workspace, session.session_key, actor=SYSTEM, now=GONE)
    training = run(tenant.workspace, at=THEN)
    assert training is not None
    assert training.status == TrainingStatus.PROMOTED  # ten are enough
    delete_session(tenant.workspace, world.sessions[5].session_key, actor=SYSTEM, now=THEN)
    assert waiting(world) == (THEN, "erased")
    training = run(tenant.workspace, at=THEN + timedelta(minutes=5))
    assert training is not None
    assert (training.status, training.error) == (
        TrainingStatus.SKIPPED,
        "There are too few sessions to learn from.",
    )
    assert (served(tenant.workspace), kept(world)) == ((None, b""), [])


def test_a_session_counts_once_something_was_learned_from_it(tenant: Tenant, world: World) -> None:
    with in_workspace(tenant.workspace):
        canary = Session.objects.exclude(canary=None).first()
        learned = Training.objects.get(version=1).trained_session_ids[0]
        key = Session.objects.get(pk=learned).session_key
    assert canary is not None
    delete_session(tenant.workspace, canary.session_key, actor=SYSTEM, now=GONE)
    assert (marked(world), waiting(world)) == ([], (None, ""))
    answer = tenant.admin.delete(f"sessions/{key}")
    assert answer.status_code == 204
    assert (kept(world), marked(world)) == ([2], [1, 2])
    assert waiting(world)[1] == "erased"


def test_a_manual_training_that_fails_leaves_the_due_one_to_the_sweep(world: World) -> None:
    take_out(world, world.memories[0])
    with in_workspace(world.workspace):
        drop_training_due(world.workspace.pk)
    assert turn.stalled(THEN) == [world.workspace.pk]
    assert waiting(world) == (THEN, "erased")


@pytest.mark.parametrize("when", ["before", "after", "unnoticed"])
def test_where_the_predictor_is_off_the_served_version_goes(world: World, when: str) -> None:
    workspace = world.workspace
    if when == "before":
        off = configure(workspace, predictor_mode="off")
    take_out(world, world.memories[0])
    if when != "before":
        off = configure(workspace, predictor_mode="off")
        assert kept(world) == [2]
        if when == "after":
            assert run(off, at=THEN) is None
        else:
            assert turn.stalled(THEN) == []
    assert (served(workspace), kept(world), waiting(world)) == ((None, b""), [], (None, ""))


def test_a_reset_lets_erased_weights_go(tenant: Tenant, world: World) -> None:
    take_out(world, world.memories[0])
    assert tenant.admin.post("predictor/reset").status_code == 200
    assert kept(world) == []


def test_imported_and_base_weights_go_unless_they_were_learned_elsewhere(world: World) -> None:
    workspace = world.workspace
    _, raw = served(workspace)
    for is_base in (True, False):
        for is_learned_here in (True, False):
            transfer.import_checkpoint(
                workspace, raw, is_base=is_base, is_learned_here=is_learned_here, actor=SYSTEM,
                now=LATER,
            )  # fmt: skip
    take_out(world, world.memories[0])
    assert marked(world) == [1, 2, 3, 5]
    assert kept(world) == [4, 6]  # learned elsewhere: the base, and what serves
    assert waiting(world) == (None, "")
    with in_workspace(workspace):
        base = store.base_of(workspace.embedding_model)
    assert base is not None
    assert base[0].number == 4


def test_who_imports_a_file_vouches_for_it(world: World, tmp_path: Path) -> None:
    _, raw = served(world.workspace)
    file = tmp_path / "model.sgpt"
    file.write_bytes(raw)
    for options in ((), ("--learned-elsewhere",)):
        call_command(
            "import_model", str(file), *options, workspace=world.workspace.slug, stdout=StringIO()
        )
    with in_workspace(world.workspace):
        found = ModelVersion.objects.filter(origin="imported").order_by("number")
        assert list(found.values_list("is_learned_here", flat=True)) == [True, False]


def test_weights_that_may_hold_what_was_erased_do_not_leave_or_come_back(world: World) -> None:
    _, raw = served(world.workspace)
    take_out(world, world.memories[0])
    for number in (None, 1, 2):
        with pytest.raises(MissingError, match="may hold what was erased"):
            transfer.export_checkpoint(world.workspace, number)
    run(world.workspace, at=THEN)
    for is_learned_here in (True, False):
        with pytest.raises(InvalidError, match="erased"):
            transfer.import_checkpoint(
                world.workspace, raw, is_learned_here=is_learned_here, actor=SYSTEM, now=THEN
            )
    assert transfer.export_checkpoint(world.workspace)[0].number == 3


@pytest.mark.parametrize("flags", [1, 2, 3])
@pytest.mark.parametrize("is_base", [False, True])
def test_erased_weights_do_not_come_back_under_other_flags(
    world: World, flags: int, is_base: bool
) -> None:
    _, raw = served(world.workspace)
    take_out(world, world.memories[0])
    changed = raw[:8] + bytes([flags]) + raw[9:]
    with pytest.raises(InvalidError, match="model_v2, which may hold something erased"):
        transfer.import_checkpoint(
            world.workspace, changed, is_base=is_base, actor=SYSTEM, now=THEN
        )
    assert (kept(world), marked(world)) == ([2], [1, 2])


def test_people_are_told_that_a_training_after_an_erasing_is_due(
    tenant: Tenant, neighbour: Tenant, world: World
) -> None:
    take_out(world, world.memories[0])
    found = tenant.reader.get("predictor/status").json()["next_training"]
    assert (found["is_running"], found["reason"]) == (False, "erased")
    assert "erased" in found["says"]
    told = tenant.reader.get("diagnostics/predictor").json()["fields"]["training_due"]
    assert (told["reason"], told["since"][:19]) == ("erased", GONE.isoformat()[:19])
    assert neighbour.reader.get("diagnostics/predictor").json()["fields"]["training_due"] is None


def test_evidence_goes_on_with_the_version_that_was_learned_without_it(world: World) -> None:
    with in_workspace(world.workspace):
        state = lock_state(LATER)
        state.governor = governor(Phase.ACTIVE).to_json()
        state.save()
    take_out(world, world.memories[0])
    run(world.workspace, at=THEN)
    with in_workspace(world.workspace):
        state = state_of()
        assert (state.served, state.phase) == (3, "active")
        assert state.alpha < 1.0


def test_listeners_are_told_since_when_a_memory_was_known(tenant: Tenant, world: World) -> None:
    told: list[int] = []

    def listen(sender: Any, *, first_seq: int, **_: Any) -> None:
        told.append(first_seq)

    young = commit(tenant, "The young oak stands by the gate.")
    with in_workspace(tenant.workspace):
        first = Event.objects.filter(object_id=str(young)).order_by("seq")[0].seq
    memories_erased.connect(listen)
    try:
        erase(world.workspace, young, actor=SYSTEM, now=GONE)
        take_out(world, world.memories[0])  # of which history does not tell
    finally:
        memories_erased.disconnect(listen)
    assert told == [first, 0]


@pytest.mark.parametrize("told", ["memory", "context"])
def test_a_clock_that_went_back_hides_no_version(tenant: Tenant, told: str) -> None:
    build_world(tenant.workspace, 30)
    text = "The young oak stands by the gate."
    ahead = LATER + timedelta(days=300)
    if told == "memory":
        memory = commit(tenant, text)
    else:
        begin(tenant, context=f"I say: {text}")
    trained(tenant.workspace)
    if told == "context":
        memory = commit(tenant, text)
    with in_workspace(tenant.workspace):
        Memory.objects.filter(pk=memory).update(created_at=ahead)
        Session.objects.filter(session_key="s1").update(started_at=ahead)
    erase(tenant.workspace, memory, actor=SYSTEM, now=ahead + timedelta(hours=1))
    with in_workspace(tenant.workspace):
        assert ModelVersion.objects.get().erased_at == ahead + timedelta(hours=1)


def test_a_session_goes_by_the_first_version_that_learned_from_it(
    tenant: Tenant, world: World
) -> None:
    with in_workspace(tenant.workspace):
        learned = Training.objects.get(version=1).trained_session_ids[0]
        key = Session.objects.get(pk=learned).session_key
        ModelVersion.objects.filter(number=2).update(created_at=NOW)  # the clock went back
        Training.objects.filter(version=2).update(started_at=NOW, trained_session_ids=[])
    delete_session(tenant.workspace, key, actor=SYSTEM, now=GONE)
    assert marked(world) == [1, 2]


@pytest.mark.parametrize("noticed", ["by the sweep", "by the next erasing"])
def test_who_erases_on_and_on_ends_what_an_erased_version_serves(
    tenant: Tenant, world: World, noticed: str
) -> None:
    take_out(world, world.memories[0])
    last = GONE + SERVES_AT_MOST
    take_out(world, world.memories[1], now=last)
    assert turn.stalled(last) == [tenant.workspace.pk]
    assert served(tenant.workspace)[0] == 2
    over = last + timedelta(seconds=1)
    if noticed == "by the sweep":
        assert turn.stalled(over) == [tenant.workspace.pk]
    else:
        take_out(world, world.memories[2], now=over)
    assert (served(tenant.workspace), kept(world)) == ((None, b""), [])
    assert events(world, "predictor.reset") == [{"reason": "erased", "version": 2}]
    assert waiting(world) == (over, "erased")
    training = run(tenant.workspace, at=over)
    assert training is not None
    assert training.status == TrainingStatus.PROMOTED
    with in_workspace(tenant.workspace):
        state = state_of()
        assert (state.served, state.alpha, state.success_rate) == (3, 1.0, 0.5)


def test_a_clock_that_went_back_lets_no_erased_version_serve_on(world: World) -> None:
    take_out(world, world.memories[0])
    assert turn.stalled(NOW) == [world.workspace.pk]
    assert served(world.workspace) == (None, b"")


def test_a_training_that_began_in_time_may_end(tenant: Tenant, world: World) -> None:
    take_out(world, world.memories[0])
    over = GONE + SERVES_AT_MOST + timedelta(seconds=1)

    def look(now: datetime) -> None:
        assert turn.stalled(over) == []

    training = train_meanwhile(tenant.workspace, look, clock=lambda: over)
    assert training is not None
    assert training.status == TrainingStatus.PROMOTED
    assert served(tenant.workspace)[0] == 3
