"""Count prompts of a session: the memories that share rare words with each prompt."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from engram.kernel.actors import Actor
from engram.kernel.binary import binary_cursor, pack_ids
from engram.kernel.collisions import retry_on_collision
from engram.kernel.credentials import without_credentials
from engram.kernel.history import record
from engram.kernel.models import Workspace
from engram.kernel.planning import writing
from engram.kernel.tenancy import current_workspace_id
from memories.core.hits import Match
from memories.models import Session
from memories.services.disputes import UNDISPUTED, Dispute, disputes_with_quotes
from memories.services.drift.report import report_drift
from memories.services.sessions.access import demand_own_session, open_session
from memories.services.sessions.matches import MatchedMemory, lock_matches

FTS_ONLY_MAX = 200  # rows that prompts add to one session
DIGESTS_KEPT = 500

_RECORDS = """
    SELECT memory_id, source, was_injected, fts_hit_count FROM memories_sessioncandidate
    WHERE session_id = %(session)s AND memory_id = ANY(%(ids)s::uuid[])
"""
_ROOM = """
    SELECT count(*) FROM memories_sessioncandidate WHERE session_id = %(session)s AND rank IS NULL
"""
# One statement: lock memories in the order of their ids, as all writers do; then the records.
_COUNT = """
    WITH locked AS MATERIALIZED (
        SELECT id, revision FROM memories_memory
        WHERE workspace_id = %(workspace)s AND id = ANY(%(ids)s::uuid[])
        ORDER BY id FOR NO KEY UPDATE
    ), counted AS (
        UPDATE memories_memory SET hit_count = hit_count + 1
        FROM locked WHERE memories_memory.id = locked.id RETURNING 1
    )
    INSERT INTO memories_sessioncandidate AS known (
        workspace_id, session_id, memory_id, source, diversity, final_score, was_injected,
        is_always, revision, fts_hit_count, signals, created_at
    )
    SELECT %(workspace)s, %(session)s, id, 'fts_only', 1, 0, false, false, revision, 1, '{}',
        %(now)s::timestamptz
    FROM locked WHERE (SELECT count(*) FROM counted) >= 0
    ORDER BY id
    ON CONFLICT (session_id, memory_id) DO UPDATE SET fts_hit_count = known.fts_hit_count + 1
    RETURNING memory_id, source, was_injected, fts_hit_count
"""
_KEEP = """
    INSERT INTO memories_sessionprompt (workspace_id, session_id, number, text, memory_ids, at)
    VALUES (%(workspace)s, %(session)s, %(prompts)s, %(text)s, %(ids)s::uuid[], %(now)s)
"""
_PROMPTED = """
    UPDATE memories_session
    SET prompt_count = %(prompts)s, prompt_digests = %(digests)s, active_at = %(now)s
    WHERE id = %(session)s
"""


class HitRecord(NamedTuple):
    """The record of a memory in the session."""

    source: str
    was_injected: bool
    fts_hit_count: int


@dataclass(frozen=True, slots=True)
class PromptHit:
    """A memory that a prompt matched, with its record in the session."""

    memory: MatchedMemory
    candidate: HitRecord | None
    dispute: Dispute


@dataclass(frozen=True, slots=True)
class PromptResult:
    """The hits of a prompt, best first; a repeated prompt is not counted."""

    session: Session
    hits: Sequence[PromptHit]
    is_counted: bool


@retry_on_collision
def prompt(
    workspace: Workspace, session_key: str, text: str, *, actor: Actor, now: datetime
) -> PromptResult:
    """Count which memories a prompt of an open session shares rare words with."""
    with writing(workspace):
        # Checked before anything is read or locked; `open_session` checks it again.
        demand_own_session(session_key, actor)
        # Memories are locked before the session, as erasing does, to avoid a deadlock.
        matched = lock_matches(text, now, least=workspace.config.min_relevance)
        session = open_session(session_key, actor)
        digest = hashlib.sha256(text.encode()).hexdigest()[:32]
        records = _records_of(session, matched)
        is_new = digest not in session.prompt_digests
        if is_new:
            records |= _count(session, matched, records, now)
            _note_prompt(session, digest, now)
            if workspace.config.recalls_kept:
                _keep_prompt(session, text, matched.keys(), now)
            record(
                "session.prompted",
                of=("session", session.id),
                actor=actor,
                now=now,
                session_key=session.session_key,
                data={"prompt": session.prompt_count, "matched": len(matched)},
            )
        shown = [memory for memory in matched.values() if memory.is_recallable]
        ids = [memory.id for memory in shown]
        disputes = disputes_with_quotes(ids, now=now)
        report_drift(workspace, ids, origin="prompt", now=now)
        hits = [PromptHit(m, records.get(m.id), disputes.get(m.id, UNDISPUTED)) for m in shown]
        return PromptResult(session, hits, is_new)


def _records_of(session: Session, ids: Collection[UUID]) -> dict[UUID, HitRecord]:
    if not ids:
        return {}
    with binary_cursor(prepares=True) as cursor:
        cursor.execute(_RECORDS, {"session": session.id, "ids": pack_ids(ids)})
        return {memory_id: HitRecord(*values) for memory_id, *values in cursor.fetchall()}


def _count(
    session: Session,
    matched: Mapping[UUID, MatchedMemory],
    records: Mapping[UUID, HitRecord],
    now: datetime,
) -> dict[UUID, HitRecord]:
    """Count one hit for each memory; add a record for new ones, up to FTS_ONLY_MAX.

    A match by a single word counts only as the memory's first hit of the session. Return the
    records that were changed or added.
    """
    if not matched:
        return {}
    known = [
        i
        for i, found in records.items()
        if not found.fts_hit_count or matched[i].by is not Match.SINGLE
    ]
    new = [i for i in matched if i not in records]
    with binary_cursor(prepares=True) as cursor:
        if new:
            cursor.execute(_ROOM, {"session": session.id})
            new = new[: max(0, FTS_ONLY_MAX - cursor.fetchone()[0])]
        if not (known or new):
            return {}
        cursor.execute(
            _COUNT,
            {
                "workspace": current_workspace_id(),
                "session": session.id,
                "ids": pack_ids([*known, *new]),
                "now": now,
            },
        )
        return {memory_id: HitRecord(*values) for memory_id, *values in cursor.fetchall()}


def _note_prompt(session: Session, digest: str, now: datetime) -> None:
    """Store the number of prompts, the digest of this one, and the time."""
    session.prompt_count += 1
    session.prompt_digests = [*session.prompt_digests, digest][-DIGESTS_KEPT:]
    session.active_at = now
    with binary_cursor(prepares=True) as cursor:
        cursor.execute(
            _PROMPTED,
            {
                "prompts": session.prompt_count,
                "digests": session.prompt_digests,
                "now": now,
                "session": session.id,
            },
        )


def _keep_prompt(session: Session, text: str, ids: Collection[UUID], now: datetime) -> None:
    """Keep what was said, without credentials, and what it matched."""
    with binary_cursor(prepares=True) as cursor:
        cursor.execute(
            _KEEP,
            {
                "workspace": current_workspace_id(),
                "session": session.id,
                "prompts": session.prompt_count,
                "text": without_credentials(text)[0],
                "ids": pack_ids(ids),
                "now": now,
            },
        )
