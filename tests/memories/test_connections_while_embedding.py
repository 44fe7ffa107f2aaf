"""Requests that wait for the embedding model hold no database connection meanwhile."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from django.db import connection

from engram.kernel import embedding
from engram.kernel.minilm import MiniLM
from engram.kernel.tenancy import in_workspace
from tests.conftest import Tenant

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Note at each pass of the model whether this thread holds a connection."""
    passes: list[bool] = []
    whole = MiniLM._read

    def noted(self: MiniLM, encodings: Sequence[Any], **options: Any) -> Any:
        passes.append(connection.connection is not None)
        return whole(self, encodings, **options)

    monkeypatch.setattr(MiniLM, "_read", noted)
    return passes


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("memories", {"content": "The north crane lifts forty tonnes."}),
        ("memories/batch", {"memories": [{"content": "The south crane lifts ten tonnes."}]}),
        ("memories/recall", {"query": "How much does the east crane lift?"}),
        ("memories/forget", {"query": "What was said of the west crane?"}),
        ("sessions", {"session_key": "cranes", "context": "Inspect the cranes of the yard"}),
    ],
)
def test_a_request_that_embeds_holds_no_connection(
    tenant: Tenant, held: list[bool], path: str, body: dict[str, Any]
) -> None:
    assert tenant.admin.post(path, body).status_code < 300
    assert held
    assert not any(held)


def test_an_idempotent_commit_that_embeds_holds_no_connection(
    tenant: Tenant, held: list[bool]
) -> None:
    body = {"content": "The gantry is painted yellow."}
    answer = tenant.agent.post("memories", body, **{"Idempotency-Key": "paint"})
    assert answer.status_code == 201
    assert held
    assert not any(held)


def test_within_a_transaction_the_connection_stays(tenant: Tenant, held: list[bool]) -> None:
    with in_workspace(tenant.workspace):
        embedding.embed(["The yard closes at dusk."])
        assert connection.connection is not None
    assert held == [True]


@pytest.mark.parametrize("read", ["embed", "embed_windows", "read_query"])
def test_no_connection_is_held_while_the_model_is_loaded(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch, read: str
) -> None:
    loads: list[bool] = []
    load = embedding._load

    def noted(options: dict[str, Any]) -> embedding.Provider:
        loads.append(connection.connection is not None)
        return load(options)

    monkeypatch.setattr(embedding, "_load", noted)
    monkeypatch.setattr(embedding, "_providers", {})
    connection.ensure_connection()
    text = f"A cold model reads this by {read}."
    getattr(embedding, read)(text if read == "read_query" else [text])
    assert loads == [False]
