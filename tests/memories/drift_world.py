"""Notes, memories that link them, and what tests of drift ask of a workspace."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from urllib.parse import quote
from uuid import UUID

from django.utils import timezone

from engram.kernel.tenancy import in_workspace
from memories.models import NoteSupport, PredictionError
from memories.services.drift.check import check_due
from memories.services.drift.report import report_drift
from tests.conftest import Caller, Tenant

PATH = "work/release.md"
BEFORE = """# Release

The licence review is an open blocker for the release. Builds run on Tuesdays.

## People

Marek signs the release notes. Ines books the rooms.
"""
AFTER = BEFORE.replace("is an open blocker for the release", "was resolved last week")
MEMORY = "The licence review is an open blocker for the release ([[work/release]])."
SHOWN = "The licence review is an open blocker for the release (release)."  # on pages
QUERY = "licence review blocker release"


def put(tenant: Tenant, content: str, path: str = PATH) -> None:
    answer = tenant.agent._send("put", f"notes/{quote(path)}", {"content": content}, {})
    assert answer.status_code in {200, 201}, answer.content


def remember(tenant: Tenant, content: str = MEMORY, **fields: Any) -> str:
    answer = tenant.agent.post("memories", {"content": content, **fields})
    assert answer.status_code in {200, 201}, answer.content
    memory_id: str = answer.json()["memory"]["id"]
    return memory_id


def recall(tenant: Tenant, query: str = QUERY, **fields: Any) -> list[str]:
    answer = tenant.agent.post("memories/recall", {"query": query, **fields})
    assert answer.status_code == 200, answer.content
    return [one["memory"]["id"] for one in answer.json()["results"]]


def give(tenant: Tenant, how: str, asked: str) -> None:
    """Let an answer of one kind give memories near to a text; of a prompt, in the session s1."""
    calls = {
        "recall": ("memories/recall", {"query": asked}),
        "context": ("context", {"task": asked}),
        "session": ("sessions", {"session_key": "s1", "context": asked}),
        "prompt": ("sessions/s1/prompts", {"prompt": asked}),
    }
    answer = tenant.agent.post(*calls[how])
    assert answer.status_code in {200, 201}, answer.content


def errors(caller: Caller, **filters: Any) -> list[dict[str, Any]]:
    answer = caller.get("prediction-errors", filters)
    assert answer.status_code == 200, answer.content
    body = answer.json()
    assert body["total"] >= len(body["results"])
    rows: list[dict[str, Any]] = body["results"]
    return rows


def check(tenant: Tenant, now: datetime | None = None) -> int:
    """Do what a worker does with what is due."""
    return check_due(tenant.workspace, now=now or timezone.now())


def drifted(tenant: Tenant, content: str = MEMORY, **fields: Any) -> str:
    """Remember something, change the note that it links, recall it; return the memory."""
    put(tenant, BEFORE)
    memory_id = remember(tenant, content, **fields)
    check(tenant)
    put(tenant, AFTER)
    assert memory_id in recall(tenant)
    return memory_id


DESKS = ("arrivals", "customs", "freight", "laundry", "lighting", "parking", "pharmacy", "repairs",
         "signage", "tickets", "transit", "visas")  # fmt: skip
DESKS_PATH = "work/desks.md"


def desks_note(hour: int, count: int) -> str:
    lines = [f"The {desk} desk opens at {hour}:00." for desk in DESKS[:count]]
    return "# Desks\n\n" + "\n\n".join(lines) + "\n\nAll desks have a bell.\n"


def drifted_desks(tenant: Tenant, count: int, **fields: Any) -> list[str]:
    """Let as many memories drift by one edit of a note; return them, as they were committed."""
    put(tenant, desks_note(8, count), DESKS_PATH)
    ids = [
        remember(tenant, f"The {desk} desk opens at 8:00 ([[work/desks]]).", **fields)
        for desk in DESKS[:count]
    ]
    check(tenant)
    put(tenant, desks_note(10, count), DESKS_PATH)
    report_desks(tenant, ids)
    return ids


def report_desks(tenant: Tenant, ids: list[str]) -> None:
    """Check what is due, and report drift as a recall of these memories does."""
    check(tenant)
    with in_workspace(tenant.workspace):
        report_drift(
            tenant.workspace, [UUID(one) for one in ids], origin="recall", now=timezone.now()
        )


def supports(tenant: Tenant) -> list[NoteSupport]:
    with in_workspace(tenant.workspace):
        return list(NoteSupport.objects.order_by("pk"))


def stored(tenant: Tenant) -> list[PredictionError]:
    with in_workspace(tenant.workspace):
        return list(PredictionError.objects.order_by("detected_at", "pk"))


def resolve(caller: Caller, error_id: str, action: str, **fields: Any) -> Any:
    return caller.post(f"prediction-errors/{error_id}/resolve", {"action": action, **fields})


SIGNER = "Marek signs the release notes ([[work/release]])."
UNSIGNED = BEFORE.replace("Marek signs the release notes. ", "")
SIGNING = "who signs the release notes"


def types(tenant: Tenant) -> list[str]:
    return sorted(row["error_type"] for row in errors(tenant.reader))
