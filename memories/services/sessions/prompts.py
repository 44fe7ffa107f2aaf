"""Count prompts of a session: the memories that share rare words with each prompt."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import connection
from django.db.models import QuerySet

from engram.kernel.actors import Actor
from engram.kernel.binary import binary_cursor
from engram.kernel.collisions import retry_on_collision
from engram.kernel.history import record
from engram.kernel.models import Workspace
from engram.kernel.refusals import ForbiddenError, MissingError, StaleError
from engram.kernel.tenancy import current_workspace_id, in_workspace
from memories.core import bm25
from memories.core.hits import HITS_MAX, Match, match_prompt, prompt_terms
from memories.core.relevance import CALIBRATIONS, Evidence
from memories.core.text import terms
from memories.models import Memory, Session, SessionCandidate
from memories.services.causes import SESSION_ENDED, SESSION_OF_ANOTHER
from memories.services.disputes import UNDISPUTED, Dispute, disputes_with_quotes
from memories.services.index.postings import GAIN, POSTINGS, bm25_parameters, vocabulary_of
from memories.services.locks import lock

NO_SUCH_SESSION = "There is no such session."
NOT_YOURS = "Another key started this session; only that key speaks for it."
FTS_ONLY_MAX = 200  # rows that prompts add to one session
DIGESTS_KEPT = 500
READ_MAX = 200  # best matches by words that are examined
POSTINGS_A_TERM = 1000  # the highest-weighted per term

_SHARERS = f"""
    SELECT posting.memory_id, array_agg(asked.term), max(posting.words), sum({GAIN}) AS score
    FROM {POSTINGS}
    GROUP BY 1 HAVING bool_or(asked.term = ANY(%(words)s::text[]))
    ORDER BY 4 DESC, 1 LIMIT %(limit)s
"""  # noqa: S608  placeholders only
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
"""


@dataclass(frozen=True, slots=True)
class _Matched:
    """The match of a prompt with a memory."""

    score: float  # BM25
    by: Match
    relevance: float


@dataclass(frozen=True, slots=True)
class PromptHit:
    """A memory that a prompt matched, with its record in the session."""

    memory: Memory
    score: float
    relevance: float  # probability, from words alone
    candidate: SessionCandidate | None
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
    with in_workspace(workspace):
        # Checked before anything is read or locked; `open_session` checks it again.
        refuse_other_callers(
            find_session(Session.objects.defer("transcript", "context"), session_key), actor
        )
        matched = _matches(text, now, least=workspace.config.min_relevance)
        # Lock memories before the session, as erasing does, to avoid a deadlock.
        found = {memory.id for memory in lock(list(matched))}
        matched = {i: how for i, how in matched.items() if i in found}
        session = open_session(session_key, actor)
        digest = hashlib.sha256(text.encode()).hexdigest()[:32]
        is_new = digest not in session.prompt_digests
        if is_new:
            _count(session, matched, now)
            session.prompt_count += 1
            session.prompt_digests = [*session.prompt_digests, digest][-DIGESTS_KEPT:]
            session.active_at = now
            session.save(update_fields=["prompt_count", "prompt_digests", "active_at"])
            record(
                "session.prompted",
                of=("session", session.id),
                actor=actor,
                now=now,
                session_key=session.session_key,
                data={"prompt": session.prompt_count, "matched": len(matched)},
            )
        memories = Memory.objects.recallable(now).in_bulk(list(matched))
        rows = session.candidates.filter(memory__in=list(matched))
        records = {row.memory_id: row for row in rows}
        disputes = disputes_with_quotes(list(memories), now=now)
        hits = [
            PromptHit(
                memories[i],
                how.score,
                how.relevance,
                records.get(i),
                disputes.get(i, UNDISPUTED),
            )
            for i, how in matched.items()
            if i in memories
        ]
        return PromptResult(session, hits, is_new)


def open_session(session_key: str, actor: Actor) -> Session:
    """Lock and return a session of the caller that has not ended."""
    session = own_session(session_key, actor)
    if session.ended_at is not None:
        raise StaleError("This session has ended.", cause=SESSION_ENDED)
    return session


def own_session(session_key: str, actor: Actor) -> Session:
    """Lock and return a session that the caller started; others may only read it."""
    session = lock_session(session_key)
    refuse_other_callers(session, actor)
    return session


def lock_session(session_key: str) -> Session:
    """Lock and return a session."""
    return find_session(Session.objects.select_for_update(no_key=True), session_key)


def find_session(sessions: QuerySet[Session], session_key: str) -> Session:
    """Return the session of that session key, or raise `MissingError`."""
    session = sessions.filter(session_key=session_key).first()
    if session is None:
        raise MissingError(NO_SUCH_SESSION)
    return session


def refuse_other_callers(session: Session, actor: Actor) -> None:
    """Raise `ForbiddenError` when another caller started the session."""
    if session.caller != actor.caller:
        raise ForbiddenError(NOT_YOURS, cause=SESSION_OF_ANOTHER)


def _matches(text: str, now: datetime, *, least: float) -> dict[UUID, _Matched]:
    """Return the recallable memories that a prompt matches, the best by BM25 first.

    A match by a single word needs the relevance `least` as well.
    """
    vocabulary = vocabulary_of(terms(text))
    prompted = prompt_terms(vocabulary.terms, vocabulary.frequencies, vocabulary.memories)
    if not prompted.words:
        return {}
    limits = {"words": list(prompted.words), "postings": POSTINGS_A_TERM, "limit": READ_MAX}
    with binary_cursor() as cursor:
        cursor.execute(_SHARERS, bm25_parameters(vocabulary, prompted.terms) | limits)
        rows = cursor.fetchall()
    shares = bm25.share(
        {row[0]: row[3] for row in rows},
        vocabulary.terms,
        vocabulary.frequencies,
        vocabulary.memories,
    )
    matched = {}
    for memory_id, shared, length, score in rows:
        by = match_prompt(prompted, shared, length)
        relevance = CALIBRATIONS[Evidence.WORDS].relevance(
            shares[memory_id], memories=vocabulary.memories, terms=len(vocabulary.terms)
        )
        if by is Match.SEVERAL or (by is Match.SINGLE and relevance >= least):
            matched[memory_id] = _Matched(score, by, relevance)
    readable = Memory.objects.recallable(now).filter(pk__in=list(matched))
    allowed = set(readable.values_list("pk", flat=True))
    kept = [(i, how) for i, how in matched.items() if i in allowed]
    return dict(kept[:HITS_MAX])


def _count(session: Session, matched: Mapping[UUID, _Matched], now: datetime) -> None:
    """Count one hit for each memory; add a record for new ones, up to FTS_ONLY_MAX.

    A match by a single word counts only as the memory's first hit of the session.
    """
    records = session.candidates
    rows = records.filter(memory__in=list(matched))
    hits = dict(rows.values_list("memory_id", "fts_hit_count"))
    room = max(0, FTS_ONLY_MAX - records.filter(rank=None).count())
    known = [i for i, count in hits.items() if not count or matched[i].by is not Match.SINGLE]
    counted = [*known, *[i for i in matched if i not in hits][:room]]
    if not counted:
        return
    with connection.cursor() as cursor:
        cursor.execute(
            _COUNT,
            {
                "workspace": current_workspace_id(),
                "session": session.id,
                "ids": counted,
                "now": now,
            },
        )
