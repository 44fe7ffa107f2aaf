"""What a judge wrote may quote memories: withheld while they are forgotten, gone once erased."""

from __future__ import annotations

import json
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.core import serializers
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from engram.kernel.actors import SYSTEM
from engram.kernel.models import Event, StageError
from engram.kernel.tenancy import in_workspace
from memories.models import Memory, Session
from memories.services.lifecycle.erase import erase
from memories.services.lifecycle.forget import forget, restore
from memories.signals import memories_erased
from predictor.models import CalibrationItem, Comparison, Judgement, Label, PredictorState
from predictor.services.judging.pool import read_pool
from predictor.services.state import lock_state
from tests.conftest import NOW, Tenant, build_tenant
from tests.predictor.judged_sessions import PERSON, begin, commit
from tests.predictor.test_erase_locks import alone
from tests.predictor.test_settle import hold_session, make_verdict, plant, settled

CANARY = "The launch code of the canary rocket is seven bananas."
QUOTE = f"Decisive was that {CANARY.lower()} Nothing else mattered."
REASON = "A paraphrase that no search for wordings finds."


def judge_with(
    tenant: Tenant, ids: Sequence[UUID], key: str, *, reasoning: str, topics: tuple[str, ...] = ()
) -> Judgement:
    session = hold_session(tenant, ids, key)
    relevance = {memory_id: 0.9 - n / 10 for n, memory_id in enumerate(ids)}
    settled(tenant, session, make_verdict(relevance, reasoning=reasoning, missing_topics=topics))
    return judgement(tenant, key)


def judgement(tenant: Tenant, key: str) -> Judgement:
    with in_workspace(tenant.workspace):
        return Judgement.objects.get(session__session_key=key)


def reasoning_shown(tenant: Tenant, key: str) -> str:
    answer = tenant.reviewer.get(f"predictor/audit/{key}")
    assert answer.status_code == 200, answer.json()
    return str(answer.json()["judgement"]["reasoning"])


def everything(tenant: Tenant) -> str:
    """Return all that this app stores of a workspace."""
    with in_workspace(tenant.workspace):
        kept = [Judgement, Label, Comparison, PredictorState, CalibrationItem, Event, StageError]
        return "".join(serializers.serialize("json", model.objects.all()) for model in kept)


def test_canary_of_an_erased_memory_is_gone_from_what_judges_wrote(
    tenant: Tenant, neighbour: Tenant
) -> None:
    canary = commit(tenant, CANARY)
    others = plant(tenant, 4)
    judge_with(tenant, [canary, *others], "saw", reasoning=REASON, topics=("bananas and rockets",))
    judge_with(tenant, others, "quotes", reasoning=QUOTE, topics=("moon",))
    judge_with(tenant, others, "hides", reasoning="\u200b".join(QUOTE), topics=("moon",))
    judge_with(tenant, others, "neither", reasoning="Plain.", topics=("moon",))
    theirs = plant(neighbour, 2)
    judge_with(neighbour, theirs, "theirs", reasoning=REASON, topics=("moon",))
    assert "bananas" in everything(tenant)
    before = judgement(tenant, "saw")
    answer = tenant.admin.delete(f"memories/{canary}")
    assert answer.status_code in {200, 204}, answer.json()
    left = everything(tenant)
    assert "bananas" not in left
    assert REASON not in left
    for key in ("saw", "quotes", "hides"):
        found = judgement(tenant, key)
        assert (found.missing_topics, set(found.raw)) == (
            [],
            {"overall", "confidence", "relevance", "novel_context_count"},
        )
    assert judgement(tenant, "saw").raw["relevance"] == before.raw["relevance"]
    assert judgement(tenant, "neither").raw["reasoning"] == "Plain."
    assert judgement(neighbour, "theirs").raw["reasoning"] == REASON
    with in_workspace(tenant.workspace):
        assert not Label.objects.filter(memory_id=canary).exists()
    assert reasoning_shown(tenant, "saw") == ""
    assert "bananas" not in json.dumps(tenant.reviewer.get("predictor/audit/saw").json())


@pytest.mark.parametrize("key", ["saw", "heard"])
def test_canary_that_is_erased_while_a_judge_thinks_comes_back_with_no_verdict(
    tenant: Tenant, neighbour: Tenant, key: str
) -> None:
    canary, others = commit(tenant, CANARY), plant(tenant, 4)
    session = hold_session(tenant, [canary, *others] if key == "saw" else others, key)
    if key == "heard":  # none of its memories: a person said so, and the transcript has it
        with in_workspace(tenant.workspace):
            Session.objects.filter(pk=session.pk).update(transcript=f"{'x' * 600} {CANARY}")
    theirs = plant(neighbour, 4)
    other = hold_session(neighbour, theirs, key)
    with in_workspace(tenant.workspace):
        read = read_pool(session.pk)
    assert read is not None
    relevance = {memory_id: 0.9 - n / 10 for n, memory_id in enumerate(read.ids)}
    answer = tenant.admin.delete(f"memories/{canary}")
    assert answer.status_code in {200, 204}, answer.json()
    words: dict[str, Any] = {"reasoning": QUOTE, "missing_topics": ("bananas and rockets",)}
    assert settled(tenant, session, make_verdict(relevance, **words)) is not None
    assert settled(neighbour, other, make_verdict(dict.fromkeys(theirs, 0.5), **words)) is not None
    assert "bananas" not in everything(tenant)
    found = judgement(tenant, key)
    assert found.raw["relevance"] == list(relevance.values())
    assert found.memory_ids == list(relevance)
    assert reasoning_shown(tenant, key) == ""
    assert judgement(neighbour, key).raw["reasoning"] == QUOTE


