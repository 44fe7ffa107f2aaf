"""Memories of a known age and importance, sessions over them, and rankers that tests plug in."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import datetime, timedelta
from random import Random
from typing import Any
from uuid import UUID

from engram.kernel.actors import Actor
from engram.kernel.models import Role
from engram.kernel.tenancy import in_workspace
from memories.models import Memory, SessionCandidate
from memories.services.sessions.offer import StartedSession
from memories.services.sessions.ranker_hook import RankerAnswer, RankerRequest
from memories.services.sessions.start import SessionRequest, start_session
from tests.conftest import NOW, Tenant

AGENT = Actor(kind="user", id="7", label="somebody", role=Role.AGENT)


def remember(
    tenant: Tenant,
    content: str,
    *,
    days: float = 0,
    importance: float = 0.5,
    at: datetime = NOW,
    **fields: Any,
) -> UUID:
    """Commit a memory that was learned so many days before."""
    body = {
        "content": content,
        "importance": importance,
        "observed_at": (at - timedelta(days=days)).isoformat(),
        **fields,
    }
    answer = tenant.agent.post("memories", body)
    assert answer.status_code == 201, answer.json()
    return UUID(answer.json()["memory"]["id"])


def begin(tenant: Tenant, key: str = "s1", *, now: datetime = NOW, **wanted: Any) -> StartedSession:
    """Start a session."""
    return start_session(
        tenant.workspace,
        SessionRequest(session_key=key, **wanted),
        actor=AGENT,
        now=now,
        rng=Random(key),
    )


def injected_ids(started: StartedSession) -> list[UUID]:
    """Return what a session was given, in order."""
    return [one.memory_id for one in started.offered]


def records(tenant: Tenant, started: StartedSession) -> list[SessionCandidate]:
    """Return the records of a session, those that were ranked first."""
    with in_workspace(tenant.workspace):
        return list(started.session.candidates.order_by("rank", "pk"))


def counters(tenant: Tenant, ids: Sequence[UUID]) -> list[tuple[int, int, int]]:
    """Return how often memories were recalled, injected and hit."""
    with in_workspace(tenant.workspace):
        found = Memory.objects.in_bulk(list(ids))
        return [(found[i].recall_count, found[i].injected_count, found[i].hit_count) for i in ids]


def rank_reversed(request: RankerRequest) -> RankerAnswer:
    """Rank against the baseline, with all influence."""
    scores = {one.id: float(n) for n, one in enumerate(request.candidates)}
    return RankerAnswer(
        scores=scores, alpha=0.0, phase="active", model_version=3, status_line="[odd]"
    )


def rank_alike(request: RankerRequest) -> RankerAnswer:
    """Rank as the baseline does."""
    scores = {one.id: -float(n) for n, one in enumerate(request.candidates)}
    return RankerAnswer(scores=scores, alpha=0.5, signals={i: [1.0] * 12 for i in scores})


def rank_exploring(request: RankerRequest) -> RankerAnswer:
    """Rank against the baseline, without influence, and always explore."""
    scores = {one.id: float(n) for n, one in enumerate(request.candidates)}
    return RankerAnswer(scores=scores, alpha=1.0, exploration_rate=1.0)


def rank_raising(request: RankerRequest) -> RankerAnswer:
    """Fail."""
    raise ZeroDivisionError


def rank_failing_in_the_database(request: RankerRequest) -> RankerAnswer:
    """Break the transaction that it is called in."""
    Memory.objects.raw("SELECT no_such_column FROM memories_memory")[0]
    return RankerAnswer()


def rank_with_nan(request: RankerRequest) -> RankerAnswer:
    """Answer a score that is no number."""
    return RankerAnswer(scores={one.id: float("nan") for one in request.candidates})


def rank_some(request: RankerRequest) -> RankerAnswer:
    """Answer scores of some candidates only."""
    return RankerAnswer(scores={one.id: 1.0 for one in request.candidates[:1]})


def rank_with_linear_nan(request: RankerRequest) -> RankerAnswer:
    """Answer scores, and linear ones that are no numbers."""
    scores = {one.id: 1.0 for one in request.candidates}
    return RankerAnswer(scores=scores, linear=dict.fromkeys(scores, float("nan")))


def rank_some_linear(request: RankerRequest) -> RankerAnswer:
    """Answer scores, and linear ones of some candidates only."""
    scores = {one.id: 1.0 for one in request.candidates}
    return RankerAnswer(scores=scores, linear=dict(list(scores.items())[:1]))


def slow(request: RankerRequest) -> RankerAnswer:
    """Hold others up."""
    time.sleep(0.3)
    return RankerAnswer()
