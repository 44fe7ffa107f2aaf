"""Reports of one session from several connections at once, and how long reports are kept."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from typing import Any

from django.utils import timezone

from engram.kernel.tenancy import in_workspace
from memories.models import PredictionError, ReportItem, Session, SessionReport
from memories.services.retention.apply import delete_sessions, delete_transcripts
from tests.conftest import Tenant
from tests.memories.test_concurrency import CALLERS, at_once, shared_tenant  # noqa: F401

DOG = "The office dog is called Biscuit."


def started(tenant: Tenant) -> str:
    """Start a session that is given one memory; return the memory."""
    tenant.agent.post("memories", {"content": DOG})
    body = {"session_key": "s1", "context": "What is the office dog called?"}
    [given] = tenant.agent.post("sessions", body).json()["memories"]
    found: str = given["id"]
    return found


def test_one_of_several_reports_at_once_is_taken(shared_tenant: Tenant) -> None:  # noqa: F811
    dog = started(shared_tenant)

    def end(number: int) -> Any:
        # Two in three say the same.
        wrong = [{"memory": dog, "reason": f"reason {number % 3 == 0}"}]
        body = {"used": {dog: 0.5}, "wrong": wrong, "missing": [f"gap {number % 3 == 0}"]}
        return shared_tenant.agent.post("sessions/s1/end", body)

    codes = Counter(answer.status_code for answer in at_once(end))
    assert set(codes) <= {202, 409}
    assert codes[202] in {CALLERS // 3, CALLERS - CALLERS // 3}
    with in_workspace(shared_tenant.workspace):
        assert SessionReport.objects.count() == 1
        assert ReportItem.objects.count() == 3
        assert PredictionError.objects.get().occurrences == 1


def test_a_report_stays_without_its_transcript_and_goes_with_its_session(tenant: Tenant) -> None:
    dog = started(tenant)
    body = {"transcript": "We talked.", "used": {dog: 1}, "missing": ["Who walks the dog?"]}
    assert tenant.agent.post("sessions/s1/end", body).status_code == 202
    now = timezone.now() + timedelta(days=2)
    assert delete_transcripts(tenant.workspace, now - timedelta(days=1), now) == 1
    with in_workspace(tenant.workspace):
        assert Session.objects.get().transcript == ""
        assert ReportItem.objects.count() == 2
    assert delete_sessions(tenant.workspace, now - timedelta(days=1), now) == 1
    with in_workspace(tenant.workspace):
        assert ReportItem.objects.count() == SessionReport.objects.count() == 0
