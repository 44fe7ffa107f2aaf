"""A training: what it learns from, what it may do to the served model, and what it must not."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from itertools import count
from typing import Any
from uuid import uuid4

import numpy as np
import pytest

from engram.kernel import lease
from engram.kernel.actors import SYSTEM
from engram.kernel.lease import lease_of
from engram.kernel.models import Event, StageError, Workspace
from engram.kernel.tenancy import in_workspace
from memories.services.index.reembed import switch
from predictor.core.features import WidthError
from predictor.core.governance import Governor, SessionOutcome
from predictor.core.scorer import ScoreError, Scorer
from predictor.models import (
    CanarySession,
    Comparison,
    Label,
    ModelVersion,
    PredictorState,
    Training,
    TrainingLease,
    TrainingStatus,
)
from predictor.services.models import store, transfer
from predictor.services.state import governor_of, lock_state, state_of, store_governor
from predictor.services.training import canary, learn, turn
from predictor.services.training.claim import close_abandoned, is_one_running
from predictor.services.training.due import note_training_due, training_lease
from predictor.services.training.material import RECENT, REPLAY, mix_sessions
from predictor.services.training.train import train_due, train_now, trial
from tests.conftest import NOW, Tenant
from tests.predictor.judged import build_world, train_meanwhile

LATER = NOW + timedelta(days=2)
SILENCE = TrainingLease.silence


def due(workspace: Workspace, reason: str = "first", *, scored: int = 30) -> None:
    """Make a training due, as settling a session does."""
    with in_workspace(workspace):
        state = lock_state(LATER)
        governor = governor_of(state)
        for _ in range(scored - governor.scored_sessions):
            governor = governor.update(SessionOutcome(None, "no scores"))
        store_governor(state, governor, LATER)
        note_training_due(state, reason, LATER)


def run(workspace: Workspace, *, seed: int = 3, at: datetime = LATER) -> Training | None:
    return train_due(workspace, clock=lambda: at, rng=np.random.default_rng(seed))


def trained(workspace: Workspace, reason: str = "first", *, seed: int = 3) -> Training:
    due(workspace, reason)
    training = run(workspace, seed=seed)
    assert training is not None
    return training


def served(workspace: Workspace) -> tuple[int | None, bytes]:
    """Return what serves: the number and the bytes."""
    with in_workspace(workspace):
        number = state_of().served
        if number is None:
            return None, b""
        return number, store.intact_bytes(ModelVersion.objects.get(number=number))


def test_a_first_training_promotes_a_model(tenant: Tenant, neighbour: Tenant) -> None:
    build_world(tenant.workspace, 30)
    training = trained(tenant.workspace)
    assert (training.status, training.error) == (TrainingStatus.PROMOTED, "")
    assert (training.version, training.reason) == (1, "first")
    assert (training.canary_count, training.session_count) == (6, 24)
    assert training.label_count == 24 * 12
    assert training.canary_ndcg is not None
    assert training.canary_ndcg > 0.9
    assert [gate["name"] for gate in training.gates] == ["finite", "variance", "canary", "overlap"]
    assert training.cpu_ms is not None
    assert training.cpu_ms > 0
    with in_workspace(tenant.workspace):
        state = state_of()
        assert (state.served, state.phase) == (1, "warming")
        assert (training_lease().due_at, training_lease().holder) == (None, None)
        assert (state.trained_at, state.scored_at_training) == (LATER, 30)
        version = ModelVersion.objects.get()
        assert version.promoted_at == LATER
        assert version.embedding_model == tenant.workspace.embedding_model
        told = Event.objects.filter(type__startswith="training.").order_by("seq")
        assert [event.type for event in told] == ["training.started", "training.finished"]
        assert told[1].data["status"] == "promoted"
    with in_workspace(neighbour.workspace):
        assert not PredictorState.objects.exists()
        assert not Training.objects.exists()
    number, raw = served(tenant.workspace)
    assert number == 1
    assert Scorer.from_bytes(raw).is_trained


def test_what_was_learned_ranks_better_than_what_was_not(tenant: Tenant) -> None:
    build_world(tenant.workspace, 60)
    material, result = trial(tenant.workspace, reason="full", seed=1, now=LATER)
    assert material.known is not None
    rng = np.random.default_rng(1)
    fresh = Scorer.initial(None, material.known.embeddings, rng=rng, texts=material.known.words)
    untrained = canary.measure(fresh, material.canary)
    assert untrained is not None
    assert result.after is not None
    assert np.mean(result.after.ndcg) > np.mean(untrained.ndcg) + 0.05


@pytest.mark.parametrize("reason", ["interval", "full"])
def test_identical_seed_gives_identical_weights(tenant: Tenant, reason: str) -> None:
    build_world(tenant.workspace, 30)
    trained(tenant.workspace)
    (_, first), (_, second), (_, other) = (
        trial(tenant.workspace, reason=reason, seed=seed, now=LATER) for seed in (7, 7, 8)
    )
    assert first.scorer is not None
    assert second.scorer is not None
    assert other.scorer is not None
    assert first.scorer.to_bytes() == second.scorer.to_bytes()
    assert first.scorer.to_bytes() != other.scorer.to_bytes()


def test_a_trial_writes_nothing(tenant: Tenant) -> None:
    build_world(tenant.workspace, 30)
    trial(tenant.workspace, reason="full", seed=7, now=LATER)
    with in_workspace(tenant.workspace):
        for model in (PredictorState, Training, ModelVersion, CanarySession):
            assert not model.objects.exists()


def test_a_failed_gate_keeps_the_served_weights_byte_identical(tenant: Tenant) -> None:
    build_world(tenant.workspace, 40)
    trained(tenant.workspace)
    before = served(tenant.workspace)
    with in_workspace(tenant.workspace):
        # The opposite is taught to all but the canary: what is learned ranks the canary badly.
        kept = CanarySession.objects.values_list("session_id", flat=True)
        for label in Label.objects.exclude(session__in=kept):
            Label.objects.filter(pk=label.pk).update(final=1 - (label.final or 0))
    training = trained(tenant.workspace, "full")
    assert training.status == TrainingStatus.REJECTED
    assert training.version is None
    failed = [gate["name"] for gate in training.gates if not gate["is_passed"]]
    assert "canary" in failed
    assert training.canary_ndcg_delta is not None
    assert training.canary_ndcg_delta < -0.15
    assert served(tenant.workspace) == before
    with in_workspace(tenant.workspace):
        assert ModelVersion.objects.count() == 1
        assert training_lease().due_at is None


def test_the_canary_is_disjoint_from_training_and_stays_for_a_week(tenant: Tenant) -> None:
    build_world(tenant.workspace, 30)
    first = trained(tenant.workspace)
    with in_workspace(tenant.workspace):
        chosen = set(CanarySession.objects.values_list("session_id", flat=True))
    assert len(chosen) == 6
    assert not chosen.intersection(first.trained_session_ids)
    build_world(tenant.workspace, 20, seed=6, start=NOW + timedelta(days=1, hours=12), name="t")
    second = trained(tenant.workspace, "interval")
    with in_workspace(tenant.workspace):
        grown = set(CanarySession.objects.values_list("session_id", flat=True))
    assert chosen < grown
    assert len(grown) == 10
    assert not grown.intersection(second.trained_session_ids)
    # What the served model had learned from would flatter it.
    assert not grown.intersection(first.trained_session_ids)


def test_the_canary_is_drawn_anew_after_a_week(tenant: Tenant) -> None:
    build_world(tenant.workspace, 30)
    trained(tenant.workspace)
    with in_workspace(tenant.workspace):
        chosen = set(CanarySession.objects.values_list("session_id", flat=True))
    due(tenant.workspace, "full")
    training = run(tenant.workspace, at=LATER + canary.REFRESH, seed=4)
    assert training is not None
    with in_workspace(tenant.workspace):
        anew = set(CanarySession.objects.values_list("session_id", flat=True))
        assert state_of().canary_chosen_at == LATER + canary.REFRESH
    assert len(anew) == 6
    assert anew == chosen  # nothing else is unseen
    build_world(tenant.workspace, 30, seed=6, start=NOW + timedelta(days=1, hours=12), name="t")
    due(tenant.workspace, "full")
    run(tenant.workspace, at=LATER + 2 * canary.REFRESH, seed=5)
    with in_workspace(tenant.workspace):
        assert set(CanarySession.objects.values_list("session_id", flat=True)) != chosen


def test_an_interval_learns_from_the_newest_and_the_best_before(tenant: Tenant) -> None:
    build_world(tenant.workspace, 6)
    material, _ = trial(tenant.workspace, reason="full", seed=1, now=LATER)
    model = material.sessions[0]
    past = [
        replace(model, id=uuid4(), started_at=NOW + timedelta(hours=n), overall=n % 37 / 37)
        for n in range(150)
    ]
    sessions, replayed = mix_sessions(past)
    assert (len(sessions), replayed) == (RECENT + REPLAY, REPLAY)
    assert sessions[REPLAY:] == past[-RECENT:]
    best = sorted(past[:-RECENT], key=lambda session: -session.overall)[:REPLAY]
    assert min(s.overall for s in sessions[:REPLAY]) == min(s.overall for s in best)
    assert mix_sessions(past[:50]) == (past[:50], 0)


@pytest.mark.parametrize(
    ("raised", "told"),
    [
        (RuntimeError("The user's PIN is 4711."), "RuntimeError"),
        (MemoryError(), "MemoryError"),
        (WidthError("embeddings of shape (3, 4)"), "embeddings of shape (3, 4)"),
        (learn.OutOfTimeError("stopped at 40% after 30 s"), "stopped at 40% after 30 s"),
    ],
)
def test_a_training_that_raises_keeps_the_served_model(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch, raised: Exception, told: str
) -> None:
    build_world(tenant.workspace, 30)
    trained(tenant.workspace)
    before = served(tenant.workspace)

    def broken(*_: Any, **__: Any) -> None:
        raise raised

    monkeypatch.setattr(Scorer, "fit", broken)
    training = trained(tenant.workspace, "full")
    assert (training.status, training.error) == (TrainingStatus.FAILED, told)
    assert served(tenant.workspace) == before
    with in_workspace(tenant.workspace):
        assert (training_lease().due_at, training_lease().holder) == (None, None)
        (error,) = StageError.objects.all()
        assert (error.stage, error.code) == ("predictor_train", "predictor_train_failure")
        assert "4711" not in error.detail


def test_what_is_not_finite_is_rejected_by_a_gate(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    build_world(tenant.workspace, 30)

    def diverged(*_: Any, **__: Any) -> None:
        raise ScoreError("what was learned is not finite")

    monkeypatch.setattr(Scorer, "fit", diverged)
    training = trained(tenant.workspace)
    assert training.status == TrainingStatus.REJECTED
    assert [gate["name"] for gate in training.gates if not gate["is_passed"]] == ["finite"]
    assert served(tenant.workspace) == (None, b"")


def test_nothing_to_learn_is_skipped(tenant: Tenant) -> None:
    build_world(tenant.workspace, 0)
    training = trained(tenant.workspace)
    assert training.status == TrainingStatus.SKIPPED
    assert training.error != ""
    assert served(tenant.workspace) == (None, b"")


def test_nothing_is_trained_that_is_not_due(tenant: Tenant) -> None:
    build_world(tenant.workspace, 20)
    assert run(tenant.workspace) is None
    trained(tenant.workspace)
    assert run(tenant.workspace) is None


def test_where_the_predictor_is_off_nothing_stays_due(tenant: Tenant) -> None:
    build_world(tenant.workspace, 20)
    due(tenant.workspace)
    tenant.workspace.settings = {"predictor_mode": "off"}
    tenant.workspace.save()
    off = Workspace.objects.get(pk=tenant.workspace.pk)
    assert run(off) is None
    with in_workspace(off):
        assert training_lease().due_at is None
        assert not Training.objects.exists()


def test_a_training_that_is_switched_off_on_its_way_leaves_nothing(tenant: Tenant) -> None:
    build_world(tenant.workspace, 20)

    def switch_off(now: datetime) -> None:
        Workspace.objects.filter(pk=tenant.workspace.pk).update(settings={"predictor_mode": "off"})

    for alive in (switch_off, lambda now: None):  # while it learns; before it has read anything
        due(tenant.workspace)
        training = train_meanwhile(tenant.workspace, alive, clock=lambda: LATER)
        assert training is not None
        assert training.status == TrainingStatus.SKIPPED
        assert "switched the predictor off" in training.error
        assert (training.trained_session_ids, training.loss, training.gates) == ([], None, [])
        assert served(tenant.workspace) == (None, b"")
        with in_workspace(tenant.workspace):
            assert (training_lease().holder, training_lease().due_at) == (None, None)
            assert not StageError.objects.exists()


def test_reading_counts_as_a_heartbeat_of_the_row(tenant: Tenant) -> None:
    build_world(tenant.workspace, 20)
    due(tenant.workspace)
    beats: list[datetime | None] = []
    hours = (LATER + timedelta(hours=n) for n in count())

    def look(now: datetime) -> None:
        with in_workspace(tenant.workspace):
            row = Training.objects.get(status=TrainingStatus.RUNNING)
            beats.append(row.heartbeat_at)
            assert training_lease().heartbeat_at == row.heartbeat_at

    train_meanwhile(tenant.workspace, look, clock=lambda: next(hours))
    with in_workspace(tenant.workspace):
        started_at = Training.objects.get().started_at
    assert beats[0] is not None
    assert beats[0] > started_at


def test_a_training_whose_row_was_closed_gives_the_workspace_back(tenant: Tenant) -> None:
    build_world(tenant.workspace, 20)
    due(tenant.workspace)

    def close(now: datetime) -> None:
        with in_workspace(tenant.workspace):
            assert close_abandoned(now + SILENCE * 2) == 1

    training = train_meanwhile(tenant.workspace, close, clock=lambda: LATER)
    assert training is not None
    assert training.status == TrainingStatus.FAILED
    with in_workspace(tenant.workspace):
        assert (state_of().served, training_lease().holder) == (None, None)
        assert training_lease().due_at is not None  # it is tried again


def test_scores_must_differ_where_there_is_no_canary(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    build_world(tenant.workspace, 4)
    monkeypatch.setattr(
        Scorer, "score", lambda self, context, candidates: np.full(len(candidates), 0.5)
    )
    _, result = trial(tenant.workspace, reason="full", seed=1, now=LATER)
    assert result.after is None
    assert [gate.name for gate in result.gates if not gate.is_passed] == ["variance"]


def test_one_training_a_workspace_at_a_time(tenant: Tenant) -> None:
    build_world(tenant.workspace, 20)
    due(tenant.workspace)
    others: list[Any] = []

    def look(now: datetime) -> None:
        others.append(train_due(tenant.workspace, clock=lambda: now, rng=np.random.default_rng(1)))
        others.append(
            train_now(
                tenant.workspace, reason="manual", clock=lambda: now, rng=np.random.default_rng(1)
            )
        )

    training = train_meanwhile(tenant.workspace, look, clock=lambda: LATER)
    assert training is not None
    assert training.status == TrainingStatus.PROMOTED
    assert others != []
    assert set(others) == {None}
    with in_workspace(tenant.workspace):
        assert Training.objects.count() == 1


def test_a_reset_during_a_training_wins(tenant: Tenant) -> None:
    from predictor.services.models.reset import reset

    build_world(tenant.workspace, 20)
    due(tenant.workspace)
    training = train_meanwhile(
        tenant.workspace,
        lambda now: reset(tenant.workspace, actor=SYSTEM, now=now),
        clock=lambda: LATER,
    )
    assert training is not None
    assert training.status == TrainingStatus.FAILED
    assert served(tenant.workspace) == (None, b"")
    with in_workspace(tenant.workspace):
        assert not StageError.objects.exists()


def test_a_new_embedding_model_is_a_cold_start_and_makes_a_training_due(tenant: Tenant) -> None:
    build_world(tenant.workspace, 30)
    trained(tenant.workspace)
    assert turn.stalled(LATER) == []
    switch(tenant.workspace, "another", actor=SYSTEM, now=LATER + timedelta(hours=1))
    workspace = Workspace.objects.get(pk=tenant.workspace.pk)
    with in_workspace(workspace):
        assert store.load_usable(state_of().served, workspace.embedding_model) is None
    hours = (LATER + timedelta(hours=n) for n in count(2))
    assert turn.stalled(next(hours)) == [workspace.pk]
    with in_workspace(workspace):
        assert training_lease().reason == "reembedded"
    training = run(workspace, at=next(hours))
    assert training is not None
    assert training.status == TrainingStatus.SKIPPED  # no memory has been read by it yet
    assert turn.stalled(next(hours)) == []


def test_a_model_that_changes_while_it_is_learned_is_not_promoted(tenant: Tenant) -> None:
    build_world(tenant.workspace, 20)
    due(tenant.workspace)
    training = train_meanwhile(
        tenant.workspace,
        lambda now: switch(tenant.workspace, "another", actor=SYSTEM, now=now),
        clock=lambda: LATER,
    )
    assert training is not None
    assert training.status == TrainingStatus.FAILED
    assert "another" in training.error
    assert served(tenant.workspace) == (None, b"")


def test_a_model_imported_while_another_is_learned_goes_on_serving(tenant: Tenant) -> None:
    build_world(tenant.workspace, 20)
    trained(tenant.workspace)
    _, raw = served(tenant.workspace)
    due(tenant.workspace, "interval")

    def imported(now: datetime) -> None:
        if served(tenant.workspace)[0] == 1:
            transfer.import_checkpoint(tenant.workspace, raw, actor=SYSTEM, now=now)

    training = train_meanwhile(tenant.workspace, imported, clock=lambda: LATER)
    assert training is not None
    assert (training.status, training.error) == (
        TrainingStatus.FAILED,
        "Another model serves since.",
    )
    assert served(tenant.workspace) == (2, raw)
    with in_workspace(tenant.workspace):
        assert training_lease().holder is None


def test_drift_found_during_a_training_makes_another_due(tenant: Tenant) -> None:
    build_world(tenant.workspace, 20)
    due(tenant.workspace)

    def drift(now: datetime) -> None:
        with in_workspace(tenant.workspace):
            state = lock_state(now)
            governor = governor_of(state)
            store_governor(state, replace(governor, drift_resets=governor.drift_resets + 1), now)

    train_meanwhile(tenant.workspace, drift, clock=lambda: LATER)
    with in_workspace(tenant.workspace):
        assert (training_lease().due_at, training_lease().reason) == (LATER, "drift")


def test_after_a_drift_canary_and_full_training_leave_the_habits_that_are_gone(
    tenant: Tenant,
) -> None:
    world = build_world(tenant.workspace, 90)
    trained(tenant.workspace)
    reset = world.sessions[69]  # found there: what changed, changed about twenty before
    with in_workspace(tenant.workspace):
        Comparison.objects.create(
            session=reset,
            outcome="loss",
            phase="retraining",
            is_drift_reset=True,
            created_at=LATER + timedelta(minutes=1),
        )
    due(tenant.workspace, "full")
    training = run(tenant.workspace, at=LATER + timedelta(hours=1))
    assert training is not None
    gone, current = world.sessions[:49], world.sessions[49:]
    with in_workspace(tenant.workspace):
        kept = set(CanarySession.objects.values_list("session_id", flat=True))
    assert len(kept) == 8
    assert kept <= {session.pk for session in current}
    learned = set(training.trained_session_ids)
    assert learned >= {session.pk for session in current} - kept
    assert len(learned & {session.pk for session in gone}) == training.replay_count == REPLAY


def test_a_promotion_ends_retraining_after_drift(tenant: Tenant) -> None:
    build_world(tenant.workspace, 30)
    trained(tenant.workspace)
    with in_workspace(tenant.workspace):
        state = lock_state(LATER)
        governor = governor_of(state)
        while not governor.is_reset:
            governor = governor.update(SessionOutcome(-0.9, is_trained=True, is_out_of_sample=True))
        assert governor.phase == "retraining"
        store_governor(state, governor, LATER)
    training = trained(tenant.workspace, "drift")
    assert (training.status, training.reason) == (TrainingStatus.PROMOTED, "drift")
    with in_workspace(tenant.workspace):
        assert state_of().phase == "warming"
        assert state_of().alpha == 1.0


def test_one_training_in_the_workers_at_a_time(tenant: Tenant, neighbour: Tenant) -> None:
    for one in (tenant, neighbour):
        build_world(one.workspace, 20)
        due(one.workspace)
    another = lease_of(TrainingLease, Workspace.objects.create(slug="third", name="Third").pk)
    holder = uuid4()
    assert lease.acquire(another, holder, LATER)
    rng = np.random.default_rng(1)
    turned_away = turn.train_turn(tenant.workspace.pk, clock=lambda: LATER, rng=rng)
    assert turned_away is None
    assert set(turn.stalled(LATER)) == {tenant.workspace.pk, neighbour.workspace.pk}
    assert lease.release(another, holder)
    training = turn.train_turn(tenant.workspace.pk, clock=lambda: LATER, rng=rng)
    assert training is not None
    assert not TrainingLease.objects.filter(holder__isnull=False).exists()
    assert turn.stalled(LATER) == [neighbour.workspace.pk]


def test_a_clock_that_goes_back_keeps_nobody_from_training(tenant: Tenant) -> None:
    ahead = NOW + SILENCE + timedelta(seconds=1)
    build_world(tenant.workspace, 20)
    due(tenant.workspace)
    held = lease_of(TrainingLease, tenant.workspace.pk)
    assert lease.acquire(held, uuid4(), ahead)
    assert not is_one_running(NOW, besides=uuid4())
    assert is_one_running(ahead + SILENCE, besides=uuid4())
    with in_workspace(tenant.workspace):
        Training.objects.create(
            status=TrainingStatus.RUNNING, reason="first", started_at=ahead, heartbeat_at=ahead
        )
        assert close_abandoned(ahead) == 0
        assert close_abandoned(NOW) == 1
    training = run(tenant.workspace, at=NOW)
    assert training is not None
    assert training.status == TrainingStatus.PROMOTED


def test_only_the_last_five_models_keep_their_weights(tenant: Tenant) -> None:
    build_world(tenant.workspace, 30)
    for seed in range(7):
        assert trained(tenant.workspace, "interval", seed=seed).status == TrainingStatus.PROMOTED
    with in_workspace(tenant.workspace):
        kept = ModelVersion.objects.exclude(checkpoint=None).values_list("number", flat=True)
        assert sorted(kept) == [3, 4, 5, 6, 7]
        assert ModelVersion.objects.count() == 7
        assert state_of().served == 7


def test_a_due_training_that_always_fails_is_given_up_until_the_next_interval(
    tenant: Tenant,
) -> None:
    build_world(tenant.workspace, 20)
    due(tenant.workspace)
    with in_workspace(tenant.workspace):
        for _ in range(3):
            Training.objects.create(
                status=TrainingStatus.RUNNING,
                reason="first",
                started_at=LATER,
                heartbeat_at=LATER,
            )
    assert run(tenant.workspace, at=LATER + SILENCE * 2) is None
    with in_workspace(tenant.workspace):
        statuses = Training.objects.values_list("status", flat=True)
        assert list(statuses) == [TrainingStatus.FAILED] * 3
        assert training_lease().due_at is None


def test_trained_governor_starts_where_it_was(tenant: Tenant) -> None:
    build_world(tenant.workspace, 30)
    trained(tenant.workspace)
    with in_workspace(tenant.workspace):
        before = governor_of(state_of())
    trained(tenant.workspace, "interval")
    with in_workspace(tenant.workspace):
        assert governor_of(state_of()) == before
    assert isinstance(before, Governor)
