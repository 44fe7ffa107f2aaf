"""Start a session: choose the memories to inject, and record all candidates.

1. Embed the context; meanwhile read what does not depend on its meaning. 2. In one transaction
recall it, gather candidates, call the learned ranker, rank. 3. Record all candidates, count
injections, write the event and send the signal. A known session key returns what was injected at
its first start, in the present wording.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from datetime import datetime
from random import Random
from time import perf_counter
from uuid import UUID

from engram.kernel import telemetry
from engram.kernel.actors import Actor
from engram.kernel.collisions import retry_on_collision
from engram.kernel.credentials import refuse_credentials, without_credentials
from engram.kernel.embedding import (
    EmbeddingUnavailableError,
    PendingReading,
    QueryReading,
    UnknownTextError,
    begin_reading,
)
from engram.kernel.history import event, send
from engram.kernel.inserting import insert
from engram.kernel.locks import one_at_a_time
from engram.kernel.models import Workspace
from engram.kernel.planning import searching_before_writing, writing
from engram.kernel.refusals import StaleError
from memories.core import injection
from memories.models import Memory, Session, SessionCandidate
from memories.services.causes import SESSION_KEY_TAKEN
from memories.services.disputes import UNDISPUTED, Dispute, disputes_with_quotes
from memories.services.drift.report import report_drift
from memories.services.recall.query import Query
from memories.services.sessions.candidates import (
    CandidateMemory,
    PlaceReading,
    SessionPlace,
    candidates_of,
    constraints_at,
    read_place,
)
from memories.services.sessions.offer import OfferedMemory, StartedSession, decided_since
from memories.services.sessions.ranker_hook import RankerAnswer, RankerRequest, ask_ranker
from memories.services.sessions.ranking import facts_of, rank_candidates
from memories.services.sessions.record import (
    CandidateRow,
    is_known,
    log_start,
    record_candidates,
    sessions_before,
)
from memories.signals import session_started

STAGE = "session_start"
TAKEN = "Another key started a session of this key; choose another session_key."
NOTHING_RELEVANT = "nothing relevant: no memory is likely to be of use for the context"
NO_MEMORIES = "no memories: none can be recalled in this project and scope"
SECONDS_AN_HOUR = 3600.0


@dataclass(frozen=True, slots=True)
class SessionRequest:
    """The request to start a session."""

    session_key: str
    project: str = ""
    scope: str = ""
    agent: str = ""
    context: str = ""
    k: int = 10
    budget_chars: int = 6000


def session_rng(workspace: Workspace, session_key: str) -> Random:
    """Return the random generator of a session, seeded by its session key."""
    return Random(f"{workspace.pk}:{session_key}")


def start_session(
    workspace: Workspace, request: SessionRequest, *, actor: Actor, now: datetime, rng: Random
) -> StartedSession:
    """Start a session, or return the existing one of this session key in its present wording."""
    began = perf_counter()
    request = replace(request, agent=actor.agent_name(request.agent))
    names = ("session_key", "project", "scope", "agent")
    refuse_credentials({name: getattr(request, name) for name in names})
    request = replace(request, context=without_credentials(request.context)[0])
    place = SessionPlace(request.project, request.scope, request.context)
    pending = read = None
    with searching_before_writing(workspace):
        if not is_known(request.session_key):
            pending = _begin_reading(workspace, request.context)
            read = read_place(place, now=now)
    place = replace(place, reading=_finish(pending, workspace, now))
    started = _start_once(workspace, request, place, read, actor=actor, now=now, rng=rng)
    if started.is_new:
        telemetry.observe(STAGE, perf_counter() - began, workspace)
    return started


@retry_on_collision
def _start_once(
    workspace: Workspace,
    request: SessionRequest,
    place: SessionPlace,
    read: PlaceReading | None,
    *,
    actor: Actor,
    now: datetime,
    rng: Random,
) -> StartedSession:
    """Start the session in one transaction, unless a concurrent request has started it."""
    with writing(workspace, in_order=True):
        one_at_a_time(f"session:{workspace.pk}:{request.session_key}")
        if is_known(request.session_key):
            return read_started(request.session_key, actor, now)
        read = read or read_place(place, now=now)  # the known session was erased meanwhile
        # A copy, so that a retry draws the same numbers.
        return _start(workspace, request, place, read, actor=actor, now=now, rng=copy(rng))


def _begin_reading(workspace: Workspace, context: str) -> PendingReading | None:
    """Begin to embed the context; None where it says nothing."""
    if not Query(context).is_meaningful:
        return None
    return begin_reading(context, workspace.embedding_model)


def _finish(
    pending: PendingReading | None, workspace: Workspace, now: datetime
) -> QueryReading | None:
    """Return the embedded context; None without one, or when it cannot be embedded.

    Words are used then.
    """
    if pending is None:
        return None
    model = workspace.embedding_model
    try:
        return pending.result()
    except UnknownTextError:
        return None
    except EmbeddingUnavailableError:
        telemetry.record_outage(
            "embedding", "embedding_unavailable", detail=model, now=now, workspace=workspace
        )
        return None


def read_started(session_key: str, actor: Actor, now: datetime) -> StartedSession:
    """Return the injected memories of a session that are live, with present wording and disputes.

    Raise `StaleError` for any caller but the one that started it.
    """
    session = Session.objects.get(session_key=session_key)
    if session.caller != actor.caller:
        raise StaleError(TAKEN, cause=SESSION_KEY_TAKEN)
    rows = list(session.candidates.filter(was_injected=True).order_by("rank"))
    memories = Memory.objects.recallable(now).in_bulk([row.memory_id for row in rows])
    disputes = disputes_with_quotes(list(memories), now=now)
    offered = [
        _offer(row, memories[row.memory_id], disputes) for row in rows if row.memory_id in memories
    ]
    before = sessions_before(session.caller, session.agent, session.started_at)
    decided = decided_since(before.own, session.started_at, now=now)
    holding = constraints_at(session.project, session.scope, now=now)
    left_out = [i for i in holding if i not in memories]
    return StartedSession(session, offered, decided, left_out, is_new=False)


def _start(
    workspace: Workspace,
    request: SessionRequest,
    place: SessionPlace,
    read: PlaceReading,
    *,
    actor: Actor,
    now: datetime,
    rng: Random,
) -> StartedSession:
    model = workspace.embedding_model
    found = candidates_of(workspace, place, read, now=now)
    before = sessions_before(actor.caller, request.agent, now)
    gap = _gap_hours(before.any, now)
    disputes = disputes_with_quotes([fact.id for fact in found.facts], now=now)
    ranker_request = RankerRequest(
        workspace=workspace,
        session_key=request.session_key,
        context=place.vector,
        model=model,
        project=request.project,
        now=now,
        gap_hours=gap,
        candidates=facts_of(found, disputes, now),
    )
    answer = ask_ranker(ranker_request)
    budget = injection.InjectionBudget(request.k, request.budget_chars)
    least = workspace.config.session_min_relevance
    rows = rank_candidates(found, answer, budget, disputes, least=least, rng=rng)
    session = _session(request, place.reading, answer, model=model, gap=gap, actor=actor, now=now)
    session.reason = _reason(rows)
    session.draft_share = answer.draft_share
    session.is_drafted = any(row.drafted_by for row in rows)
    injected = [row for row in rows if row.was_injected]
    started = event(
        "session.started",
        of=("session", session.id),
        actor=actor,
        now=now,
        session_key=session.session_key,
        data={"candidates": len(rows), "injected": len(injected)},
    )
    insert([session, started])
    record_candidates(session, rows)
    send(started)
    log_start(session, rows, answer)
    report_drift(
        ranker_request.workspace,
        [row.memory_id for row in injected],
        origin="session_start",
        now=now,
    )
    session_started.send(Session, session=session, now=now)
    facts = {fact.id: fact for fact in found.facts}
    offered = [_offer(row, facts[row.memory_id], disputes) for row in injected]
    known = {row.memory_id for row in injected}
    left_out = [i for i in found.constraints if i not in known]
    return StartedSession(
        session, offered, decided_since(before.own, now, now=now), left_out, is_new=True
    )


def _reason(rows: Sequence[CandidateRow]) -> str:
    """Return why nothing was chosen for the context; "" if something was."""
    if not rows:
        return NO_MEMORIES
    return "" if any(row.is_relevant for row in rows) else NOTHING_RELEVANT


def _offer(
    row: CandidateRow | SessionCandidate,
    memory: CandidateMemory | Memory,
    disputes: Mapping[UUID, Dispute],
) -> OfferedMemory:
    return OfferedMemory(
        memory_id=row.memory_id,
        content=memory.content,
        kind=memory.kind,
        score=row.final_score,
        relevance=row.relevance,
        source=row.source,
        is_always=row.is_always,
        dispute=disputes.get(row.memory_id, UNDISPUTED),
    )


def _gap_hours(before: datetime | None, now: datetime) -> float | None:
    """Return the hours since the workspace's previous session; 0 when a clock was set back."""
    return None if before is None else max(0.0, (now - before).total_seconds() / SECONDS_AN_HOUR)


def _session(
    request: SessionRequest,
    reading: QueryReading | None,
    answer: RankerAnswer,
    *,
    model: str,
    gap: float | None,
    actor: Actor,
    now: datetime,
) -> Session:
    return Session(
        session_key=request.session_key,
        project=request.project,
        scope=request.scope,
        agent=request.agent,
        context=request.context,
        context_embedding=None if reading is None else reading.vector,
        embedding_model=model,
        caller=actor.caller,
        key_id=actor.key_id,
        k=request.k,
        budget_chars=request.budget_chars,
        gap_hours=gap,
        started_at=now,
        alpha=answer.alpha,
        phase=answer.phase,
        model_version=answer.model_version,
        has_opinion=bool(answer.scores),
        no_opinion_reason=answer.no_opinion_reason,
        status_line=answer.status_line,
    )
