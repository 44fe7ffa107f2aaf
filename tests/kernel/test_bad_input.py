"""Nothing that a caller sends makes a 500 or leaves half a write."""

from __future__ import annotations

import json
import tracemalloc
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from engram.kernel import parsing
from engram.kernel.body_limit import BodyLimit
from engram.kernel.parsing import holds_more_values
from engram.kernel.tenancy import in_workspace
from memories.models import Memory
from tests.conftest import Tenant

JSON = "application/json"


def post_raw(tenant: Tenant, body: bytes, path: str = "memories", kind: str = JSON) -> Any:
    return tenant.agent.client.post(
        f"/api/v1/{path}",
        body,
        content_type=kind,
        headers={"Authorization": f"Bearer {tenant.agent.token}"},
    )


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b'"text"',
        b"42",
        b"\xff\xfe",
        b'{"content": "\\u0000"}',
        b'{"content": "a\\u0000b"}',
        b'{"content": "\\ud800"}',
        b'{"\\ud800": "x"}',
        b'{"content": NaN}',
        b'{"content": "x", "content": "y"}',
        '{"content": "x"}'.encode("utf-16"),
        '{"content": "x"}'.encode("utf-32-le"),
        b'{"content": "x", "metadata": {"a": 1, "a": 2}}',
        b'{"content": "x", "confidence": NaN}',
        b'{"content": "x", "confidence": Infinity}',
        b'{"content": "x", "confidence": 1e400}',
        b'{"content": "x", "importance": ' + b"9" * 5000 + b"}",
        b'{"content": "x", "metadata": ' + b'{"a":' * 100 + b"1" + b"}" * 100 + b"}",
        b"[" * 9_000,
        b'{"a":' * 9_000,
        b'{"content": "x", "confidence": "0.5"}',
        b'{"content": "x", "confidence": true}',
        b'{"content": "x", "confidence": 1.01}',
        b'{"content": "x", "confidence": -0.01}',
        b'{"content": "x", "importance": null}',
        b'{"content": "x", "pinned": "yes"}',
        b'{"content": "x", "pinned": 1}',
        b'{"content": 42}',
        b'{"content": null}',
        b'{"content": ["x"]}',
        b'{"content": ""}',
        b'{"content": "  \\n\\t "}',
        b'{"content": "x", "kind": "wisdom"}',
        b'{"content": "x", "provenance": "god"}',
        b'{"content": "x", "tags": "a"}',
        b'{"content": "x", "tags": [1]}',
        b'{"content": "x", "tags": [""]}',
        b'{"content": "x", "metadata": []}',
        b'{"content": "x", "supersedes": 5}',
        b'{"content": "x", "supersedes": "not-an-id"}',
        b'{"content": "x", "derived_from": ["not-an-id"]}',
        b'{"content": "x", "observed_at": "yesterday"}',
        b'{"content": "x", "observed_at": 5}',
        b'{"content": "x", "observed_at": "2999-01-01T00:00:00Z"}',
        b'{"content": "x", "observed_at": "0001-01-01T00:00:00+23:59"}',
        b'{"content": "x", "expires_at": "9999-12-31T23:59:59-23:59"}',
        b'{"content": "x", "ttl_seconds": 0}',
        b'{"content": "x", "ttl_seconds": 1.5}',
        b'{"content": "x", "ttl_seconds": 99999999999999999999}',
        b'{"content": "x", "ttl_seconds": 5, "expires_at": "2199-01-01T00:00:00Z"}',
    ],
)
def test_wrong_bodies_get_a_problem_and_store_nothing(tenant: Tenant, body: bytes) -> None:
    answer = post_raw(tenant, body)
    assert answer.status_code in {400, 422}
    assert answer["Content-Type"] == "application/problem+json"
    problem = answer.json()
    assert problem["status"] == answer.status_code
    assert problem["detail"] != ""
    with in_workspace(tenant.workspace):
        assert Memory.objects.count() == 0


def test_errors_name_the_fields(tenant: Tenant) -> None:
    answer = tenant.agent.post("memories", {"content": "", "confidence": 2})
    assert {e["field"] for e in answer.json()["errors"]} == {"content", "confidence"}