def test_transcripts_are_emptied_before_judgements_are_looked_through(tenant: Tenant) -> None:
    canary = commit(tenant, CANARY)
    session = hold_session(tenant, plant(tenant, 2))
    with in_workspace(tenant.workspace):
        Session.objects.filter(pk=session.pk).update(transcript=CANARY)
    seen: list[str] = []

    def look(sender: Any, **_: Any) -> None:
        seen.extend(Session.objects.values_list("transcript", flat=True))

    memories_erased.connect(look)
    try:
        tenant.admin.delete(f"memories/{canary}")
    finally:
        memories_erased.disconnect(look)
    assert seen == [""]


def test_judgements_are_read_before_the_state_is_locked(tenant: Tenant) -> None:
    canary = commit(tenant, CANARY)
    others = plant(tenant, 4)
    judge_with(tenant, others, "quotes", reasoning=QUOTE)
    for n in range(3):
        judge_with(tenant, others, f"neither-{n}", reasoning="Plain.")
    with CaptureQueriesContext(connection) as seen:
        assert tenant.admin.delete(f"memories/{canary}").status_code == 204
    asked_for = [query["sql"] for query in seen.captured_queries]
    locking = [n for n, sql in enumerate(asked_for) if is_of(sql, PredictorState, "FOR UPDATE")]
    reading = [n for n, sql in enumerate(asked_for) if is_of(sql, Judgement, '"raw"')]
    held = [n for n, sql in enumerate(asked_for) if is_of(sql, Judgement, "FOR UPDATE")]
    assert reading[0] < locking[0] < held[0]
    assert [n for n in reading if n > locking[0] and "SELECT" in asked_for[n]] == held
    assert "~*" in asked_for[reading[0]]  # by a piece of the wording


def is_of(sql: str, model: type[Any], part: str) -> bool:
    return f'FROM "{model._meta.db_table}"' in sql and part in sql


def test_what_is_settled_while_judgements_are_looked_through_is_found(
    transactional_db: None,
) -> None:
    """A memory that stays says the same, and a judge that read it is settled at that moment."""
    tenant = build_tenant("busy")
    canary, others = commit(tenant, CANARY), plant(tenant, 4)
    session = hold_session(tenant, others, "late")
    with in_workspace(tenant.workspace):
        lock_state(NOW)
    verdict = make_verdict(dict.fromkeys(others, 0.5), reasoning=QUOTE)

    def settle_beside(execute: Any, sql: str, *args: Any) -> Any:
        if is_of(sql, PredictorState, "FOR UPDATE") and not settling:
            settling.append(pool.submit(alone(lambda: settled(tenant, session, verdict))))
            assert settling[0].result(60) is not None
        return execute(sql, *args)

    settling: list[Future[Any]] = []
    with ThreadPoolExecutor(1) as pool, connection.execute_wrapper(settle_beside):
        erase(tenant.workspace, canary, actor=SYSTEM, now=NOW)
    assert len(settling) == 1
    assert "bananas" not in everything(tenant)
    assert judgement(tenant, "late").raw["relevance"] == [0.5] * 4


def test_words_about_a_judged_memory_without_a_row_are_shown_to_nobody(tenant: Tenant) -> None:
    ids = plant(tenant, 4)
    judge_with(tenant, ids, "saw", reasoning=REASON)
    with in_workspace(tenant.workspace):
        Memory.objects.filter(pk=ids[0]).delete()
    assert judgement(tenant, "saw").raw["reasoning"] == REASON
    assert reasoning_shown(tenant, "saw") == ""


def test_words_about_a_forgotten_memory_are_shown_to_nobody(tenant: Tenant) -> None:
    ids = plant(tenant, 4)
    judge_with(tenant, ids, "saw", reasoning=REASON)
    judge_with(tenant, ids[1:], "other", reasoning=REASON)
    assert reasoning_shown(tenant, "saw") == REASON
    forget(tenant.workspace, ids[:1], actor=PERSON, now=NOW + timedelta(days=2))
    assert (reasoning_shown(tenant, "saw"), reasoning_shown(tenant, "other")) == ("", REASON)
    restore(tenant.workspace, ids[:1], actor=PERSON, now=NOW + timedelta(days=3))
    assert reasoning_shown(tenant, "saw") == REASON


def test_deleting_a_session_deletes_what_was_judged_of_it(tenant: Tenant) -> None:
    ids = plant(tenant, 4)
    judge_with(tenant, ids, "s1", reasoning=REASON)
    begin(tenant, "open", now=timezone.now())
    assert tenant.admin.delete("sessions/s1").status_code == 204
    with in_workspace(tenant.workspace):
        found = [Judgement, Label, Comparison]
        assert [model.objects.count() for model in found] == [0, 0, 0]
        # Influence is what it was: a session that is gone was judged all the same.
        assert PredictorState.objects.get().scored_sessions == 1
    assert REASON not in json.dumps(everything(tenant))
