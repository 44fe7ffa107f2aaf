"""Questions are embedded after the commit, once each; answers are read with their vectors."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from io import StringIO
from itertools import count
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from engram.kernel.actors import SYSTEM
from engram.kernel.embedding import embed
from engram.kernel.tenancy import in_workspace
from memories.core.answers import Answer, question_hash
from memories.models import MemoryAnswer
from memories.services.index import answers, reembed
from memories.services.index.accepted import PROBE_TEXT
from memories.services.index.answers import embed_questions, load_answers
from memories.tasks import embed_pending
from tests.conftest import Tenant
from tests.memories.other_model import LOCAL, OTHER, letters
from tests.model_server import Answer as Reply
from tests.model_server import ModelServer, Request

pytestmark = pytest.mark.usefixtures("index_of_other_model")

WHO = "Who approves refunds?"
WHAT = "What is the limit of a refund?"


def commit(tenant: Tenant, content: str, *questions: str, **fields: Any) -> UUID:
    asked = [{"question": question, "answer": f"answer {content}"} for question in questions]
    body = {"content": content, "answers": asked, **fields}
    return UUID(tenant.agent.post("memories", body).json()["memory"]["id"])


def models_of(tenant: Tenant) -> list[tuple[str, bool]]:
    with in_workspace(tenant.workspace):
        rows = MemoryAnswer.objects.order_by("pk").values_list("model", "embedding")
        return [(model, embedding is not None) for model, embedding in rows]


def refusing(refused: str) -> Callable[[Request], Reply]:
    """Return a provider that refuses one question, and what is sent with it."""

    def respond(request: Request) -> Reply:
        texts = request.body["input"]
        if refused in texts:
            return Reply({"error": {"message": "too odd"}}, 400)
        rows = enumerate(letters(texts))
        found = [{"object": "embedding", "index": i, "embedding": vector} for i, vector in rows]
        return Reply({"object": "list", "model": "stand-in", "data": found})

    return respond


def test_answers_are_loaded_with_the_vectors_of_their_questions(
    tenant: Tenant, neighbour: Tenant
) -> None:
    first = commit(tenant, "A", WHO, WHAT)
    second = commit(tenant, "B", WHO)
    without = commit(tenant, "C")
    theirs = commit(neighbour, "A", WHO)
    ids = [first, second, without, theirs]
    before = load_answers(tenant.workspace, ids)
    assert before == {
        first: [(Answer(WHO, "answer A"), None), (Answer(WHAT, "answer A"), None)],
        second: [(Answer(WHO, "answer B"), None)],
    }
    assert embed_questions(tenant.workspace, ids) == 2
    after = load_answers(tenant.workspace, ids)
    assert {key: [one for one, _ in rows] for key, rows in after.items()} == {
        key: [one for one, _ in rows] for key, rows in before.items()
    }
    expected = embed([WHO, WHAT])
    found = [vector for key in (first, second) for _, vector in after[key]]
    assert np.abs(np.array(found) - expected[[0, 1, 0]]).max() < 1e-6
    assert models_of(neighbour) == [("", False)]


def test_only_recallable_memories_are_loaded(tenant: Tenant) -> None:
    gone, stays = commit(tenant, "A", WHO), commit(tenant, "B", WHO)
    replaced = commit(tenant, "C", WHO)
    commit(tenant, "D", supersedes=str(replaced))
    soon = (timezone.now() + timedelta(hours=1)).isoformat()
    expiring = commit(tenant, "E", WHO, expires_at=soon)
    tenant.agent.post("memories/forget", {"ids": [str(gone)], "confirm": True})
    ids = [gone, stays, replaced, expiring]
    assert load_answers(tenant.workspace, ids).keys() == {stays, expiring}
    later = timezone.now() + timedelta(hours=2)
    assert load_answers(tenant.workspace, ids, now=later).keys() == {stays}


def test_equal_questions_are_embedded_once(tenant: Tenant, server: ModelServer) -> None:
    reembed.switch(tenant.workspace, OTHER, actor=SYSTEM, now=timezone.now())
    ids = [commit(tenant, f"Fact {n}", spelling) for n, spelling in enumerate([WHO, WHO.upper()])]
    server.requests.clear()
    assert embed_questions(tenant.workspace, ids) == 1
    assert [request.body["input"] for request in server.requests] == [[WHO]]
    server.requests.clear()
    third = commit(tenant, "Fact 3", "who approves refunds")
    asked = len(server.requests)  # the commit embeds its own text
    assert embed_questions(tenant.workspace, [third]) == 1
    assert embed_questions(tenant.workspace, [*ids, third]) == 0
    assert len(server.requests) == asked
    assert models_of(tenant) == [(OTHER, True)] * 3


def test_a_commit_embeds_no_question(tenant: Tenant, server: ModelServer) -> None:
    reembed.switch(tenant.workspace, OTHER, actor=SYSTEM, now=timezone.now())
    memory = commit(tenant, "A", WHO)
    tenant.agent.patch(f"memories/{memory}", {"answers": [{"question": WHAT, "answer": "x"}]})
    sent = [text for request in server.requests for text in request.body["input"]]
    assert sent == ["A"]


def test_the_sweep_embeds_what_is_due(tenant: Tenant, neighbour: Tenant) -> None:
    commit(tenant, "A", WHO, WHAT)
    forgotten = commit(neighbour, "B", WHO)
    commit(neighbour, "C", WHAT)
    neighbour.agent.post("memories/forget", {"ids": [str(forgotten)], "confirm": True})
    embed_pending()
    assert models_of(tenant) == [(LOCAL, True)] * 2
    assert models_of(neighbour) == [("", False), (LOCAL, True)]


def test_at_most_the_limit_is_embedded(tenant: Tenant) -> None:
    commit(tenant, "A", WHO, WHAT, "Who pays?")
    assert embed_questions(tenant.workspace, limit=2) == 2
    assert embed_questions(tenant.workspace, limit=2) == 1
    assert embed_questions(tenant.workspace, seconds=0.0) == 0


def test_a_changed_question_is_due_and_a_changed_answer_is_not(tenant: Tenant) -> None:
    memory = commit(tenant, "A", WHO, WHAT)
    embed_questions(tenant.workspace)
    changed = [{"question": WHO, "answer": "finance"}, {"question": "Who pays?", "answer": "x"}]
    tenant.agent.patch(f"memories/{memory}", {"answers": changed})
    assert models_of(tenant) == [(LOCAL, True), ("", False)]


def test_a_failing_endpoint_leaves_questions_for_later(tenant: Tenant, server: ModelServer) -> None:
    reembed.switch(tenant.workspace, OTHER, actor=SYSTEM, now=timezone.now())
    memory = commit(tenant, "A", WHO)
    server.answer("/embeddings", lambda _: Reply({"error": {"message": "down"}}, 400))
    assert embed_questions(tenant.workspace, [memory]) == 0
    assert load_answers(tenant.workspace, [memory]) == {memory: [(Answer(WHO, "answer A"), None)]}
    server.answer_embeddings(letters)
    assert embed_questions(tenant.workspace, [memory]) == 1


def test_a_question_that_the_endpoint_refuses_holds_up_no_other(
    tenant: Tenant, server: ModelServer
) -> None:
    reembed.switch(tenant.workspace, OTHER, actor=SYSTEM, now=timezone.now())
    commit(tenant, "A", WHO, WHAT, "Who pays?")

    server.answer("/embeddings", refusing(WHAT))
    assert embed_questions(tenant.workspace) == 2
    assert sorted(models_of(tenant)) == [("", False), (OTHER, True), (OTHER, True)]


def test_another_model_makes_questions_due_and_reembed_embeds_them(
    tenant: Tenant, server: ModelServer
) -> None:
    memory = commit(tenant, "A", WHO)
    embed_questions(tenant.workspace)
    reembed.embed_missing(tenant.workspace, OTHER, advance=lambda _: None)
    assert models_of(tenant) == [(LOCAL, True)]
    reembed.switch(tenant.workspace, OTHER, actor=SYSTEM, now=timezone.now())
    assert models_of(tenant) == [("", False)]
    call_command("reembed", model=OTHER, settle_seconds=0, stdout=StringIO())
    assert models_of(tenant) == [(OTHER, True)]
    ((_, vector),) = load_answers(tenant.workspace, [memory])[memory]
    assert vector is not None
    assert vector.shape == (8,)


def test_vectors_of_a_former_model_are_neither_written_nor_read(
    tenant: Tenant, server: ModelServer
) -> None:
    memory = commit(tenant, "A", WHO)
    stale = tenant.workspace.__class__.objects.get(pk=tenant.workspace.pk)
    reembed.switch(tenant.workspace, OTHER, actor=SYSTEM, now=timezone.now())
    embed_questions(stale, [memory])
    assert models_of(tenant) == [("", False)]
    with in_workspace(tenant.workspace):
        MemoryAnswer.objects.update(model=LOCAL, embedding=[1.0, 0.0])
    assert load_answers(tenant.workspace, [memory])[memory][0][1] is None
    reembed.mark_stragglers(tenant.workspace, now=timezone.now())
    assert models_of(tenant) == [("", False)]


def test_loading_takes_as_many_queries_for_many_as_for_one(tenant: Tenant) -> None:
    ids = [commit(tenant, f"Fact {n}.", WHO, f"What is fact {n}?") for n in range(12)]
    embed_questions(tenant.workspace)

    def queries(asked: list[UUID]) -> int:
        with CaptureQueriesContext(
            connection,
        ) as caught:
            assert len(load_answers(tenant.workspace, asked)) == len(asked)
        return len(caught)

    assert queries(ids[:1]) == queries(ids)
    assert answers.QUESTIONS_A_STEP > 1


def test_a_refused_question_takes_the_turn_of_no_other(
    tenant: Tenant, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each call has the time for one question; the refused one is the oldest."""
    reembed.switch(tenant.workspace, OTHER, actor=SYSTEM, now=timezone.now())
    asked = [WHAT, WHO, "Who pays?"]
    commit(tenant, "A", *asked)
    server.answer("/embeddings", refusing(WHAT))
    begins, seconds = map(question_hash, asked), count()
    monkeypatch.setattr(answers, "QUESTIONS_A_STEP", 1)
    monkeypatch.setattr(answers, "monotonic", lambda: next(seconds))
    monkeypatch.setattr(secrets, "token_hex", lambda _: next(begins))
    assert sum(embed_questions(tenant.workspace, seconds=1.5) for _ in asked) == 2
    assert sorted(models_of(tenant)) == [("", False), (OTHER, True), (OTHER, True)]


@pytest.mark.parametrize("limit", [None, 6])
def test_questions_are_read_in_steps_and_each_is_tried_once(
    tenant: Tenant, server: ModelServer, monkeypatch: pytest.MonkeyPatch, limit: int | None
) -> None:
    reembed.switch(tenant.workspace, OTHER, actor=SYSTEM, now=timezone.now())
    asked = [f"What is fact {n}?" for n in range(5)]
    commit(tenant, "A", *asked[:3])
    commit(tenant, "B", *asked[2:])
    server.answer("/embeddings", refusing(asked[2]))
    server.requests.clear()
    monkeypatch.setattr(answers, "QUESTIONS_A_STEP", 2)
    assert embed_questions(tenant.workspace, limit=limit) == 4
    sent = [text for request in server.requests for text in request.body["input"]]
    tried = Counter(text for text in sent if text != PROBE_TEXT)
    assert tried.keys() == set(asked)
    assert all(tried[text] <= 2 for text in asked)  # with a refused one, and again without it
    assert models_of(tenant).count(("", False)) == 2