@pytest.mark.parametrize(
    ("path", "body", "fields"),
    [
        ("memories", {"content": "x", "importence": 1, "tag": []}, {"importence", "tag"}),
        ("memories", {"content": "x", "is_pinned": True}, {"is_pinned"}),
        (
            "memories/batch",
            {"memories": [{"content": "x"}, {"content": "y", "scop": "z"}]},
            {"memories.1.scop"},
        ),
        ("memories/recall", {"query": "x", "limit": 5}, {"limit"}),
        ("memories/forget", {"ids": [], "confirmed": True}, {"confirmed"}),
        ("conflicts/detect", {"memory": None}, {"memory"}),
    ],
)
def test_a_misspelt_field_is_named_and_nothing_is_stored(
    tenant: Tenant, path: str, body: dict[str, Any], fields: set[str]
) -> None:
    answer = tenant.agent.post(path, body)
    assert answer.status_code == 422
    assert {e["field"] for e in answer.json()["errors"]} == fields
    with in_workspace(tenant.workspace):
        assert Memory.objects.count() == 0


KINDS = "semantic, episodic, procedural, decision, constraint"


@pytest.mark.parametrize(
    ("method", "path", "sent", "words"),
    [
        ("post", "memories", {"content": "x", "kind": "opinion"}, KINDS),
        ("post", "memories/batch", {"memories": [{"content": "x", "kind": 7}]}, KINDS),
        ("post", "memories/recall", {"query": "x", "kinds": ["opinion"]}, KINDS),
        ("get", "memories", {"kind": "opinion"}, KINDS),
        ("get", "analytics/latency", {"window": "2h"}, "1h, 6h, 24h, 7d, 30d"),
    ],
)
def test_who_sends_another_word_is_told_which_there_are(
    tenant: Tenant, method: str, path: str, sent: dict[str, Any], words: str
) -> None:
    answer = getattr(tenant.agent, method)(path, sent)
    (error,) = answer.json()["errors"]
    assert (answer.status_code, error["message"]) == (422, f"Must be one of: {words}.")
    assert {"kind", "kinds", "window"} & set(error["field"].split("."))


def test_metadata_may_hold_any_name(tenant: Tenant) -> None:
    body = {"content": "x", "metadata": {"any": {"name": [{"at": "all"}]}}}
    assert tenant.agent.post("memories", body).status_code == 201


def test_thousands_of_unknown_fields_are_answered_shortly(tenant: Tenant) -> None:
    answer = tenant.agent.post("memories", {"content": "x"} | {f"f{n}": n for n in range(5000)})
    assert answer.status_code == 422
    assert len(answer.json()["errors"]) == 20


def test_content_of_8000_characters_is_stored_whole_and_8001_refused(tenant: Tenant) -> None:
    longest = ("word " * 1600)[:8000]
    stored = tenant.agent.post("memories", {"content": longest})
    assert stored.json()["memory"]["content"] == longest
    assert tenant.agent.post("memories", {"content": longest + "x"}).status_code == 422


def test_metadata_is_bounded_in_bytes(tenant: Tenant) -> None:
    assert tenant.agent.post(
        "memories", {"content": "a", "metadata": {"x": "é" * 4000}}
    ).status_code in {201}
    assert tenant.agent.post(
        "memories", {"content": "b", "metadata": {"x": "é" * 4096}}
    ).status_code in {422}


def test_each_route_refuses_bodies_over_its_own_limit(tenant: Tenant) -> None:
    def sent(path: str, size: int) -> Any:
        return post_raw(tenant, b'{"x": "' + b"x" * (size - 9) + b'"}', path)

    small, batch, transcript = 256 * 1024, 24 * 1024 * 1024, 6 * 1024 * 1024
    for path, limit in [
        ("memories", small),
        ("memories/recall", small),
        ("sessions", small),
        ("sessions/monday/end", transcript),
        ("memories/batch", batch),
    ]:
        assert sent(path, limit).status_code == 422, path
        refused = sent(path, limit + 1)
        assert refused.status_code == 413, path
        assert refused["Content-Type"] == "application/problem+json"
        assert str(limit) in refused.json()["detail"]


