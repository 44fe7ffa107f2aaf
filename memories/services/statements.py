"""Statements by their hash: one decision at a time, and what was forgotten stays forgotten."""

from __future__ import annotations

from collections.abc import Iterable

from django.db import connection

from engram.kernel.tenancy import current_workspace_id
from memories.models import Memory, Observation, Revision


def lock_statements(hashes: Iterable[str]) -> None:
    """Let one transaction at a time decide about a statement; sorted, so that none can deadlock.

    Taken before any row is locked.
    """
    workspace_id = current_workspace_id()
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_advisory_xact_lock(hashtextextended(statement, 0))"
            " FROM unnest(%s::text[]) AS locks (statement)",
            [sorted({f"{workspace_id}:{digest}" for digest in hashes})],
        )


def forgotten_memory(digest: str) -> Memory | None:
    """Return the forgotten memory that said exactly this, now or in a wording that it had."""
    forgotten = Memory.objects.exclude(forgotten_at=None).order_by("-forgotten_at")
    said_before = Observation.objects.filter(content_hash=digest).values("memory_id")
    worded_before = Revision.objects.filter(content_hash=digest).values("memory_id")
    return (
        forgotten.filter(content_hash=digest).first()
        or forgotten.filter(pk__in=said_before).first()
        or forgotten.filter(pk__in=worded_before).first()
    )
