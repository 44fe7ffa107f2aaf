"""Sessions to be judged: started and ended by the services, scored by a ranking of the test's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from random import Random
from typing import Any
from uuid import UUID

from engram.kernel.actors import SYSTEM, Actor
from engram.kernel.models import Role, Workspace
from engram.kernel.tenancy import in_workspace
from memories.models import Memory, Session
from memories.services.sessions.end import end_session
from memories.services.sessions.start import SessionRequest, start_session
from predictor.models import Judgement, PredictorState
from predictor.services.judging import judge
from predictor.services.state import lock_state
from tests.conftest import NOW, Tenant
from tests.predictor.judged_pairs import HELD_OUT, Judged

STORY = HELD_OUT[5]  # the greenhouse
PERSON = Actor(kind="user", id="1", label="Ann", role=Role.REVIEWER)


def at(moment: datetime) -> Callable[[], datetime]:
    return lambda: moment


def fresh(tenant: Tenant) -> Workspace:
    return Workspace.objects.get(pk=tenant.workspace.pk)


def commit(tenant: Tenant, content: str, **fields: Any) -> UUID:
    answer = tenant.agent.post("memories", {"content": content, **fields})
    assert answer.status_code == 201, answer.json()
    return UUID(answer.json()["memory"]["id"])


def commit_story(tenant: Tenant, story: Judged = STORY) -> dict[str, UUID]:
    """Commit what a story's memories say; return their ids by content."""
    return {content: commit(tenant, content) for content, _ in story.memories}


def begin(
    tenant: Tenant, key: str = "s1", *, k: int = 4, now: datetime = NOW, context: str = "greenhouse"
) -> Session:
    wanted = SessionRequest(session_key=key, context=context, k=k)
    workspace = fresh(tenant)
    return start_session(workspace, wanted, actor=SYSTEM, now=now, rng=Random(1)).session


def end(
    tenant: Tenant,
    key: str = "s1",
    *,
    transcript: str = STORY.transcript,
    now: datetime = NOW + timedelta(minutes=30),
) -> Session:
    return end_session(fresh(tenant), key, transcript, actor=SYSTEM, now=now)


def score(tenant: Tenant, session: Session, ranking: Sequence[UUID], *, version: int = 1) -> None:
    """Let a trained model have ranked the session's candidates so; the others come behind."""
    with in_workspace(tenant.workspace):
        state = lock_state(NOW)
        state.served = version
        state.save()
        rows = {row.memory_id: row for row in session.candidates.exclude(rank=None)}
        order = [i for i in ranking if i in rows]
        order += [i for i in rows if i not in set(order)]
        for rank, memory_id in enumerate(order, start=1):
            row = rows[memory_id]
            row.predictor_rank, row.predictor_score = rank, 1 / rank
            row.save(update_fields=["predictor_rank", "predictor_score"])
        Session.objects.filter(pk=session.pk).update(has_opinion=True, model_version=version)


def judge_all(tenant: Tenant, now: datetime = NOW + timedelta(hours=1)) -> list[UUID]:
    return judge.judge_due(fresh(tenant), clock=at(now))


def judgement_of(tenant: Tenant, key: str = "s1") -> Judgement:
    with in_workspace(tenant.workspace):
        return Judgement.objects.select_related("session").get(session__session_key=key)


def state_of(tenant: Tenant) -> PredictorState | None:
    with in_workspace(tenant.workspace):
        return PredictorState.objects.first()


def contents(tenant: Tenant, ids: Sequence[UUID]) -> list[str]:
    with in_workspace(tenant.workspace):
        found = Memory.objects.in_bulk(list(ids))
        return [found[i].content for i in ids]
