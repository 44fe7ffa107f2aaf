"""Read and write the rows of a session: earlier sessions, candidate records, injection counts."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

import numpy as np
from django.db import transaction

from engram.kernel import telemetry
from engram.kernel.binary import Packed, binary_cursor, prepared_cursor
from engram.kernel.tenancy import current_workspace_id
from memories.models import Session
from memories.services.sessions.ranker_hook import RankerAnswer

# One statement with one plan. Numbers are sent packed, missing ones as NaN or 0; the signals of a
# row are a slice of one long array.
_RECORD = """
    WITH recorded AS (
        INSERT INTO memories_sessioncandidate (
            workspace_id, session_id, created_at, memory_id, source, baseline_score, baseline_rank,
            recall_score, effectiveness, cosine, relevance, predictor_score, linear_score,
            predictor_rank, fused_score, diversity, final_score, rank, was_injected, is_always,
            revision, is_relevant, drafted_by, propensity, fts_hit_count, signals
        )
        SELECT %(workspace)s, %(session)s, %(at)s, memory_id, source, baseline_score, baseline_rank,
            nullif(recall_score, 'NaN'), effectiveness, nullif(cosine, 'NaN'),
            nullif(relevance, 'NaN'), nullif(predictor_score, 'NaN'), nullif(linear_score, 'NaN'),
            nullif(predictor_rank, 0), fused_score, diversity, final_score, rank, was_injected,
            is_always, revision, is_relevant, drafted_by, nullif(propensity, 'NaN'), 0,
            (%(all_signals)b::float8[])[(place - 1) * %(width)s + 1 : place * %(width)s]
        FROM unnest(
            %(memory_id)b::uuid[], %(source)b::text[], %(baseline_score)b::float8[],
            %(baseline_rank)b::int[], %(recall_score)b::float8[], %(effectiveness)b::float8[],
            %(cosine)b::float8[], %(relevance)b::float8[], %(predictor_score)b::float8[],
            %(linear_score)b::float8[], %(predictor_rank)b::int[], %(fused_score)b::float8[],
            %(diversity)b::float8[], %(final_score)b::float8[], %(rank)b::int[],
            %(was_injected)b::bool[], %(is_always)b::bool[], %(revision)b::int[],
            %(is_relevant)b::bool[], %(drafted_by)b::text[], %(propensity)b::float8[]
        ) WITH ORDINALITY AS made (
            memory_id, source, baseline_score, baseline_rank, recall_score, effectiveness, cosine,
            relevance, predictor_score, linear_score, predictor_rank, fused_score, diversity,
            final_score, rank, was_injected, is_always, revision, is_relevant, drafted_by,
            propensity, place
        )
    ), locked AS MATERIALIZED (
        SELECT id FROM memories_memory
        WHERE workspace_id = %(workspace)s AND id = ANY(%(given)s::uuid[])
        ORDER BY id FOR NO KEY UPDATE
    )
    UPDATE memories_memory SET injected_count = injected_count + 1
    FROM locked WHERE memories_memory.id = locked.id
"""
_PACKED = {
    "f8": (
        "baseline_score",
        "recall_score",
        "effectiveness",
        "cosine",
        "relevance",
        "predictor_score",
        "linear_score",
        "fused_score",
        "diversity",
        "final_score",
        "propensity",
    ),
    "i4": ("baseline_rank", "predictor_rank", "rank", "revision"),
    "?": ("was_injected", "is_always", "is_relevant"),
}
_BEFORE = """
    SELECT (
        SELECT started_at FROM memories_session WHERE workspace_id = %(workspace)s
        ORDER BY started_at DESC, id DESC LIMIT 1
    ), (
        SELECT started_at FROM memories_session WHERE workspace_id = %(workspace)s
            AND caller = %(caller)s AND agent = %(agent)s AND started_at < %(at)s
        ORDER BY started_at DESC LIMIT 1
    )
"""


class EarlierSessions(NamedTuple):
    """The start of the workspace's newest session, and of the caller's (and agent's) last one."""

    any: datetime | None
    own: datetime | None


class CandidateRow(NamedTuple):
    """The record of one candidate; fields are named as the columns."""

    memory_id: UUID
    source: str
    baseline_score: float
    baseline_rank: int
    recall_score: float | None
    effectiveness: float
    cosine: float | None
    relevance: float | None
    predictor_score: float | None
    linear_score: float | None
    predictor_rank: int | None
    fused_score: float
    diversity: float
    final_score: float
    rank: int
    was_injected: bool
    is_always: bool
    revision: int
    is_relevant: bool
    drafted_by: str
    propensity: float | None
    signals: Sequence[float]


def is_known(session_key: str) -> bool:
    """Return whether a session with this session key exists."""
    with prepared_cursor() as cursor:
        cursor.execute(
            "SELECT 1 FROM memories_session WHERE workspace_id = %s AND session_key = %s",
            [current_workspace_id(), session_key],
        )
        return cursor.fetchone() is not None


def sessions_before(caller: str, agent: str, at: datetime) -> EarlierSessions:
    """Return when the newest session of all, and of the caller (and agent) before `at`, began."""
    parameters: dict[str, Any] = {"caller": caller, "agent": agent, "at": at}
    with prepared_cursor() as cursor:
        cursor.execute(_BEFORE, parameters | {"workspace": current_workspace_id()})
        return EarlierSessions(*cursor.fetchone())


def record_candidates(session: Session, rows: Sequence[CandidateRow]) -> None:
    """Insert the candidate records of a session, and count the injected memories.

    An injection counts neither as recall nor as use. All rows have the same number of signals.
    """
    if not rows:
        return
    columns = dict(zip(CandidateRow._fields, map(list, zip(*rows, strict=True)), strict=True))
    signals = np.array(columns.pop("signals"), np.float64)
    columns["predictor_rank"] = [rank or 0 for rank in columns["predictor_rank"]]
    packed = {
        name: Packed(np.array(columns[name], kind))  # None is sent as NaN
        for kind, names in _PACKED.items()
        for name in names
    }
    parameters = {
        "workspace": current_workspace_id(),
        "session": session.id,
        "at": session.started_at,
        "all_signals": Packed(signals.ravel()),
        "width": signals.shape[1],
        "given": [row.memory_id for row in rows if row.was_injected],
    }
    with binary_cursor(prepares=True) as cursor:
        cursor.execute(_RECORD, columns | packed | parameters)


CATEGORY = "predictor"


def log_start(session: Session, rows: Sequence[CandidateRow], answer: RankerAnswer) -> None:
    """Log the session start after commit; nothing without a learned ranker."""
    if not answer.phase:
        return
    key, scores = session.session_key, answer.scores
    injected = sum(row.was_injected for row in rows)
    drafted = sum(bool(row.drafted_by) for row in rows)
    attenuated = sum(row.diversity < 1 for row in rows)

    def write() -> None:
        telemetry.log_event(
            "prefilter", CATEGORY, session_key=key, candidates=len(rows), injected=injected
        )
        if scores:
            telemetry.log_event(
                "score",
                CATEGORY,
                session_key=key,
                candidates=len(scores),
                top_pick=max(scores, key=lambda memory_id: scores[memory_id]),
                alpha=answer.alpha,
                drafted=drafted,
                model_version=answer.model_version,
            )
        if attenuated:
            telemetry.log_event("diversity", CATEGORY, session_key=key, attenuated=attenuated)

    transaction.on_commit(write)
