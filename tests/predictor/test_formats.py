"""Weights in the format of another release: told from damaged ones, not read, learned anew."""

from __future__ import annotations

import hashlib
from datetime import timedelta
from pathlib import Path

import pytest

from engram.kernel.models import Event
from engram.kernel.tenancy import in_workspace
from predictor.core.checkpoint import VERSION
from predictor.core.governance import Phase
from predictor.models import ModelVersion, TrainingStatus
from predictor.services.models import store
from predictor.services.serving import served
from predictor.services.serving.served import ModelCache
from predictor.services.training import turn
from predictor.services.training.due import drop_training_due
from predictor.services.training.train import trial
from tests.conftest import Tenant
from tests.predictor.judged import build_world, lease_in
from tests.predictor.serving import configure, promote, scorer, state
from tests.predictor.test_checkpoints import command
from tests.predictor.test_rank_session import errors, rank_committed
from tests.predictor.test_train import LATER, due, run

OTHERS = (VERSION - 1, VERSION + 1)
HOUR = timedelta(hours=1)


@pytest.fixture(autouse=True)
def nothing_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no test meet another's models."""
    monkeypatch.setattr(served, "cache", ModelCache())


def of_format(raw: bytes, version: int) -> bytes:
    return raw[:4] + bytes([version]) + raw[5:]


@pytest.mark.parametrize("version", OTHERS)
def test_a_model_of_another_format_scores_nothing_and_keeps_its_evidence(
    tenant: Tenant, neighbour: Tenant, version: int
) -> None:
    workspace = configure(tenant.workspace, predictor_mode="on")
    promote(workspace, of_format(scorer().to_bytes(), version), phase=Phase.ACTIVE)
    promote(neighbour.workspace, phase=Phase.ACTIVE)
    before = state(workspace)
    found = rank_committed(workspace)
    assert (found.scores, found.alpha, len(found.signals)) == ({}, 1.0, 8)
    assert (found.no_opinion_reason, errors(workspace)) == ("other_embedding", [])
    after = state(workspace)
    assert (after.served, after.phase, after.governor) == (1, "active", before.governor)
    told = tenant.reader.get("predictor/status").json()
    assert (told["model"]["is_fitting"], told["alpha_served"]) == (False, 1.0)
    assert "cannot be used: it was made for another embedding model" in told["reason"]
    assert neighbour.reader.get("predictor/status").json()["model"]["is_fitting"] is True
    assert turn.stalled(LATER) == [workspace.pk]
    assert lease_in(workspace).reason == "upgraded"


def test_what_was_damaged_in_its_format_is_no_other_release(tenant: Tenant) -> None:
    workspace = configure(tenant.workspace, predictor_mode="on")
    promote(workspace)
    with in_workspace(workspace):
        damaged = of_format(bytes(ModelVersion.objects.get().checkpoint or b""), VERSION - 1)
        ModelVersion.objects.update(checkpoint=damaged)
    assert rank_committed(workspace).no_opinion_reason == "checkpoint_error"
    assert errors(workspace) == ["predictor_checkpoint_error"]
    with in_workspace(workspace):
        assert Event.objects.filter(type="predictor.reset").count() == 1


def test_a_model_of_another_format_is_replaced_by_what_is_learned_anew(tenant: Tenant) -> None:
    build_world(tenant.workspace, 20)
    due(tenant.workspace)
    promote(tenant.workspace, of_format(scorer().to_bytes(), VERSION - 1), phase=Phase.ACTIVE)
    drop_training_due(tenant.workspace.pk)
    assert turn.stalled(LATER) == [tenant.workspace.pk]
    training = run(tenant.workspace, at=LATER + HOUR)
    assert training is not None
    assert (training.status, training.reason) == (TrainingStatus.PROMOTED, "upgraded")
    assert (training.base_version, training.version) == (None, 2)
    assert (state(tenant.workspace).served, state(tenant.workspace).phase) == (2, "warming")
    assert turn.stalled(LATER + 2 * HOUR) == []


def test_a_training_for_another_format_is_tried_once(tenant: Tenant) -> None:
    promote(tenant.workspace, of_format(scorer().to_bytes(), VERSION - 1))
    assert turn.stalled(LATER) == [tenant.workspace.pk]
    training = run(tenant.workspace, at=LATER + HOUR)
    assert training is not None
    assert training.status == TrainingStatus.SKIPPED  # there is nothing to learn from
    assert state(tenant.workspace).served == 1
    assert turn.stalled(LATER + 2 * HOUR) == []


def test_base_weights_of_another_format_are_not_left_out_silently(tenant: Tenant) -> None:
    build_world(tenant.workspace, 20)
    raw = of_format(scorer().to_bytes(), VERSION - 1)
    with in_workspace(tenant.workspace):
        ModelVersion.objects.create(
            number=4,
            origin=store.BASE,
            checkpoint=raw,
            sha256=hashlib.sha256(raw).hexdigest(),
            embedding_model=tenant.workspace.embedding_model,
            feature_version=1,
            parameter_count=1,
            created_at=LATER,
        )
    says = "The base weights model_v4 are of another release: trainings begin without them."
    status = tenant.reader.get("predictor/status").json()
    assert status["next_training"]["says"].endswith(f" {says}")
    assert says in command("train", "--workspace", "acme", "--dry-run")[1]
    material, _ = trial(tenant.workspace, reason="full", seed=1, now=LATER)
    assert material.base is None
    assert material.known is not None


@pytest.mark.parametrize("options", [(), ("--base",)])
def test_a_file_of_another_format_is_refused_by_name(
    tenant: Tenant, tmp_path: Path, options: tuple[str, ...]
) -> None:
    path = tmp_path / "old.sgpt"
    path.write_bytes(of_format(scorer().as_base().to_bytes(), VERSION - 1))
    assert command("import_model", "--workspace", "acme", *options, path) == (
        2,
        f"Nothing was changed. path: its format is version {VERSION - 1}, of another release;"
        f" this one reads {VERSION} alone",
    )
    with in_workspace(tenant.workspace):
        assert not ModelVersion.objects.exists()
