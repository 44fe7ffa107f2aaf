"""Queries and statements of unusual form cost no more than ordinary ones, and lose nothing."""

from __future__ import annotations

from string import ascii_lowercase

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from engram.kernel import embedding
from engram.kernel.minilm import MAX_TOKENS
from engram.kernel.passes import TokenIds
from tests.conftest import Tenant

ORDINARY = "Where does the heron of the north dock nest?"
QUERIES = {
    "20,000 characters": ("The heron of the north dock nests on crane 4. " * 450)[:20_000],
    "20,000 without a space": (ascii_lowercase * 800)[:20_000],
    "emoji": "\U0001f680\U0001f525\U0001f389" * 200,
    "one letter": "h",
    "Chinese": "北码头的苍鹭在哪里筑巢？" * 100,
}

UNKNOWN = {"20,000 without a space", "emoji"}  # of which the model knows no word


@pytest.fixture
def read_tokens(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the numbers of tokens of the texts that the model reads."""
    passes = embedding._provider()._model._passes  # type: ignore[attr-defined]
    run_pass, read = passes._run_pass, []

    def counted(token_ids: TokenIds) -> object:
        read.extend(len(ids) for ids in token_ids)
        return run_pass(token_ids)

    monkeypatch.setattr(passes, "_run_pass", counted)
    monkeypatch.setattr(embedding, "_queries", type(embedding._queries)())
    return read


@pytest.mark.parametrize("name", QUERIES)
def test_an_unusual_query_is_answered_by_as_many_statements(
    tenant: Tenant, read_tokens: list[int], name: str
) -> None:
    for number in range(3):
        body = {"content": f"The heron of the north dock nests on crane {number}, since {name}."}
        assert tenant.agent.post("memories", body).status_code == 201
    counts = []
    for query in (ORDINARY, ORDINARY + " Now?", QUERIES[name]):
        read_tokens.clear()
        with CaptureQueriesContext(
            connection,
        ) as queries:
            answer = tenant.reader.post("memories/recall", {"query": query})
        assert (query[:40], answer.status_code) == (query[:40], 200)
        counts.append(len(queries))
    # Without a vector and a word nothing is found: the reason takes two statements more.
    is_unknown = name in UNKNOWN
    assert counts[2] <= counts[1] + 2 * is_unknown
    assert len(read_tokens) == 1 - is_unknown
    assert all(tokens <= MAX_TOKENS for tokens in read_tokens)


def test_different_statements_without_a_space_stay_apart(
    tenant: Tenant, read_tokens: list[int]
) -> None:
    one, other = (letters * 4_000 for letters in ("ab", "xy"))
    ids = set()
    for text in (one, other):
        answer = tenant.agent.post("memories", {"content": text})
        assert answer.status_code == 201
        ids.add(answer.json()["memory"]["id"])
        assert answer.json()["memory"]["content"] == text
    assert len(ids) == 2
    assert sum(read_tokens) <= 2 * embedding.FIRST_WINDOWS * MAX_TOKENS
