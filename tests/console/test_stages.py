"""Stages tell how long they took and how they failed, and never what about."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import timezone

from conflicts.services.detection import detect
from engram.kernel import latency
from engram.kernel.models import LatencyHour, StageError
from engram.kernel.tenancy import in_workspace
from tests.conftest import Tenant

SECRET = "The vault opens with four seven one one"


def stages(tenant: Tenant) -> dict[str, int]:
    latency.write("web@here/1")
    with in_workspace(tenant.workspace):
        return {row.stage: sum(row.counts) for row in LatencyHour.objects.all()}


def errors(tenant: Tenant) -> list[tuple[str, str, str]]:
    with in_workspace(tenant.workspace):
        return list(StageError.objects.values_list("stage", "code", "detail"))


def test_commit_recall_and_detection_are_timed(tenant: Tenant, neighbour: Tenant) -> None:
    tenant.agent.post("memories", {"content": "The team deploys on Tuesdays."})
    tenant.agent.post("memories/batch", {"memories": [{"content": "One."}, {"content": "Two."}]})
    tenant.reader.post("memories/recall", {"query": "when do we deploy?"})
    detect.detect_due(tenant.workspace, clock=timezone.now)
    assert stages(tenant) == {"commit": 1, "commit_batch": 1, "recall": 1, "detect": 1}
    assert stages(neighbour) == {}


def test_what_is_refused_is_not_timed(tenant: Tenant) -> None:
    secret = {"content": "The key is AKIAIOSFODNN7EXAMPLE."}
    assert tenant.agent.post("memories", secret).status_code == 422
    assert stages(tenant) == {}


def test_a_missing_embedding_is_an_error_of_its_workspace(
    tenant: Tenant, neighbour: Tenant, settings: Any
) -> None:
    settings.ENGRAM_EMBEDDING = {"provider": "none", "model": tenant.workspace.embedding_model}
    assert tenant.agent.post("memories", {"content": SECRET}).status_code == 201
    assert tenant.reader.post("memories/recall", {"query": SECRET}).status_code == 200
    model = tenant.workspace.embedding_model
    assert errors(tenant) == [("embedding", "embedding_unavailable", model)]
    assert errors(neighbour) == []


def test_a_session_that_finds_no_embedding_is_an_error_of_the_embedding(
    tenant: Tenant, settings: Any
) -> None:
    settings.ENGRAM_EMBEDDING = {"provider": "none", "model": tenant.workspace.embedding_model}
    asked = {"session_key": "s1", "context": SECRET}
    assert tenant.agent.post("sessions", asked).status_code == 201
    model = tenant.workspace.embedding_model
    assert errors(tenant) == [("embedding", "embedding_unavailable", model)]


def test_a_failed_detection_is_an_error_without_the_text(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    tenant.agent.post("memories", {"content": SECRET})

    def fail(*args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(f"cannot read {SECRET!r}")

    monkeypatch.setattr(detect, "detect_in_turn", fail)
    detect.detect_due(tenant.workspace, clock=timezone.now)
    assert errors(tenant) == [("detect", "detect_failed", "RuntimeError")]
    assert SECRET not in caplog.text
