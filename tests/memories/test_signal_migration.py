"""An upgrade writes the sources of open signals in lower case, and leaves one of each open."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from engram.kernel.ids import next_id
from engram.kernel.tenancy import in_workspace
from memories.models import ErrorType, PredictionError
from tests.conftest import NOW, Tenant
from tests.memories.drift_world import errors, remember

BEFORE, AFTER = ("memories", "0030_note_hash"), ("memories", "0031_signal_sources")


def signalled(tenant: Tenant, memory_id: str, source: str, weight: float, days: int) -> UUID:
    at = NOW + timedelta(days=days)
    with in_workspace(tenant.workspace):
        row = PredictionError.objects.create(
            id=next_id(), error_type=ErrorType.MEMORY_EXTERNAL_SIGNAL, memory_id=memory_id,
            source=source, weight=weight, detected_at=at, last_seen_at=at,
            context={"evidence": {"of": source}, "by": "agent"},
        )  # fmt: skip
        return row.pk


def stored_then(tenant: Tenant) -> list[PredictionError]:
    """Return the errors without the columns that came later."""
    with in_workspace(tenant.workspace):
        return list(PredictionError.objects.defer("severity"))


def test_sources_from_before_are_lowered_and_the_strongest_of_each_stays(
    tenant: Tenant, neighbour: Tenant
) -> None:
    memory_id = remember(tenant, "Pumps are serviced in May.")
    other = remember(tenant, "Ines books the rooms.")
    strong = signalled(tenant, memory_id, "Git", 5.0, 1)
    weak = signalled(tenant, memory_id, "git", 1.0, 2)
    alone = signalled(tenant, other, "GIT", 1.0, 0)
    theirs = signalled(neighbour, remember(neighbour, "The kiln is hot."), "Git  Hub", 1.0, 0)
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
    MigrationExecutor(connection).migrate([BEFORE])
    for _ in range(2):
        MigrationExecutor(connection).migrate([AFTER])
        rows = {row.pk: row for row in stored_then(tenant)}
        assert {pk: row.source for pk, row in rows.items() if row.resolved_at is None} == {
            strong: "git", alone: "git",
        }  # fmt: skip
        assert (rows[strong].occurrences, rows[strong].weight) == (2, 5.0)
        assert rows[strong].last_seen_at == NOW + timedelta(days=2)
        assert rows[strong].context["evidence"] == {"of": "Git"}
        assert (rows[weak].resolution, rows[weak].resolved_by) == ("dismissed", "engram")
        assert str(strong) in rows[weak].resolution_note
        [their] = stored_then(neighbour)
        assert (their.pk, their.source, their.resolved_at) == (theirs, "git hub", None)
        MigrationExecutor(connection).migrate([BEFORE])
    latest = MigrationExecutor(connection)
    latest.migrate(latest.loader.graph.leaf_nodes())
    body = {"source": "Git", "evidence": {"a": 1}}
    assert tenant.agent.post(f"memories/{memory_id}/signals", body).status_code in {200, 201}
    assert len(errors(tenant.reader)) == 2
