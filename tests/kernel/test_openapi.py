"""The description tells the truth about what every operation shares."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from drf_spectacular.drainage import GENERATOR_STATS
from drf_spectacular.generators import SchemaGenerator

from engram.kernel.configuration import WorkspaceSettings

# What a reader may POST changes nothing.
QUERIES = {"/api/v1/memories/recall", "/api/v1/context"}


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    """Return the document, generated without a single warning."""
    GENERATOR_STATS.reset()
    with GENERATOR_STATS.silence():
        made: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)
    told = {*GENERATOR_STATS._warn_cache, *GENERATOR_STATS._error_cache}
    assert told == set()
    return made


def operations(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield path, method, operation


def test_every_write_by_post_may_carry_an_idempotency_key(document: dict[str, Any]) -> None:
    for path, method, operation in operations(document):
        names = {p["name"]: p for p in operation.get("parameters", [])}
        expected = method == "post" and path not in QUERIES
        assert ("Idempotency-Key" in names) == expected, (method, path)
        if expected:
            shape = names["Idempotency-Key"]
            assert (shape["in"], shape.get("required", False)) == ("header", False)
            assert "409" in operation["responses"]


def test_every_operation_tells_of_limits_and_when_to_try_again(document: dict[str, Any]) -> None:
    for path, method, operation in operations(document):
        for code in ("429", "503"):
            assert "Retry-After" in operation["responses"][code]["headers"], (method, path)


def test_bodies_are_closed_and_answers_are_not(document: dict[str, Any]) -> None:
    shapes = document["components"]["schemas"]
    assert shapes["DraftRequest"]["additionalProperties"] is False
    assert shapes["DraftRequest"]["properties"]["metadata"]["additionalProperties"] == {}
    assert shapes["BatchRequest"]["additionalProperties"] is False
    assert "additionalProperties" not in shapes["Memory"]


def test_limits_of_pages_are_told(document: dict[str, Any]) -> None:
    for path in ("/api/v1/memories", "/api/v1/events", "/api/v1/conflicts"):
        parameters = document["paths"][path]["get"]["parameters"]
        (limit,) = (p["schema"] for p in parameters if p["name"] == "limit")
        assert limit == {"type": "integer", "minimum": 1, "maximum": 200, "default": 50}


def test_settings_are_described_with_their_ranges(document: dict[str, Any]) -> None:
    body = document["paths"]["/api/v1/workspace/settings"]["patch"]["requestBody"]
    shape = body["content"]["application/json"]["schema"]
    assert set(shape["properties"]) == set(WorkspaceSettings.model_fields)
    assert shape["additionalProperties"] is False
    weight = shape["properties"]["weight_user_stated"]
    assert (weight["minimum"], weight["exclusiveMinimum"], weight["maximum"]) == (0, True, 1.0)