def test_a_body_that_is_too_large_is_refused_while_it_arrives() -> None:
    async def served(path: str, announced: int | None, chunk: int, chunks: int) -> tuple[int, int]:
        """Return the status, and how many chunks reached the application."""
        taken, reached, statuses = 0, 0, []

        async def receive() -> Any:
            nonlocal taken
            taken += 1
            return {"type": "http.request", "body": b"x" * chunk, "more_body": taken < chunks}

        async def send(message: Any) -> None:
            statuses.append(message.get("status"))

        async def application(scope: Any, receive: Any, send: Any) -> None:
            nonlocal reached
            has_more = True
            while has_more:
                has_more = (await receive())["more_body"]
                reached += 1
            await send({"type": "http.response.start", "status": 200})

        headers = [] if announced is None else [(b"content-length", str(announced).encode())]
        scope = {"type": "http", "path": path, "headers": headers}
        await BodyLimit(application)(scope, receive, send)
        assert taken == chunks or statuses == [200]  # who still sends reads no answer
        return statuses[0], reached

    kilobyte, commit, batch = 1024, "/api/v1/memories", "/api/v1/memories/batch"
    assert async_to_sync(served)(commit, 10**7, kilobyte, 9) == (413, 0)
    assert async_to_sync(served)(commit, None, kilobyte, 10_000) == (413, 256)
    assert async_to_sync(served)(commit, None, 257 * kilobyte, 1) == (413, 0)
    assert async_to_sync(served)(commit, None, kilobyte, 257) == (413, 256)
    assert async_to_sync(served)(commit, None, kilobyte, 256) == (200, 256)
    assert async_to_sync(served)(batch, 10**7, kilobyte, 9_000) == (200, 9_000)
    assert async_to_sync(served)("/nowhere", 10**6, kilobyte, 9) == (413, 0)


def test_a_body_of_millions_of_lists_is_refused_before_it_is_parsed(tenant: Tenant) -> None:
    lists = b'{"query": "x", "kinds": [' + b",".join([b"[]"] * 80_000) + b"]}"
    tracemalloc.start()
    answer = post_raw(tenant, lists, "memories/recall")
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (answer.status_code, "10000 values" in answer.json()["detail"]) == (413, True)
    assert most < 3_000_000  # 80,000 lists are 4.5 MB
    many = b'{"memories": [' + b",".join([b"[]"] * 210_000) + b"]}"
    assert "200000 values" in post_raw(tenant, many, "memories/batch").json()["detail"]


@pytest.mark.parametrize("body", [b"[" * 100_000, b'{"a":' * 40_000])
def test_nesting_without_end_is_refused_before_it_is_parsed(tenant: Tenant, body: bytes) -> None:
    answer = post_raw(tenant, body)
    assert (answer.status_code, answer.json()["status"]) == (413, 413)


def test_signs_within_texts_are_no_values(tenant: Tenant) -> None:
    punctuation = (',[{"\\' * 1600)[:8000]
    stored = tenant.agent.post("memories", {"content": punctuation})
    assert stored.json()["memory"]["content"] == punctuation


@given(
    st.recursive(
        st.none() | st.integers() | st.text(',[{}]:"\\ax', max_size=12),
        lambda inner: st.lists(inner) | st.dictionaries(st.text('",[\\', max_size=3), inner),
        max_leaves=30,
    ),
    st.integers(1, 9),
)
def test_values_are_counted_as_they_stand_across_slices(value: Any, slice_bytes: int) -> None:
    def count(value: Any) -> int:
        if isinstance(value, list | dict):
            inner = value.values() if isinstance(value, dict) else value
            return max(len(value), 1) + sum(map(count, inner))
        return 0

    body, expected = json.dumps(value).encode(), count(value)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parsing, "SLICE_BYTES", slice_bytes)
        assert not holds_more_values(body, expected)
        if expected:
            assert holds_more_values(body, expected - 1)


