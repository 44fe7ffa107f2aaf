"""The description says what each operation, parameter and field means."""

from __future__ import annotations

from typing import Any

import pytest
from drf_spectacular.generators import SchemaGenerator

from engram.console.api_groups import GROUPS
from engram.console.openapi import COMMON, PARAMETERS, meanings


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    """Return the API's description."""
    made: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)
    return made


def test_every_operation_has_a_summary_and_a_description(document: dict[str, Any]) -> None:
    operations = [
        (path, method, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]
    assert len(operations) > 70
    bare = [
        (path, method)
        for path, method, operation in operations
        if not operation.get("description") or not 5 <= len(operation.get("summary", "")) <= 120
    ]
    assert bare == []
    undescribed = [
        (path, method, parameter["name"])
        for path, method, operation in operations
        for parameter in operation.get("parameters", [])
        if not parameter.get("description")
    ]
    assert undescribed == []


def test_groups_are_described_in_the_order_of_newcomers(document: dict[str, Any]) -> None:
    used = {
        tag
        for methods in document["paths"].values()
        for operation in methods.values()
        for tag in operation["tags"]
    }
    assert [tag["name"] for tag in document["tags"]] == list(GROUPS)
    assert used == GROUPS.keys()
    assert list(GROUPS)[:3] == ["memories", "context", "sessions"]


def test_the_description_begins_with_how_to_authenticate(document: dict[str, Any]) -> None:
    assert "Authorization: Bearer egr_…" in document["info"]["description"]
    assert '-H "Authorization: Bearer $KEY"' in document["info"]["description"]
    schemes = document["components"]["securitySchemes"]
    assert (schemes["key"]["type"], schemes["key"]["scheme"]) == ("http", "bearer")
    assert all(scheme["description"] for scheme in schemes.values())


def test_every_property_of_every_component_is_described(document: dict[str, Any]) -> None:
    undescribed = [
        (component, name)
        for component, shape in document["components"]["schemas"].items()
        for name, field in shape.get("properties", {}).items()
        if not field.get("description")
    ]
    assert undescribed == []


def test_nothing_is_said_of_fields_that_are_not_there(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    names = {name for shape in schemas.values() for name in shape.get("properties", {})}
    parameters = {
        parameter["name"]
        for methods in document["paths"].values()
        for operation in methods.values()
        for parameter in operation.get("parameters", [])
    }
    for component, words in meanings().items():
        if component in {COMMON, PARAMETERS}:
            known = names | parameters if component == COMMON else parameters
            assert words.keys() <= known, component
            continue
        shapes = [
            schemas[name]
            for name in (component, f"{component}Request", f"Patched{component}Request")
            if name in schemas
        ]
        assert shapes, component
        assert words.keys() <= {name for shape in shapes for name in shape["properties"]}, component
