"""An upgrade keeps what is due: it moves from the predictor's state to the lease of training."""

from __future__ import annotations

from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from engram.kernel.tenancy import in_workspace
from predictor.models import PredictorState, TrainingLease
from tests.conftest import NOW, Tenant

BEFORE = ("predictor", "0001_squashed_0006_erased_versions")
AFTER = ("predictor", "0002_one_lease")


def test_a_training_that_is_due_stays_due(tenant: Tenant, neighbour: Tenant) -> None:
    for one in (tenant, neighbour):
        with in_workspace(one.workspace):
            PredictorState.objects.create(updated_at=NOW)
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        MigrationExecutor(connection).migrate([BEFORE])
        with in_workspace(tenant.workspace):
            cursor.execute(
                "UPDATE predictor_predictorstate SET training_due_since = %s,"
                " training_reason = 'drift'",
                [NOW],
            )
    MigrationExecutor(connection).migrate([AFTER])
    (lease,) = TrainingLease.objects.all()
    assert (lease.workspace, lease.due_at, lease.reason) == (tenant.workspace, NOW, "drift")
    assert (lease.holder, lease.heartbeat_at) == (None, None)
