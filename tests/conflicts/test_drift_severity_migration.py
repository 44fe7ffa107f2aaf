"""An upgrade rates the errors that wait, and what checks had found, once per workspace."""

from __future__ import annotations

from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from engram.kernel.tenancy import in_workspace
from memories.models import NoteSupport, PredictionError
from tests.conftest import Tenant
from tests.memories.drift_world import drifted, remember, supports

BEFORE = ("memories", "0050_session_knew_erased")
AFTER = ("conflicts", "0010_severity_of_drift")


def signal(tenant: Tenant, weight: float) -> None:
    memory_id = remember(tenant, f"The kiln takes {weight} hours.")
    body = {"source": "git", "evidence": {"a": 1}, "weight": weight}
    assert tenant.agent.post(f"memories/{memory_id}/signals", body).status_code == 201


def test_what_waits_is_rated(tenant: Tenant, neighbour: Tenant) -> None:
    for weight in (8.0, 2.0, 0.5):
        signal(tenant, weight)
    drifted(tenant)
    drifted(neighbour)
    with in_workspace(tenant.workspace):
        for row in NoteSupport.objects.all():
            row.verdict.pop("severity")
            row.save()
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
    MigrationExecutor(connection).migrate([BEFORE])
    MigrationExecutor(connection).migrate([AFTER])
    for place in (tenant, neighbour):
        with in_workspace(place.workspace):
            told = PredictionError.objects.exclude(note=None).values_list("severity", flat=True)
            assert list(told) == ["high"]
        assert [row.verdict["severity"] for row in supports(place)] == ["high"]
    with in_workspace(tenant.workspace):
        signals = PredictionError.objects.filter(note=None).order_by("-weight")
        assert list(signals.values_list("severity", flat=True)) == ["high", "medium", "low"]
