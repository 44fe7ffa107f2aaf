"""Another embedding model while the service answers: vectors of two models are never compared."""

from __future__ import annotations

from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from engram.kernel.actors import SYSTEM
from engram.kernel.embedding import EmbeddingUnavailableError
from engram.kernel.models import Event, Workspace
from engram.kernel.tenancy import in_workspace
from memories.models import Memory, MemoryVector
from memories.services.commit.commit import commit
from memories.services.commit.draft import Draft
from memories.services.index import pending, reembed
from tests.conftest import NOW, Tenant
from tests.memories.other_model import LOCAL, OTHER, letters
from tests.model_server import Answer, ModelServer, Request

pytestmark = pytest.mark.usefixtures("index_of_other_model")

TEXTS = ["Postgres is the database", "The kettle is in the kitchen", "Deploys run on Tuesday"]


@pytest.fixture
def stored(tenant: Tenant) -> list[Memory]:
    found = []
    for text in TEXTS:
        result = commit(tenant.workspace, Draft(content=text), actor=SYSTEM, now=NOW)
        assert result.memory is not None
        found.append(result.memory)
    return found


def models_of(workspace: Workspace) -> dict[str, int]:
    with in_workspace(workspace):
        rows = list(MemoryVector.objects.values_list("model", flat=True))
    return {name: rows.count(name) for name in set(rows)}


def cosines(tenant: Tenant, query: str) -> dict[str, float]:
    answer = tenant.agent.post(
        "memories/recall", {"query": query, "record": False, "min_score": None}
    )
    assert answer.status_code == 200
    return {r["memory"]["content"]: r["cosine"] for r in answer.json()["results"]}


def test_reembed_moves_every_workspace_and_drops_the_old_vectors(
    tenant: Tenant, neighbour: Tenant, stored: list[Memory], server: ModelServer
) -> None:
    commit(neighbour.workspace, Draft(content="Zenith's own"), actor=SYSTEM, now=NOW)
    out = StringIO()

    call_command("reembed", model=OTHER, settle_seconds=0, stdout=out)

    assert models_of(tenant.workspace) == {OTHER: 3}
    assert models_of(neighbour.workspace) == {OTHER: 1}
    assert out.getvalue().splitlines()[0] == f"acme now uses {OTHER}: 3 memories embedded."
    assert cosines(tenant, TEXTS[0])[TEXTS[0]] == pytest.approx(1.0, abs=1e-6)
    created = tenant.agent.post("memories", {"content": "A fourth thing was decided"})
    assert created.status_code == 201
    assert models_of(tenant.workspace) == {OTHER: 4}
    with in_workspace(tenant.workspace):
        told = Event.objects.get(type="workspace.reembedded")
    assert told.data == {"from": LOCAL, "to": OTHER}


def test_one_workspace_moves_alone(
    tenant: Tenant, neighbour: Tenant, stored: list[Memory], server: ModelServer
) -> None:
    commit(neighbour.workspace, Draft(content="Zenith's own"), actor=SYSTEM, now=NOW)

    call_command("reembed", model=OTHER, workspace="acme", settle_seconds=0, stdout=StringIO())

    assert models_of(tenant.workspace) == {OTHER: 3}
    assert models_of(neighbour.workspace) == {LOCAL: 1}


def test_vectors_of_two_models_are_never_compared(
    tenant: Tenant, stored: list[Memory], server: ModelServer
) -> None:
    before = cosines(tenant, "Which database do we run?")

    reembed.embed_missing(tenant.workspace, OTHER, advance=lambda _: None)

    assert models_of(tenant.workspace) == {LOCAL: 3, OTHER: 3}
    assert cosines(tenant, "Which database do we run?") == before
    reembed.switch(tenant.workspace, OTHER, actor=SYSTEM, now=NOW)
    after = cosines(tenant, "Which database do we run?")
    assert set(after) == set(TEXTS)
    assert min(after.values()) > 0.6  # all texts share letters; MiniLM's are far below
    assert min(before.values()) < 0.3


def test_a_provider_that_fails_loses_nothing_and_the_next_run_goes_on(
    tenant: Tenant, stored: list[Memory], server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reembed, "MEMORIES_A_TURN", 1)
    asked: list[list[str]] = []

    def fail_at_the_third(request: Request) -> Answer:
        asked.append(request.body["input"])
        if len(asked) == 3:
            return Answer({"error": {"message": "overloaded"}}, 400)
        rows = [
            {"object": "embedding", "index": i, "embedding": vector}
            for i, vector in enumerate(letters(request.body["input"]))
        ]
        return Answer({"object": "list", "model": "spelling", "data": rows})

    server.answer("/embeddings", fail_at_the_third)

    with pytest.raises(CommandError, match="Run the same command to go on"):
        call_command("reembed", model=OTHER, settle_seconds=0, stdout=StringIO())

    tenant.workspace.refresh_from_db()
    assert tenant.workspace.embedding_model == LOCAL
    assert models_of(tenant.workspace) == {LOCAL: 3, OTHER: 1}
    asked.append([])  # the fourth request and all after it are answered
    call_command("reembed", model=OTHER, settle_seconds=0, stdout=StringIO())
    assert models_of(tenant.workspace) == {OTHER: 3}
    assert len([texts for texts in asked[4:] if texts != ["Is anybody there?"]]) == 2


