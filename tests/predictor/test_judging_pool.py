"""Which memories of a session are judged: all without a model, of a model some drawn by chance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from engram.kernel.actors import SYSTEM
from engram.kernel.tenancy import in_workspace
from memories.models import (
    CandidateSource,
    Memory,
    ReportItem,
    ReportKind,
    Session,
    SessionCandidate,
)
from memories.services.lifecycle.states import hide
from memories.services.locks import lock
from predictor.core.judging import OTHERS
from predictor.models import JudgeKind, Judgement, Label
from predictor.services.judging.pool import JudgingPool, read_pool
from tests.conftest import NOW, Tenant
from tests.predictor.judged_pairs import HELD_OUT
from tests.predictor.judged_sessions import begin, commit_story, end, judge_all
from tests.predictor.test_settle import hold_session, labels, make_verdict, plant, settled

POOL = 60


def pool_of(tenant: Tenant, session: Session) -> JudgingPool:
    with in_workspace(tenant.workspace):
        found = read_pool(session.pk)
    assert found is not None
    return found


def change(tenant: Tenant, session: Session, changes: Mapping[UUID, dict[str, Any]]) -> None:
    with in_workspace(tenant.workspace):
        for memory_id, values in changes.items():
            assert session.candidates.filter(memory=memory_id).update(**values) == 1


def ranked(tenant: Tenant) -> tuple[list[UUID], Session]:
    """Hold a session whose rankings are opposed: its first four memories were injected."""
    ids = plant(tenant, POOL)
    return ids, hold_session(tenant, ids, predictor=ids[::-1])


def test_without_a_model_the_whole_recorded_pool_is_judged(tenant: Tenant) -> None:
    ids, session = ranked(tenant)
    pool = pool_of(tenant, session)
    assert sorted(pool.ids) == sorted(ids)
    assert pool.ids != ids
    assert pool.first == {*ids[:10], *ids[-10:]}
    assert not pool.chances


def test_a_model_reads_both_tops_the_shown_the_named_and_ten_drawn_others(tenant: Tenant) -> None:
    ids, session = ranked(tenant)
    shown, rated, used, matched = ids[20:24]
    change(
        tenant,
        session,
        {
            shown: {"was_injected": True},
            rated: {"feedback": -1.0},
            matched: {"fts_hit_count": 1},
        },
    )
    with in_workspace(tenant.workspace):
        ReportItem.objects.create(
            session=session,
            kind=ReportKind.USED,
            memory_id=used,
            value=0.0,
            position=0,
            created_at=NOW,
        )
    whole = pool_of(tenant, session)
    read = whole.for_model()
    certain = {*ids[:10], *ids[-10:], shown, rated, used}
    assert certain <= set(read.ids)
    others = set(read.ids) - certain
    assert (len(others), matched in others) == (OTHERS, False)
    assert {read.chances[i] for i in certain} == {1.0}
    assert {read.chances[i] for i in others} == {OTHERS / (POOL - len(certain) - 1)}
    order = [i for i in whole.ids if i in set(read.ids)]
    assert (list(read.ids), len(read.contents)) == (order, len(order))
    assert pool_of(tenant, session) == whole  # the same after a crash


def test_the_draw_favours_none(tenant: Tenant) -> None:
    ids = plant(tenant, 40)
    drawn: Counter[UUID] = Counter()
    for number in range(60):
        session = hold_session(tenant, ids, f"s{number}")
        drawn.update(set(pool_of(tenant, session).for_model().ids) - set(ids[:10]))
    assert set(drawn) == set(ids[10:])  # 60 · 10 / 30 = 20 each
    assert max(drawn.values()) < 36


def test_a_fallback_of_the_model_judges_the_whole_pool(tenant: Tenant) -> None:
    """What it was drawn for is no matter to the judge that reads all of it."""
    commit_story(tenant)
    for story in HELD_OUT[:3]:
        commit_story(tenant, story)
    session = begin(tenant, k=3)
    end(tenant)
    assert judge_all(tenant) == [session.pk]
    with in_workspace(tenant.workspace):
        judgement = Judgement.objects.get()
        recorded = SessionCandidate.objects.exclude(source=CandidateSource.FTS_ONLY)
        offered = set(recorded.values_list("memory_id", flat=True))
        chances = set(Label.objects.values_list("chance", flat=True))
    assert judgement.kind == JudgeKind.OFFLINE
    assert set(judgement.memory_ids) == offered
    assert len(offered) > 20
    assert chances == {1.0}


def test_as_many_queries_for_small_and_large_pools(tenant: Tenant) -> None:
    counts = []
    for number, size in enumerate((8, 90)):
        session = hold_session(tenant, plant(tenant, size), f"s{number}")
        with in_workspace(tenant.workspace), CaptureQueriesContext(connection) as captured:
            read_pool(session.pk)
        counts.append(len(captured))
    assert counts[0] == counts[1]


@pytest.mark.parametrize("relevance", [(0.9, 0.9, 0.2), (0.2, 0.9, 0.9)])
def test_a_comparison_is_over_judged_memories_only(
    tenant: Tenant, relevance: Sequence[float]
) -> None:
    """What was drawn stands behind both tops: unjudged ones between them change nothing."""
    ids, session = ranked(tenant)
    tops = [*ids[:10], *ids[-10:]]
    worth = dict.fromkeys(tops, 0.1) | dict(zip((ids[0], ids[-1], ids[30]), relevance, strict=True))
    found = settled(tenant, session, make_verdict(worth))
    assert found is not None
    assert found.margin is not None
    sign = relevance[1] - relevance[0]
    assert (found.margin > 0) == (sign > 0)
    assert sum(one.relevance is None for one in labels(tenant, session).values()) == POOL - 21


@pytest.mark.parametrize(("written_in", "expected"), [("s0", 0.9), ("another", -0.3), ("", -0.3)])
def test_superseding_by_the_session_that_used_a_memory_does_not_punish_it(
    tenant: Tenant, written_in: str, expected: float
) -> None:
    ids = plant(tenant, 8)
    session = hold_session(tenant, ids, "s0")
    [successor] = plant(tenant, 1)
    with in_workspace(tenant.workspace):
        Memory.objects.filter(pk=successor).update(session_key=written_in)
        [memory] = lock([ids[0]])
        new, at = Memory.objects.get(pk=successor), NOW + timedelta(minutes=10)
        hide([memory], "superseded_at", actor=SYSTEM, now=at, successor=new)
    settled(tenant, session, make_verdict(dict.fromkeys(ids, 0.1) | {ids[0]: 0.9}))
    label = labels(tenant, session)[ids[0]]
    assert (label.raw, label.final) == (0.9, expected)
