"""Judged sessions of an invented user, written as the services leave them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from unittest.mock import patch
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from engram.kernel.embedding import model_name
from engram.kernel.models import Workspace
from engram.kernel.tenancy import in_workspace
from memories.models import CandidateSource, Memory, MemoryVector, Session, SessionCandidate
from predictor.core.features import clock_of, signals
from predictor.models import JudgeKind, Judgement, JudgeStatus, Label, Training, TrainingLease
from predictor.services.training import train
from predictor.services.training.due import training_lease
from tests.conftest import NOW, Tenant

WIDTH = 384  # as the built-in model's: its index takes no other
TOPICS = 4
OFFERED = 12


@dataclass(frozen=True)
class World:
    """A workspace with memories of a few topics, and sessions that each want one topic."""

    workspace: Workspace
    memories: list[Memory]
    topics: list[int]
    sessions: list[Session]


def build_world(
    workspace: Workspace,
    sessions: int,
    *,
    memories: int = 40,
    seed: int = 5,
    start: datetime = NOW,
    name: str = "s",
) -> World:
    """Write memories with vectors, and judged sessions an hour apart, each with its labels.

    A memory of the wanted topic is relevant when its importance is above one half: the ranker has
    something to learn that the cosine does not tell.
    """
    rng = np.random.default_rng([seed, *f"{workspace.slug} {name}".encode()])
    with in_workspace(workspace):
        known, topics = _memories(workspace, memories, rng, name)
        held = [
            _session(f"{name}-{n}", start + timedelta(hours=n), known, topics, rng)
            for n in range(sessions)
        ]
        Session.objects.bulk_create(one.session for one in held)
        SessionCandidate.objects.bulk_create(row for one in held for row in one.candidates)
        Label.objects.bulk_create(row for one in held for row in one.labels)
        Judgement.objects.bulk_create(one.judgement for one in held)
    return World(workspace, known, topics, [one.session for one in held])


@dataclass(frozen=True)
class Judged:
    """The rows of a judged session."""

    session: Session
    candidates: list[SessionCandidate]
    labels: list[Label]
    judgement: Judgement


def _memories(
    workspace: Workspace, count: int, rng: np.random.Generator, name: str
) -> tuple[list[Memory], list[int]]:
    topics = [int(rng.integers(TOPICS)) for _ in range(count)]
    known = Memory.objects.bulk_create(
        [
            Memory(
                id=UUID(int=int(rng.integers(2**62))),
                content=f"topic{topic} fact{n} word{n % 7}",
                content_hash=f"{name}-{n}",
                importance=float(rng.random()),
                observed_at=NOW - timedelta(days=int(rng.integers(1, 200))),
                created_at=NOW - timedelta(days=1),
                updated_at=NOW - timedelta(days=1),
            )
            for n, topic in enumerate(topics)
        ]
    )
    vectors = []
    for memory, topic in zip(known, topics, strict=True):
        embedding = _near(topic, rng)
        vectors.append(
            MemoryVector(memory=memory, model=workspace.embedding_model, embedding=embedding)
        )
    MemoryVector.objects.bulk_create(vectors)
    return known, topics


def _near(topic: int, rng: np.random.Generator) -> NDArray[np.float32]:
    """Return a unit vector (WIDTH,) about a topic."""
    vector = np.eye(WIDTH)[topic] + 0.4 * rng.standard_normal(WIDTH) / np.sqrt(WIDTH)
    unit: NDArray[np.float32] = (vector / np.linalg.norm(vector)).astype(np.float32)
    return unit


def _session(
    key: str,
    at: datetime,
    known: list[Memory],
    topics: list[int],
    rng: np.random.Generator,
) -> Judged:
    wanted = int(rng.integers(TOPICS))
    session = Session(
        id=UUID(int=int(rng.integers(2**62))),
        session_key=key,
        project="",
        context_embedding=_near(wanted, rng),
        embedding_model=model_name(),
        k=10,
        budget_chars=4000,
        gap_hours=1.0,
        started_at=at,
        ended_at=at + timedelta(minutes=30),
    )
    hour, weekday, month = clock_of(at)
    chosen = rng.choice(len(known), size=min(OFFERED, len(known)), replace=False)
    candidates, labels = [], []
    for rank, index in enumerate(sorted(int(i) for i in chosen), 1):
        memory = known[index]
        row = signals(
            age_days=(at - memory.observed_at) / timedelta(days=1),
            importance=memory.importance,
            access_count=0,
            hour=hour,
            weekday=weekday,
            month=month,
            gap_hours=1.0,
            is_embedded=True,
            is_superseded=False,
        )[0]
        is_relevant = topics[index] == wanted and memory.importance > 0.5
        relevance = 0.9 if is_relevant else 0.4 if topics[index] == wanted else 0.05
        candidates.append(
            SessionCandidate(
                session=session,
                memory=memory,
                source=CandidateSource.EFFECTIVE,
                baseline_score=0.3,
                baseline_rank=rank,
                rank=rank,
                was_injected=rank <= 10,
                signals=[float(value) for value in row],
                created_at=at,
            )
        )
        labels.append(
            Label(
                session=session,
                memory=memory,
                relevance=relevance,
                raw=relevance,
                final=relevance,
                reasons=["judged"],
                created_at=at,
            )
        )
    judgement = Judgement(
        session=session,
        status=JudgeStatus.DONE,
        due_at=at,
        kind=JudgeKind.OFFLINE,
        overall=float(rng.random()),
        confidence=0.9,
        judged_at=at + timedelta(minutes=31),
    )
    return Judged(session, candidates, labels, judgement)


def lease_in(of: Tenant | Workspace) -> TrainingLease:
    """Return the lease of a workspace's training."""
    with in_workspace(of if isinstance(of, Workspace) else of.workspace):
        return training_lease()


def train_meanwhile(
    workspace: Workspace, action: Callable[[datetime], object], *, clock: Callable[[], datetime]
) -> Training | None:
    """Train what is due; `action` is called with the time, once, when it first writes progress."""
    real, is_done = train._Progress.__call__, False

    def acting(self: train._Progress, share: float) -> None:
        nonlocal is_done
        if not is_done:
            is_done = True
            action(clock())
        real(self, share)

    with patch.object(train._Progress, "__call__", acting):
        return train.train_due(workspace, clock=clock, rng=np.random.default_rng(3))
