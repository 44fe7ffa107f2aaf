"""The condition of recallable memories for plain SQL, compiled once a workspace."""

from __future__ import annotations

from datetime import datetime
from functools import lru_cache
from uuid import UUID

from engram.kernel.plain_sql import ANY_TIME, Condition, condition_of
from engram.kernel.tenancy import current_workspace_id
from memories.models import Memory


def recallable_condition(now: datetime) -> Condition:
    """Return the condition on `memories_memory` that a row can be recalled at a moment."""
    return _condition(current_workspace_id()).replace(ANY_TIME, now)


@lru_cache(maxsize=512)
def _condition(workspace_id: UUID) -> Condition:
    """Return the condition at `ANY_TIME` in the current workspace, `workspace_id`."""
    return condition_of(Memory.objects.recallable(ANY_TIME).order_by())
