"""Checkpoints go out and come in whole, or nothing changes; the command `train` tells the truth."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.utils import timezone

from engram.kernel import lease
from engram.kernel.actors import SYSTEM
from engram.kernel.lease import lease_of
from engram.kernel.refusals import InvalidError
from engram.kernel.tenancy import in_workspace
from memories.models import Session
from predictor.core.checkpoint import PRETRAINED
from predictor.core.governance import SessionOutcome
from predictor.core.scorer import Scorer
from predictor.models import (
    CanarySession,
    Label,
    ModelVersion,
    Training,
    TrainingLease,
    TrainingStatus,
)
from predictor.services.models import store, transfer
from predictor.services.state import governor_of, lock_state, state_of, store_governor
from tests.conftest import Tenant
from tests.predictor.judged import build_world


def command(*arguments: Any) -> tuple[int, str]:
    """Run a command; return its exit code and what it said."""
    out = StringIO()
    try:
        call_command(*(str(argument) for argument in arguments), stdout=out)
    except CommandError as error:
        return error.returncode, f"{out.getvalue()}{error}"
    return 0, out.getvalue()


def served(tenant: Tenant) -> tuple[int | None, bytes]:
    with in_workspace(tenant.workspace):
        number = state_of().served
        if number is None:
            return None, b""
        return number, store.intact_bytes(ModelVersion.objects.get(number=number))


@pytest.fixture
def trained(tenant: Tenant) -> Tenant:
    """Return a workspace whose ranker is trained."""
    build_world(tenant.workspace, 30)
    assert command("train", "--workspace", "acme")[0] == 0
    return tenant


def test_train_tells_what_happened(tenant: Tenant) -> None:
    build_world(tenant.workspace, 30)
    code, said = command("train", "--workspace", "acme", "--seed", 5)
    assert code == 0
    assert "sessions        24 (0 replayed, 0 skipped)" in said
    assert "canary sessions 6" in said
    assert "gate finite     passed" in said
    assert said.endswith("model_v1 serves.\n")
    with in_workspace(tenant.workspace):
        training = Training.objects.get()
        assert (training.seed, training.reason) == (5, "manual")


def test_a_dry_run_changes_nothing_and_tells_the_same(tenant: Tenant) -> None:
    build_world(tenant.workspace, 30)
    code, tried = command("train", "--workspace", "acme", "--seed", 5, "--dry-run")
    assert code == 0
    assert served(tenant) == (None, b"")
    with in_workspace(tenant.workspace):
        assert not Training.objects.exists()
        assert not CanarySession.objects.exists()
    _, said = command("train", "--workspace", "acme", "--seed", 5)
    figures = [
        line for line in tried.splitlines() if line.startswith(("gate", "nDCG", "loss", "labels"))
    ]
    assert figures != []
    assert [line for line in figures if line not in said] == []


def test_train_ends_with_three_when_a_gate_holds_the_model_back(trained: Tenant) -> None:
    before = served(trained)
    with in_workspace(trained.workspace):
        kept = CanarySession.objects.values_list("session_id", flat=True)
        for label in Label.objects.exclude(session__in=kept):
            Label.objects.filter(pk=label.pk).update(final=1 - (label.final or 0))
    code, said = command("train", "--workspace", "acme", "--full")
    assert code == 3
    assert "gate canary     FAILED" in said
    assert served(trained) == before
    assert command("train", "--workspace", "acme", "--full", "--dry-run")[0] == 3


def test_train_ends_with_one_when_there_is_nothing_to_learn(tenant: Tenant) -> None:
    assert command("train", "--workspace", "acme")[0] == 1
    assert command("train", "--workspace", "acme", "--dry-run")[0] == 1


def test_train_ends_with_one_when_a_training_is_on_its_way(tenant: Tenant) -> None:
    build_world(tenant.workspace, 10)
    with in_workspace(tenant.workspace):
        held = lease_of(TrainingLease, tenant.workspace.pk)
        assert lease.acquire(held, uuid4(), timezone.now())
    code, said = command("train", "--workspace", "acme")
    assert (code, said) == (1, "A training of it is on its way.")


@pytest.mark.parametrize(
    "arguments",
    [
        ("train", "--workspace", "nowhere"),
        ("train", "--workspace", "acme", "--seed", "-1"),
        ("train", "--workspace", "acme", "--base-weights", "/nowhere/file"),
        ("export_model", "--workspace", "acme", "/nowhere/written"),
        ("export_model", "--workspace", "acme", "--number", "7", "/nowhere/written"),
        ("import_model", "--workspace", "acme", "/nowhere/file"),
        ("import_model", "--workspace", "nowhere", "/nowhere/file"),
    ],
)
def test_wrong_input_ends_with_two(tenant: Tenant, arguments: tuple[str, ...]) -> None:
    build_world(tenant.workspace, 10)
    assert command(*arguments)[0] == 2
    with in_workspace(tenant.workspace):
        assert not Training.objects.exists()
        assert not ModelVersion.objects.exists()


def test_nothing_is_trained_by_hand_where_the_predictor_is_off(tenant: Tenant) -> None:
    build_world(tenant.workspace, 20)
    tenant.workspace.settings = {"predictor_mode": "off"}
    tenant.workspace.save()
    assert command("train", "--workspace", "acme")[0] == 2
    with in_workspace(tenant.workspace):
        assert not Training.objects.exists()


def test_a_checkpoint_that_is_exported_and_imported_is_the_same(
    trained: Tenant, neighbour: Tenant, tmp_path: Path
) -> None:
    path = tmp_path / "model.sgpt"
    code, said = command("export_model", "--workspace", "acme", path)
    number, raw = served(trained)
    assert (code, number) == (0, 1)
    assert path.read_bytes() == raw
    assert hashlib.sha256(raw).hexdigest() in said
    build_world(neighbour.workspace, 0, memories=2)
    code, said = command("import_model", "--workspace", "zenith", path)
    assert code == 0
    assert hashlib.sha256(raw).hexdigest() in said
    assert served(neighbour) == (1, raw)
    with in_workspace(neighbour.workspace):
        assert state_of().phase == "warming"
        assert ModelVersion.objects.get().origin == "imported"


def test_what_a_reset_leaves_does_not_serve_and_is_learned_from_anew(
    trained: Tenant, tmp_path: Path
) -> None:
    trained.admin.post("predictor/reset")
    path = tmp_path / "model.sgpt"
    assert command("export_model", "--workspace", "acme", path) == (
        2,
        "No model is served. Name one that is kept with --number: 1.",
    )
    assert command("export_model", "--workspace", "acme", "--number", 1, path)[0] == 0
    code, said = command("train", "--workspace", "acme")
    assert (code, said.splitlines()[-1]) == (0, "model_v2 serves.")
    assert "sessions        24 " in said
    with in_workspace(trained.workspace):
        assert (state_of().phase, state_of().scored_sessions) == ("warming", 0)


def test_without_any_model_an_export_says_so(tenant: Tenant, tmp_path: Path) -> None:
    code, said = command("export_model", "--workspace", "acme", tmp_path / "model.sgpt")
    assert (code, said) == (2, "No model is served, and none is kept.")


def earn(tenant: Tenant) -> None:
    """Let the served model earn influence."""
    now = timezone.now()
    with in_workspace(tenant.workspace):
        state = lock_state(now)
        governor = governor_of(state)
        for _ in range(60):
            governor = governor.update(SessionOutcome(0.2, is_trained=True, is_out_of_sample=True))
        store_governor(state, governor, now)
        assert (state.phase, state.alpha < 0.11) == ("active", True)


def test_an_imported_model_earns_its_influence_from_nothing(
    trained: Tenant, tmp_path: Path
) -> None:
    path = tmp_path / "model.sgpt"
    command("export_model", "--workspace", "acme", path)
    earn(trained)
    assert command("import_model", "--workspace", "acme", "--base", path)[0] == 0
    with in_workspace(trained.workspace):
        assert state_of().phase == "active"
    assert command("import_model", "--workspace", "acme", path)[0] == 0
    with in_workspace(trained.workspace):
        assert (state_of().phase, state_of().alpha) == ("warming", 1.0)
        assert governor_of(state_of()).out_of_sample == 0
        assert (state_of().served, state_of().last_dropped) == (3, 2)


@pytest.mark.parametrize(("is_corrupt", "phase"), [(False, "active"), (True, "warming")])
def test_influence_passes_only_to_a_model_that_was_compared(
    trained: Tenant, is_corrupt: bool, phase: str
) -> None:
    earn(trained)
    if is_corrupt:
        with in_workspace(trained.workspace):
            ModelVersion.objects.update(checkpoint=b"XGPT")
    assert command("train", "--workspace", "acme", "--seed", 5)[0] == 0
    with in_workspace(trained.workspace):
        assert (state_of().served, state_of().phase) == (2, phase)
        assert state_of().last_dropped == int(is_corrupt)


def spoil(raw: bytes) -> bytes:
    return raw[:-4] + b"\x00\x00\xc0\x7f"


@pytest.mark.parametrize(
    "broken",
    [
        lambda raw: b"",
        lambda raw: b"SGPT",
        lambda raw: b"XGPT" + raw[4:],
        lambda raw: raw[:4] + b"\x63" + raw[5:],
        lambda raw: raw[:-1],
        lambda raw: raw + b"\x00",
        spoil,
        lambda raw: Scorer.initial(
            None, np.eye(7, dtype=np.float32), rng=np.random.default_rng(1)
        ).to_bytes(),
    ],
    ids=["empty", "head", "magic", "version", "short", "long", "nan", "untrained"],
)
def test_a_corrupt_file_changes_nothing(
    trained: Tenant, tmp_path: Path, broken: Callable[[bytes], bytes]
) -> None:
    before = served(trained)
    path = tmp_path / "broken"
    path.write_bytes(broken(before[1]))
    code, said = command("import_model", "--workspace", "acme", path)
    assert code == 2
    assert said.startswith("Nothing was changed.")
    assert served(trained) == before
    with in_workspace(trained.workspace):
        assert ModelVersion.objects.count() == 1


def test_a_checkpoint_for_vectors_of_another_width_is_refused(trained: Tenant) -> None:
    before = served(trained)
    with in_workspace(trained.workspace):
        scorer = Scorer.initial(None, np.eye(7, dtype=np.float32), rng=np.random.default_rng(1))
    with pytest.raises(InvalidError, match="width 7"):
        transfer.import_checkpoint(
            trained.workspace, scorer.as_base().to_bytes(), actor=SYSTEM, now=timezone.now()
        )
    assert served(trained) == before


def test_checkpoint_bad_magic_in_the_database_is_a_cold_start(trained: Tenant) -> None:
    with in_workspace(trained.workspace):
        version = ModelVersion.objects.get()
        model = trained.workspace.embedding_model
        assert store.load_usable(1, model) is not None
        assert store.load_usable(1, "another") is None
        ModelVersion.objects.filter(pk=version.pk).update(checkpoint=b"XGPT")
        assert store.load_usable(1, model) is None
        ModelVersion.objects.filter(pk=version.pk).update(checkpoint=None)
        assert store.load_usable(1, model) is None
    assert command("export_model", "--workspace", "acme", "/nowhere/written")[0] == 2
    # The next training begins anew, and heals it.
    code, said = command("train", "--workspace", "acme")
    assert code == 0
    assert said.endswith("model_v2 serves.\n")
    with in_workspace(trained.workspace):
        training = Training.objects.get(version=2)
        assert (training.base_version, training.replay_count) == (None, 0)


def test_base_weights_begin_trainings_and_never_serve(
    trained: Tenant, neighbour: Tenant, tmp_path: Path
) -> None:
    path = tmp_path / "base.sgpt"
    command("export_model", "--workspace", "acme", path)
    build_world(neighbour.workspace, 0, memories=8)
    code, said = command("import_model", "--workspace", "zenith", "--base", path)
    assert code == 0
    assert "is what trainings start from" in said
    assert served(neighbour) == (None, b"")
    build_world(neighbour.workspace, 20, name="more")
    code, said = command("train", "--workspace", "zenith", "--base-weights", path)
    assert code == 0
    assert "base weights    model_v2" in said
    number, raw = served(neighbour)
    assert number == 3
    assert Scorer.from_bytes(raw).flags & PRETRAINED
    with in_workspace(neighbour.workspace):
        bases = ModelVersion.objects.filter(origin="base")
        assert sorted(bases.values_list("number", flat=True)) == [1, 2]
        assert not bases.exclude(promoted_at=None).exists()
        assert not bases.filter(checkpoint=None).exists()


def test_base_weights_are_not_stored_by_a_dry_run(trained: Tenant, tmp_path: Path) -> None:
    path = tmp_path / "base.sgpt"
    command("export_model", "--workspace", "acme", path)
    code, _ = command("train", "--workspace", "acme", "--dry-run", "--base-weights", path)
    assert code == 2
    with in_workspace(trained.workspace):
        assert ModelVersion.objects.count() == 1


def test_an_export_overwrites_nothing_but_a_checkpoint(trained: Tenant, tmp_path: Path) -> None:
    path = tmp_path / "letter.txt"
    path.write_text("Dear Ada")
    assert command("export_model", "--workspace", "acme", path)[0] == 2
    assert path.read_text() == "Dear Ada"


def test_sessions_of_a_neighbour_are_never_learned_from(trained: Tenant, neighbour: Tenant) -> None:
    build_world(neighbour.workspace, 30, seed=8)
    command("train", "--workspace", "zenith")
    with in_workspace(neighbour.workspace):
        own = set(Session.objects.values_list("pk", flat=True))
        training = Training.objects.get()
        assert training.status == TrainingStatus.PROMOTED
        assert set(training.trained_session_ids) <= own