@pytest.mark.parametrize("kind", ["text/plain", "application/xml", "multipart/form-data"])
def test_other_media_types_are_415(tenant: Tenant, kind: str) -> None:
    answer = post_raw(tenant, b"content=x", kind=kind)
    assert answer.status_code == 415
    assert answer["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize(
    ("path", "params"),
    [
        ("memories?state=active&state=forgotten", {}),
        ("events?limit=1&limit=2", {}),
        ("memories", {"limit": "0"}),
        ("memories", {"limit": "201"}),
        ("memories", {"limit": "-1"}),
        ("memories", {"limit": "ten"}),
        ("memories", {"limit": "٣"}),
        ("memories", {"limit": "9" * 5000}),
        ("memories", {"cursor": "nonsense"}),
        ("memories", {"cursor": "cD0yMDI2"}),
        ("memories", {"cursor": "=="}),
        ("memories", {"cursor": "\x00"}),
        ("memories", {"cursor": ""}),
        ("memories", {"state": "gone"}),
        ("memories", {"kind": "wisdom"}),
        ("memories", {"created_after": "soon"}),
        ("memories", {"q": "\x00"}),
        ("memories", {"scope": "\x00"}),
        ("conflicts", {"status": "maybe"}),
        ("conflicts", {"memory_id": "x"}),
        ("conflicts", {"since": "0000-00-00"}),
        ("events", {"since": "x"}),
        ("events", {"since": "0001-01-01T00:00:00+10:00"}),
        ("events", {"typ": "memory.committed"}),
        ("memories", {"sope": "infra"}),
        ("conflicts", {"state": "open"}),
        ("events", {"cursor": "%00"}),
    ],
)
def test_wrong_query_parameters_are_422(tenant: Tenant, path: str, params: dict[str, str]) -> None:
    answer = tenant.reader.get(path, params)
    assert answer.status_code == 422
    assert answer["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize("moment", ["0112-08-15T20:38:18+21:46", "6919-06-22T10:26:43.237-17:21"])
@pytest.mark.parametrize(
    ("path", "name"),
    [("memories", "created_before"), ("conflicts", "since"), ("events", "since")],
)
def test_offsets_that_no_place_has_are_moments_all_the_same(
    tenant: Tenant, path: str, name: str, moment: str
) -> None:
    assert tenant.reader.get(path, {name: moment}).status_code == 200


@pytest.mark.parametrize(
    "path",
    [
        "memories/not-an-id",
        "memories/00000000-0000-0000-0000-000000000000",
        "conflicts/00000000-0000-0000-0000-000000000000",
        "nowhere",
        "memories/",
        "%00",
        "memories/%ff",
    ],
)
def test_paths_that_lead_nowhere_are_404_problems(tenant: Tenant, path: str) -> None:
    answer = tenant.reader.get(path)
    assert answer.status_code == 404
    assert answer["Content-Type"] == "application/problem+json"


def test_a_body_cannot_smuggle_a_header_into_the_request_id(tenant: Tenant) -> None:
    answer = tenant.reader.get("memories", **{"X-Request-ID": "a\r\nSet-Cookie: x=1"})
    assert answer["X-Request-ID"].isalnum()
    assert "Set-Cookie" not in answer


def test_unknown_hosts_are_refused_as_a_problem(tenant: Tenant) -> None:
    answer = Client().get("/api/v1/memories", headers={"Host": "evil.example"})
    assert answer.status_code == 400


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"query": ""},
        {"query": 5},
        {"query": "x", "k": 0},
        {"query": "x", "k": 101},
        {"query": "x", "k": "10"},
        {"query": "x", "kinds": ["wisdom"]},
        {"query": "x", "min_score": 2},
        {"query": "x" * 20_001},
    ],
)
def test_wrong_recalls_are_422(tenant: Tenant, body: dict[str, Any]) -> None:
    assert tenant.reader.post("memories/recall", body).status_code == 422


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"verdict": "perhaps"},
        {"verdict": "keep"},
        {"verdict": "keep", "keep": ["x"]},
        {"verdict": "keep", "keep": ["00000000-0000-0000-0000-000000000000"]},
        {"verdict": "yes", "version": "3"},
        {"verdict": "yes", "version": 0},
        {"verdict": "yes", "answer": "not asked for"},
        {"verdict": "none_valid", "answer": "x" * 8001},
    ],
)
def test_wrong_verdicts_are_422_and_change_nothing(tenant: Tenant, body: dict[str, Any]) -> None:
    ids = [
        tenant.agent.post("memories", {"content": text}).json()["memory"]["id"]
        for text in ("The gate opens at nine.", "Visitors enter through the courtyard.")
    ]
    reported = tenant.agent.post("conflicts", {"memory_ids": ids}).json()
    card = tenant.reader.get(f"conflicts/{reported['id']}").json()
    assert tenant.reviewer.post(f"conflicts/{card['id']}/resolve", body).status_code == 422
    assert tenant.reader.get(f"conflicts/{card['id']}").json() == card
