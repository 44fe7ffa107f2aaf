"""Statements by their hash: one decision at a time, and what was forgotten stays forgotten."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from django.db import connection

from engram.kernel.refusals import StaleError
from engram.kernel.tenancy import current_workspace_id
from memories.models import Memory, Observation, Revision
from memories.models.memory import MemoryQuerySet
from memories.services.causes import SAME_STATEMENT

SAID_AGAIN = "The same statement was committed again meanwhile; forget that one first."


class Corpus(NamedTuple):
    """What a transaction sees of a workspace's memories when it begins to decide."""

    size: int  # `corpus_size()`
    writes: int  # `CorpusSize.writes`
    unseen_from: int  # the oldest transaction that may not be seen


def lock_statements(hashes: Iterable[str]) -> tuple[set[str], Corpus]:
    """Let one transaction at a time decide about a statement; sorted, so that none can deadlock.

    Taken before any row is locked. Returns those that somebody has said before, in whatever state
    and place, and the corpus; what is read after the locks sees what they waited for.
    """
    workspace_id = current_workspace_id()
    wanted = sorted(set(hashes))
    locks = [f"{workspace_id}:{digest}" for digest in wanted]
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT pg_advisory_xact_lock(hashtextextended(statement, 0))
            FROM unnest(%s::text[]) AS locks (statement);
            SELECT content_hash FROM memories_memory
            WHERE workspace_id = %s AND content_hash = ANY(%s)
            UNION SELECT content_hash FROM memories_observation
            WHERE workspace_id = %s AND content_hash = ANY(%s)
            UNION SELECT content_hash FROM memories_revision
            WHERE workspace_id = %s AND content_hash = ANY(%s);
            SELECT coalesce(max(memories), 0), coalesce(max(writes), 0),
                pg_snapshot_xmin(pg_current_snapshot())::text::bigint
            FROM memories_corpussize WHERE workspace_id = %s
            """,
            [
                locks,
                workspace_id,
                wanted,
                workspace_id,
                wanted,
                workspace_id,
                wanted,
                workspace_id,
            ],
        )
        cursor.nextset()
        known = {digest for (digest,) in cursor.fetchall()}
        cursor.nextset()
        return known, Corpus(*cursor.fetchone())


def live_twins(digest: str, *, scope: str, project: str, now: datetime) -> MemoryQuerySet:
    """Return the live memories that say exactly this in the same place: one that lasts at most."""
    live = Memory.objects.recallable(now)
    return live.filter(content_hash=digest, scope=scope, project=project)


def refuse_twins(coming: Collection[Memory], now: datetime) -> None:
    """Refuse to bring back what stands again: two rows would say the same in the same place.

    `coming` will be live; their statements are locked.
    """
    hashes = {memory.content_hash for memory in coming}
    standing = {
        (memory.scope, memory.project, memory.content_hash): memory.id
        for memory in Memory.objects.recallable(now).filter(content_hash__in=hashes)
    }
    places = [(memory.scope, memory.project, memory.content_hash) for memory in coming]
    twins = sorted({standing[place] for place in places if place in standing})
    if twins or len(set(places)) < len(places):
        raise StaleError(SAID_AGAIN, twins, cause=SAME_STATEMENT)


def forgotten_wordings(hashes: Collection[str]) -> dict[str, datetime]:
    """Return which statements forgotten memories say or once said, and when that was forgotten."""
    wanted = sorted(set(hashes))
    if not wanted:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT wording.content_hash, max(memory.forgotten_at)
            FROM (
                SELECT id AS memory_id, content_hash FROM memories_memory
                WHERE workspace_id = %(workspace)s AND content_hash = ANY(%(hashes)s)
                UNION ALL SELECT memory_id, content_hash FROM memories_observation
                WHERE workspace_id = %(workspace)s AND content_hash = ANY(%(hashes)s)
                UNION ALL SELECT memory_id, content_hash FROM memories_revision
                WHERE workspace_id = %(workspace)s AND content_hash = ANY(%(hashes)s)
            ) AS wording
            JOIN memories_memory AS memory ON memory.id = wording.memory_id
            WHERE memory.workspace_id = %(workspace)s AND memory.forgotten_at IS NOT NULL
            GROUP BY wording.content_hash
            """,
            {"workspace": current_workspace_id(), "hashes": wanted},
        )
        return dict(cursor.fetchall())


def wordings_of(memory_ids: Collection[UUID]) -> set[str]:
    """Return the hashes of all that memories say, said before and were sent."""
    return _of_wordings(memory_ids, "content_hash")


def texts_of(memory_ids: Collection[UUID]) -> set[str]:
    """Return all that memories say, said before and were sent."""
    return _of_wordings(memory_ids, "content")


def _of_wordings(memory_ids: Collection[UUID], field: str) -> set[str]:
    ids = list(memory_ids)
    return set(
        Memory.objects.filter(pk__in=ids)
        .order_by()
        .values_list(field, flat=True)
        .union(
            *(
                model.objects.filter(memory__in=ids).order_by().values_list(field)
                for model in (Observation, Revision)
            )
        )
    )


def forgotten_memory(digest: str) -> Memory | None:
    """Return the forgotten memory that said exactly this, now or in a wording that it had."""
    workspace_id = current_workspace_id()
    found = Memory.objects.raw(
        """
        SELECT memory.* FROM memories_memory AS memory
        WHERE memory.workspace_id = %(workspace)s AND memory.forgotten_at IS NOT NULL
            AND memory.id IN (
                SELECT id FROM memories_memory
                WHERE workspace_id = %(workspace)s AND content_hash = %(digest)s
                UNION ALL SELECT memory_id FROM memories_observation
                WHERE workspace_id = %(workspace)s AND content_hash = %(digest)s
                UNION ALL SELECT memory_id FROM memories_revision
                WHERE workspace_id = %(workspace)s AND content_hash = %(digest)s
            )
        ORDER BY memory.content_hash = %(digest)s DESC, memory.forgotten_at DESC LIMIT 1
        """,
        {"workspace": workspace_id, "digest": digest},
    )
    return next(iter(found), None)
