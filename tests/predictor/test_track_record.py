"""What is counted for the status stays cheap however many labels there are."""

from __future__ import annotations

import pytest
from django.db import connection

from engram.kernel.tenancy import in_workspace
from memories.models import Session
from predictor.models import Label
from predictor.services.status.track_record import label_count
from predictor.services.training.dataset import SESSIONS_MAX
from tests.conftest import Tenant
from tests.memories.test_plans import explained
from tests.predictor.judged import build_world

SESSIONS = 1_200  # beside a template of 12 labels
JOINS = {"Nested Loop", "Hash Join", "Merge Join"}
COPY = """
INSERT INTO {table} ({columns}) SELECT {values}
FROM {table} row, memories_session made JOIN memories_session template
    ON template.id = %s AND made.session_key LIKE 'copy-%%'
WHERE row.session_id = template.id AND made.workspace_id = row.workspace_id
"""


def copy_labels(tenant: Tenant, template: Session) -> None:
    """Copy a session with its judgement and labels many times, and analyse nothing."""
    with in_workspace(tenant.workspace), connection.cursor() as cursor:
        Session.objects.bulk_create(
            Session(
                session_key=f"copy-{n}",
                project="",
                k=10,
                budget_chars=4000,
                started_at=template.started_at,
                ended_at=template.ended_at,
            )
            for n in range(SESSIONS)
        )
        for model in ("judgement", "label"):
            table = f"predictor_{model}"
            cursor.execute(
                "SELECT column_name FROM information_schema.columns WHERE table_name = %s", [table]
            )
            names = [name for (name,) in cursor.fetchall() if (model, name) != ("label", "id")]
            own = {"id": "gen_random_uuid()", "session_id": "made.id"}
            values = ", ".join(own.get(name, f"row.{name}") for name in names)
            cursor.execute(
                COPY.format(table=table, columns=", ".join(names), values=values), [template.pk]
            )


@pytest.mark.parametrize("is_analysed", [False, True])
def test_labels_are_counted_by_the_sessions_they_are_of(
    tenant: Tenant, neighbour: Tenant, is_analysed: bool
) -> None:
    build_world(neighbour.workspace, 2)
    copy_labels(tenant, build_world(tenant.workspace, 2).sessions[0])
    with in_workspace(tenant.workspace):
        if is_analysed:
            with connection.cursor() as cursor:
                cursor.execute("ANALYZE predictor_label, predictor_judgement, memories_session")
        assert Label.objects.count() == (SESSIONS + 2) * 12
        with explained() as plans:
            assert label_count() == SESSIONS_MAX * 12
    types = [node["Node Type"] for node in plans.nodes]
    counting = plans.nodes[types.index("Aggregate") :]
    assert [node["Relation Name"] for node in counting if "Relation Name" in node] == [
        "predictor_label"
    ]
    assert {node["Node Type"] for node in counting} & JOINS == set()
