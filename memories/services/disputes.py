"""Asks whoever plugged in (by setting) which memories are in dispute."""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from django.conf import settings
from django.utils.module_loading import import_string


def disputes_of(memory_ids: Collection[UUID]) -> dict[UUID, list[UUID]]:
    """Return the open conflicts of each disputed memory."""
    found: dict[UUID, list[UUID]] = {}
    if not memory_ids:
        return found
    for name in settings.ENGRAM_RECALL_ANNOTATORS:
        for memory_id, conflict_ids in import_string(name)(memory_ids).items():
            found.setdefault(memory_id, []).extend(conflict_ids)
    return found
