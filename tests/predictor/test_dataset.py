"""What a ranker learns from is read as it was, and of one workspace only."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from engram.kernel.tenancy import in_workspace
from memories.models import Memory, MemoryVector, Revision, Session, SessionCandidate
from predictor.core.features import token_buckets
from predictor.core.types import SIGNALS
from predictor.models import Judgement, JudgeStatus, Label
from predictor.services.training.dataset import Dataset, gather, known_memories
from tests.conftest import NOW, Tenant
from tests.predictor.judged import OFFERED, WIDTH, World, build_world

IS_EMBEDDED = SIGNALS.index("is_embedded")


def read(world: World, **options: Any) -> Dataset:
    with in_workspace(world.workspace):
        return gather(world.workspace, **options)


def test_sessions_are_read_as_they_were_recorded(tenant: Tenant, neighbour: Tenant) -> None:
    world = build_world(tenant.workspace, 3)
    build_world(neighbour.workspace, 4, seed=6)
    found = read(world)
    assert [session.id for session in found.sessions] == [session.pk for session in world.sessions]
    assert (found.width, found.skipped) == (WIDTH, 0)
    session, stored = found.sessions[1], world.sessions[1]
    with in_workspace(tenant.workspace):
        rows = list(SessionCandidate.objects.filter(session=stored).order_by("rank"))
        labels = {label.memory_id: label for label in Label.objects.filter(session=stored)}
        vectors = {vector.memory_id: vector.embedding for vector in MemoryVector.objects.all()}
    candidates = session.learned.candidates
    assert session.memory_ids == tuple(row.memory_id for row in rows)
    assert np.array_equal(candidates.signals, [row.signals for row in rows])
    assert candidates.embeddings.tolist() == [
        np.asarray(vectors[row.memory_id], dtype=np.float32).tolist() for row in rows
    ]
    assert candidates.is_injected is not None
    assert candidates.is_injected.tolist() == [row.was_injected for row in rows]
    assert session.learned.labels.tolist() == [labels[row.memory_id].final for row in rows]
    assert session.relevance.tolist() == [labels[row.memory_id].relevance for row in rows]
    assert np.array_equal(session.learned.context.embedding, stored.context_embedding)  # type: ignore[arg-type]
    assert session.learned.confidence == 0.9


def test_the_baseline_is_read_as_it_ranked(tenant: Tenant) -> None:
    world = build_world(tenant.workspace, 2)
    with in_workspace(tenant.workspace):
        rows = list(SessionCandidate.objects.filter(session=world.sessions[1]).order_by("rank"))
        for place, row in enumerate(rows, 1):
            row.baseline_score, row.effectiveness = 1 / place, 0.5 / place
        SessionCandidate.objects.bulk_update(rows, ["baseline_score", "effectiveness"])
    candidates = read(world).sessions[1].learned.candidates
    assert candidates.baseline is not None
    assert candidates.baseline.tolist() == [row.baseline_score for row in rows]
    wanted = [row.effectiveness for row in rows]
    assert np.exp(candidates.log_effectiveness).tolist() == pytest.approx(wanted)


def test_a_label_weighs_as_many_candidates_as_its_memory_was_drawn_for(tenant: Tenant) -> None:
    world = build_world(tenant.workspace, 1)
    with in_workspace(tenant.workspace):
        rows = list(SessionCandidate.objects.order_by("rank"))
        labels = Label.objects.all()
        labels.update(chance=1.0)
        labels.filter(memory=rows[2].memory_id).update(chance=0.125)
        labels.filter(memory=rows[3].memory_id).update(chance=None)  # known by words of prompts
    [found] = read(world).sessions
    assert found.learned.weights is not None
    assert found.learned.weights.tolist() == [1.0, 1.0, 8.0, *[1.0] * (OFFERED - 3)]


@pytest.mark.parametrize("has_context", [True, False])
def test_in_a_session_of_the_former_baseline_the_cosine_stands_for_recall(
    tenant: Tenant, has_context: bool
) -> None:
    """There the baseline's score was the effectiveness, and recall was not computed."""
    world = build_world(tenant.workspace, 1)
    with in_workspace(tenant.workspace):
        rows = list(SessionCandidate.objects.order_by("rank"))
        for place, row in enumerate(rows):
            row.cosine = (0.8, -0.2, None)[place % 3]
        SessionCandidate.objects.bulk_update(rows, ["cosine"])
        if not has_context:
            Session.objects.update(context_embedding=None)
    candidates = read(world).sessions[0].learned.candidates
    assert np.exp(candidates.log_effectiveness) == pytest.approx(np.full(len(rows), 0.3))
    assert candidates.baseline is not None
    leading = 0.8 * (0.7 + 0.3 * 0.3)
    wanted = [(leading, 0.0, 0.0)[i % 3] if has_context else 0.3 for i in range(len(rows))]
    assert candidates.baseline.tolist() == pytest.approx(wanted)


@pytest.mark.parametrize(
    "change",
    [
        {"status": JudgeStatus.FAILED},
        {"status": JudgeStatus.DUE},
        {"void_reason": "low confidence"},
        {"is_flat": True},
        {"confidence": 0.59},
        {"confidence": None},
    ],
)
def test_a_session_that_says_nothing_is_left_out(tenant: Tenant, change: dict[str, Any]) -> None:
    world = build_world(tenant.workspace, 2)
    with in_workspace(tenant.workspace):
        Judgement.objects.filter(session=world.sessions[0]).update(**change)
    assert [session.id for session in read(world).sessions] == [world.sessions[1].pk]


