"""Add descriptions of fields and parameters that have no help text to the OpenAPI document.

They are in `api_fields.toml`: most names have one meaning in all components.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

FIELDS = Path(__file__).with_name("api_fields.toml")
COMMON, PARAMETERS = "common", "parameters"


@cache
def meanings() -> Mapping[str, Mapping[str, str]]:
    """Return the descriptions of fields, by component and common ones."""
    return tomllib.loads(FIELDS.read_text(encoding="utf-8"))


def meaning_of(component: str, name: str) -> str:
    """Return the description of a component's field; "" if there is none."""
    tables = meanings()
    own = tables.get(component.removeprefix("Patched").removesuffix("Request"), {})
    return tables.get(component, own).get(name) or own.get(name) or tables[COMMON].get(name, "")


def describe_fields(result: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
    """Describe each property and parameter that is not described (a hook of the generator)."""
    for component, shape in result.get("components", {}).get("schemas", {}).items():
        properties = shape.get("properties", {})
        for name, field in properties.items():
            if not field.get("description") and (meaning := meaning_of(component, name)):
                properties[name] = _describe(field, meaning)
    for parameter in _parameters(result):
        if not parameter.get("description"):
            name = parameter["name"]
            meaning = meanings()[PARAMETERS].get(name) or meanings()[COMMON].get(name, "")
            if meaning:
                parameter["description"] = meaning
    return result


def _describe(field: dict[str, Any], meaning: str) -> dict[str, Any]:
    """Return a property with a description; a bare reference must be wrapped to have one.

    The part about null is added only to nullable properties.
    """
    if not (field.get("nullable") or "NullEnum" in str(field)):
        head, _, _ = meaning.partition("; null")
        meaning = head if head.endswith(".") else f"{head}."
    if "$ref" in field:
        return {"allOf": [field], "description": meaning}
    return field | {"description": meaning}


def _parameters(result: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for path in result["paths"].values():
        for operation in path.values():
            yield from operation.get("parameters", [])