def test_a_model_that_cannot_be_had_changes_nothing(tenant: Tenant, stored: list[Memory]) -> None:
    with pytest.raises(CommandError, match="Nothing was changed: gone needs an endpoint: set"):
        call_command("reembed", model="gone", settle_seconds=0, stdout=StringIO())

    tenant.workspace.refresh_from_db()
    assert tenant.workspace.embedding_model == LOCAL
    assert models_of(tenant.workspace) == {LOCAL: 3}


def test_what_was_reworded_meanwhile_is_embedded_by_its_new_words(
    tenant: Tenant, stored: list[Memory], server: ModelServer
) -> None:
    reembed.embed_missing(tenant.workspace, OTHER, advance=lambda _: None)
    changed = tenant.reviewer.patch(f"memories/{stored[0].id}", {"content": "MariaDB it is"})
    assert changed.status_code == 200

    assert reembed.count_missing(tenant.workspace, OTHER) == 1
    call_command("reembed", model=OTHER, settle_seconds=0, stdout=StringIO())

    assert cosines(tenant, "MariaDB it is")["MariaDB it is"] == pytest.approx(1.0, abs=1e-6)


def test_a_forgotten_memory_is_embedded_too_and_stays_forgotten(
    tenant: Tenant, stored: list[Memory], server: ModelServer
) -> None:
    ids = [str(stored[0].id)]
    tenant.agent.post("memories/forget", {"ids": ids, "confirm": True})

    call_command("reembed", model=OTHER, settle_seconds=0, stdout=StringIO())

    assert TEXTS[0] not in cosines(tenant, TEXTS[0])
    assert tenant.reviewer.post("memories/restore", {"ids": ids}).json()["restored"] == 1
    assert cosines(tenant, TEXTS[0])[TEXTS[0]] == pytest.approx(1.0, abs=1e-6)


def test_what_a_late_writer_adds_by_the_old_model_is_healed(
    tenant: Tenant, stored: list[Memory], server: ModelServer
) -> None:
    late = Workspace.objects.get(pk=tenant.workspace.pk)  # as a request read it before the change
    call_command("reembed", model=OTHER, settle_seconds=0, stdout=StringIO())
    commit(late, Draft(content="Written by a late request"), actor=SYSTEM, now=NOW)
    moved = Workspace.objects.get(pk=tenant.workspace.pk)
    assert moved.embedding_changed_at is not None
    soon = moved.embedding_changed_at + timedelta(minutes=1)

    assert reembed.mark_stragglers(moved, now=soon + timedelta(hours=1)) == 0
    assert reembed.mark_stragglers(moved, now=soon) == 1
    assert pending.embed_pending(moved) == 1

    assert models_of(moved) == {OTHER: 4}


def test_a_text_that_the_provider_refuses_keeps_no_other_waiting(
    tenant: Tenant, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def picky(request: Request) -> Answer:
        texts = request.body["input"]
        if any("Bad" in text for text in texts):
            return Answer({"error": {"message": "refused"}}, 400)
        rows = [{"index": i, "embedding": vector} for i, vector in enumerate(letters(texts))]
        return Answer({"data": rows})

    Workspace.objects.filter(pk=tenant.workspace.pk).update(embedding_model=OTHER)
    moved = Workspace.objects.get(pk=tenant.workspace.pk)
    server.answer("/embeddings", lambda request: Answer({"error": "down"}, 503))
    texts = ["Bad text is here", *TEXTS, "Bad text is there", "Pears ripen in August"]
    for text in texts:
        commit(moved, Draft(content=text), actor=SYSTEM, now=NOW)
    monkeypatch.setattr(pending, "MEMORIES_A_TURN", 2)  # the first turn is one of a refused text
    asked = len(server.requests)
    assert pending.embed_pending(moved) == 0  # nobody is there: asked no further
    down = len(server.requests) - asked

    server.answer("/embeddings", picky)
    assert pending.embed_pending(moved) == 4
    assert pending.embed_pending(moved) == 0

    assert models_of(moved) == {OTHER: 4}
    with in_workspace(moved):
        left = Memory.objects.filter(is_embedding_due=True).values_list("content", flat=True)
        assert sorted(left) == ["Bad text is here", "Bad text is there"]
    assert down <= 6  # the turn and one harmless text, with retries


def test_the_wrong_width_is_refused_loudly(
    tenant: Tenant, stored: list[Memory], server: ModelServer
) -> None:
    """Pitfall 16."""
    server.answer_embeddings(lambda texts: [[1.0, 2.0] for _ in texts])

    with pytest.raises(EmbeddingUnavailableError, match="2 dimensions instead of 9"):
        reembed.embed_missing(tenant.workspace, "spelling@9", advance=lambda _: None)

    assert models_of(tenant.workspace) == {LOCAL: 3}
