"""Temporary workspaces within a transaction that is rolled back.

Nobody else sees them, no task is woken, no event is published, no counter changes, and a killed run
leaves nothing behind.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any
from uuid import uuid4

from django.db import OperationalError, connection, transaction
from django.db.models import Model

from engram.kernel.actors import Actor
from engram.kernel.models import Role, Workspace
from engram.kernel.refusals import InvalidError
from memories.models import (
    EntityCount,
    Memory,
    MemoryEntity,
    MemoryVector,
    Posting,
    TermCount,
)
from memories.services.commit.commit import Committed, commit_all
from memories.services.commit.draft import Draft
from memories.services.index.pending import embed_pending

ANALYZED = (Memory, MemoryVector, Posting, TermCount, MemoryEntity, EntityCount)
EVALUATOR = Actor(kind="system", id="", label="evaluate", role=Role.ADMIN)


@contextmanager
def roll_back() -> Iterator[None]:
    """Roll back everything that the block writes; nested blocks are savepoints."""
    with transaction.atomic():
        try:
            yield
        finally:
            transaction.set_rollback(True)


@contextmanager
def scratch_workspace(**settings: Any) -> Iterator[Workspace]:
    """Yield an empty workspace, with default settings except those given; roll it back."""
    with roll_back():
        slug = f"evaluate-{uuid4().hex[:12]}"
        yield Workspace.objects.create(slug=slug, name="Evaluation", settings=settings)


def refresh_statistics(models: Sequence[type[Model]] = ANALYZED) -> bool:
    """Run ANALYZE for rows that only this transaction sees; otherwise the planner's plans are bad.

    ANALYZE blocks others from analysing the same tables until the transaction ends: if another one
    runs, it is skipped, and False returned. PostgreSQL's estimate of the number of rows stays until
    its next ANALYZE.
    """
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET LOCAL lock_timeout = '200ms'")
            for model in models:
                cursor.execute(f"ANALYZE {connection.ops.quote_name(model._meta.db_table)}")
            cursor.execute("SET LOCAL lock_timeout TO DEFAULT")
    except OperationalError:
        return False
    return True


def commit_rows(
    workspace: Workspace,
    drafts: Sequence[Draft],
    *,
    now: datetime,
    is_gated: bool = True,
    is_detected: bool = True,
) -> list[Committed | None]:
    """Commit a file's rows in order; None means a row that is refused (a credential)."""

    def attempt(some: Sequence[Draft]) -> list[Committed]:
        return commit_all(
            workspace,
            some,
            actor=EVALUATOR,
            now=now,
            is_gated=is_gated,
            is_detected=is_detected,
        )

    try:
        results = attempt(drafts)
        embed_pending(workspace)  # no worker sees these rows
        return list(results)
    except InvalidError:
        if len(drafts) == 1:
            return [None]
    return [
        result
        for draft in drafts
        for result in commit_rows(
            workspace, [draft], now=now, is_gated=is_gated, is_detected=is_detected
        )
    ]
