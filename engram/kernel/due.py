"""Find the workspaces with due work, by one statement however many there are.

Row-level security shows one workspace at a time, and is not loosened: the database's function
`engram_due_workspaces` reads each workspace under its policies, and returns ids and times only.
A sweep calls it first, and opens only the workspaces that it returns.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import QuerySet

from engram.kernel.models import Workspace
from engram.kernel.tenancy import for_any_workspace


def waiting_since(
    rows: Callable[[], QuerySet[Any]], since: str, *, most: int | None = None
) -> dict[UUID, datetime]:
    """Return the workspaces that have such rows, longest waiting first, and since when.

    `rows` builds a queryset by scoped managers; `since` names its column that says since when a row
    has waited, and is never null. With `most`, any so many of them.
    """
    with for_any_workspace():
        first = rows().order_by(since).values(since)[:1]
        question = first.query.sql_with_params()
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT * FROM engram_due_workspaces(%s, %s) ORDER BY since, workspace",
            [cursor.mogrify(*question), most],
        )
        return dict(cursor.fetchall())


def due_workspaces(
    rows: Callable[[], QuerySet[Any]], since: str, *, most: int | None = None
) -> list[Workspace]:
    """Return the workspaces that have such rows, longest waiting first."""
    waiting = waiting_since(rows, since, most=most)
    found = Workspace.objects.in_bulk(waiting) if waiting else {}
    return [found[workspace_id] for workspace_id in waiting if workspace_id in found]
