"""Row locks on memories, always taken in the order of their ids."""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from django.db import connection

from engram.kernel.tenancy import current_workspace_id
from memories.models import Memory


def lock(ids: Collection[UUID], *, to_erase: bool = False) -> list[Memory]:
    """Lock memories in the order of their ids, so that two transactions cannot deadlock.

    With `to_erase` the lock also waits for transactions that hold a `share_lock`.
    """
    memories = Memory.objects.filter(pk__in=ids).order_by("pk")
    return list(memories.select_for_update(no_key=not to_erase))


def share_lock(ids: Collection[UUID]) -> None:
    """Keep memories from being erased until the transaction ends; they may change meanwhile.

    Used before inserting rows that refer to the memories: the database checks foreign keys only at
    the end of the transaction.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT 1 FROM memories_memory WHERE workspace_id = %s AND id = ANY(%s)"
            " ORDER BY id FOR KEY SHARE",
            [current_workspace_id(), list(ids)],
        )


def share_lock_free(ids: Collection[UUID]) -> set[UUID]:
    """Take `share_lock` on memories that no transaction is erasing; return their ids, never wait.

    Used where the caller already holds locks that an erasing transaction will request.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT id FROM memories_memory WHERE workspace_id = %s AND id = ANY(%s)"
            " FOR KEY SHARE SKIP LOCKED",
            [current_workspace_id(), list(ids)],
        )
        return {memory_id for (memory_id,) in cursor.fetchall()}
