"""Sweeps ask once which workspaces have something due, however many there are."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from conflicts.models import DetectionLease, NarrativeLease
from engram.celery import app
from engram.console.models import (
    Digest,
    DigestLease,
    DigestMail,
    WebhookDelivery,
    WebhookEndpoint,
)
from engram.kernel.models import LatencyHour, Workspace
from engram.kernel.tenancy import in_workspace
from memories.models import JanitorRun, Memory, Session
from predictor.models import Judgement, JudgeStatus, PredictorState, TrainingLease

SWEEPS = sorted(settings.CELERY_BEAT_SCHEDULE)


def idle_workspaces(count: int) -> None:
    """Make workspaces with rows of every kind of work, none of them due."""
    now = timezone.now()
    reader, _ = User.objects.get_or_create(username="reader")
    for n in range(Workspace.objects.count(), count):
        workspace = Workspace.objects.create(slug=f"idle-{n}", name="Idle")
        with in_workspace(workspace):
            session = Session(session_key="s", started_at=now, active_at=now, k=5, budget_chars=0)
            Session.objects.bulk_create([session])
            Judgement.objects.create(
                session=session, due_at=now, judged_at=now, status=JudgeStatus.DONE
            )
            PredictorState.objects.create(updated_at=now)
            Memory.objects.create(
                content="Tea is at four.", content_hash="tea", observed_at=now,
                created_at=now, updated_at=now,
            )  # fmt: skip
            JanitorRun.objects.create(started_at=now)
            LatencyHour.objects.create(stage="recall", hour=now, counts=[])
            digest = Digest.objects.create(day=now.date(), made_at=now, open_count=1)
            DigestMail.objects.create(digest=digest, user=reader, queued_at=now)
            endpoint = WebhookEndpoint.objects.create(events=[], created_at=now)
            WebhookDelivery.objects.create(endpoint=endpoint, at=now, queued_at=now)
        Workspace.objects.filter(pk=workspace.pk).update(created_at=now - timedelta(days=365))
        for lease in (DetectionLease, DigestLease, NarrativeLease, TrainingLease):
            lease.objects.create(workspace=workspace)


def statements(task: str) -> list[str]:
    """Return the statements of a sweep."""
    app.loader.import_default_modules()
    with CaptureQueriesContext(connection) as asked:
        app.tasks[task]()
    return [query["sql"] for query in asked.captured_queries]


@pytest.mark.django_db
@pytest.mark.parametrize("task", SWEEPS)
def test_a_sweep_asks_as_much_of_fifty_idle_workspaces_as_of_one(task: str) -> None:
    idle_workspaces(1)
    statements(task)  # what a process asks once
    of_one = statements(task)
    idle_workspaces(50)
    of_fifty = statements(task)
    assert len(of_fifty) == len(of_one), of_fifty
    opened = [sql for sql in of_fifty if "set_config('engram.workspace'" in sql]
    assert opened == []