def test_the_newest_are_read_first_to_last(tenant: Tenant) -> None:
    world = build_world(tenant.workspace, 5)
    found = read(world, limit=2)
    assert [session.id for session in found.sessions] == [s.pk for s in world.sessions[3:]]


@pytest.mark.parametrize("change", [{"final": None}, {"is_sampled": False}])
def test_what_carries_no_label_is_not_learned(tenant: Tenant, change: dict[str, Any]) -> None:
    world = build_world(tenant.workspace, 1)
    with in_workspace(tenant.workspace):
        gone = Label.objects.filter(session=world.sessions[0]).order_by("pk").first()
        assert gone is not None
        Label.objects.filter(pk=gone.pk).update(**change)
    (session,) = read(world).sessions
    assert len(session.memory_ids) == OFFERED - 1
    assert gone.memory_id not in session.memory_ids


def test_what_only_a_prompt_brought_up_is_not_learned(tenant: Tenant) -> None:
    world = build_world(tenant.workspace, 1)
    with in_workspace(tenant.workspace):
        row = SessionCandidate.objects.order_by("rank")[0]
        SessionCandidate.objects.filter(pk=row.pk).update(signals=[], baseline_score=None)
    (session,) = read(world).sessions
    assert row.memory_id not in session.memory_ids
    assert len(session.memory_ids) == OFFERED - 1


def test_a_memory_that_was_reworded_is_read_by_its_words_of_then(tenant: Tenant) -> None:
    world = build_world(tenant.workspace, 1)
    with in_workspace(tenant.workspace):
        row = SessionCandidate.objects.order_by("rank")[0]
        before = Memory.objects.get(pk=row.memory_id).content
        Revision.objects.create(
            memory_id=row.memory_id, number=1, content=before, reason="revise", created_at=NOW
        )
        Memory.objects.filter(pk=row.memory_id).update(content="It says otherwise.", revision=2)
    (session,) = read(world).sessions
    at = session.memory_ids.index(row.memory_id)
    candidates = session.learned.candidates
    assert not candidates.is_embedded[at]
    assert candidates.signals[at, IS_EMBEDDED] == 0
    assert candidates.token_buckets[at].tolist() == token_buckets(before).tolist()


def test_a_memory_whose_importance_alone_changed_keeps_its_vector(tenant: Tenant) -> None:
    world = build_world(tenant.workspace, 1)
    with in_workspace(tenant.workspace):
        memory = Memory.objects.get(pk=SessionCandidate.objects.order_by("rank")[0].memory_id)
        Revision.objects.create(
            memory=memory, number=1, content=memory.content, reason="revise", created_at=NOW
        )
        Memory.objects.filter(pk=memory.pk).update(importance=0.9, revision=2)
    (session,) = read(world).sessions
    assert session.learned.candidates.is_embedded.all()


def test_a_wording_that_nobody_knows_any_more_is_not_learned(tenant: Tenant) -> None:
    world = build_world(tenant.workspace, 1)
    with in_workspace(tenant.workspace):
        row = SessionCandidate.objects.order_by("rank")[0]
        Memory.objects.filter(pk=row.memory_id).update(content="Otherwise.", revision=3)
    (session,) = read(world).sessions
    assert row.memory_id not in session.memory_ids


def test_vectors_of_another_model_are_not_mixed_in(tenant: Tenant) -> None:
    world = build_world(tenant.workspace, 2)
    with in_workspace(tenant.workspace):
        Session.objects.filter(pk=world.sessions[0].pk).update(embedding_model="another")
        MemoryVector.objects.filter(memory=world.memories[0]).update(model="another")
    first, second = read(world).sessions
    assert first.learned.context.embedding is None
    assert second.learned.context.embedding is not None
    for session in (first, second):
        for memory_id, embedded in zip(
            session.memory_ids, session.learned.candidates.is_embedded, strict=True
        ):
            assert embedded == (memory_id != world.memories[0].pk)


def test_an_erased_memory_leaves_nothing_to_learn(tenant: Tenant) -> None:
    world = build_world(tenant.workspace, 1)
    (session,) = read(world).sessions
    gone = session.memory_ids[0]
    assert tenant.admin.delete(f"memories/{gone}").status_code == 204
    (session,) = read(world).sessions
    assert gone not in session.memory_ids
    assert len(session.memory_ids) == OFFERED - 1


def test_as_many_queries_for_one_session_as_for_thirty(tenant: Tenant, neighbour: Tenant) -> None:
    few, many = build_world(tenant.workspace, 1), build_world(neighbour.workspace, 30)
    counts = []
    for world in (few, many):
        with CaptureQueriesContext(
            connection,
        ) as queries:
            read(world)
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_known_memories_are_those_that_may_be_recalled(tenant: Tenant, neighbour: Tenant) -> None:
    world = build_world(tenant.workspace, 0, memories=6)
    build_world(neighbour.workspace, 0, memories=3, seed=9)
    with in_workspace(tenant.workspace):
        Memory.objects.filter(pk=world.memories[0].pk).update(forgotten_at=NOW)
        known = known_memories(tenant.workspace, width=WIDTH, now=NOW)
        narrow = known_memories(tenant.workspace, width=WIDTH - 1, now=NOW)
    assert known.embeddings.shape == (5, WIDTH)
    assert sorted(words.tolist() for words in known.words) == sorted(
        token_buckets(memory.content).tolist() for memory in world.memories[1:]
    )
    assert narrow.embeddings.shape == (0, WIDTH - 1)
