"""Look up and lock statements by content hash; find duplicates and forgotten statements."""

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

COMMITTED_AGAIN = "The same statement was committed again meanwhile; forget that one first."


class CorpusVersion(NamedTuple):
    """The size and write counter of a workspace's corpus in a transaction's snapshot."""

    size: int  # `corpus_size()`
    writes: int  # `CorpusSize.writes`
    unseen_from: int  # the oldest transaction that this snapshot may not see


def lock_statements(hashes: Iterable[str]) -> tuple[set[str], CorpusVersion]:
    """Take advisory locks on statements, in sorted order, so that two transactions cannot deadlock.

    Call it before locking any row. Return the hashes that were committed before (in any state and
    place) and the corpus, both read after the locks are held.
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
        return known, CorpusVersion(*cursor.fetchone())


def live_twins(digest: str, *, scope: str, project: str, now: datetime) -> MemoryQuerySet:
    """Return the live memories with this hash in one place; at most one has no expiry."""
    live = Memory.objects.recallable(now)
    return live.filter(content_hash=digest, scope=scope, project=project)


def refuse_twins(restored: Collection[Memory], now: datetime) -> None:
    """Raise `StaleError` if restoring memories would duplicate a live statement in its place.

    `restored` are the memories that will be live; the caller has locked their statements.
    """
    hashes = {memory.content_hash for memory in restored}
    live_ids = {
        (memory.scope, memory.project, memory.content_hash): memory.id
        for memory in Memory.objects.recallable(now).filter(content_hash__in=hashes)
    }
    places = [(memory.scope, memory.project, memory.content_hash) for memory in restored]
    twins = sorted({live_ids[place] for place in places if place in live_ids})
    if twins or len(set(places)) < len(places):
        raise StaleError(COMMITTED_AGAIN, twins, cause=SAME_STATEMENT)


def forgotten_wordings(
    hashes: Collection[str], *, apart_from: Collection[UUID] = ()
) -> dict[str, datetime]:
    """Return those hashes that a forgotten memory has or had as wording → when it was forgotten.

    The memories `apart_from` do not count.
    """
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
                AND memory.id <> ALL(%(apart)s::uuid[])
            GROUP BY wording.content_hash
            """,
            {
                "workspace": current_workspace_id(),
                "hashes": wanted,
                "apart": list(apart_from),
            },
        )
        return dict(cursor.fetchall())


def wordings_of(memory_ids: Collection[UUID]) -> set[str]:
    """Return the content hashes of all wordings: present, former and observed."""
    return _of_wordings(memory_ids, "content_hash")


def texts_of(memory_ids: Collection[UUID]) -> set[str]:
    """Return the texts of all wordings: present, former and observed."""
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
    """Return the forgotten memory with this hash as present, former or observed wording."""
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
