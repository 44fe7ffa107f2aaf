"""Add examples to the OpenAPI document, recorded from real calls by `make examples`.

`api_examples.json` has the calls of one story in order, each with its response; ids and times are
the same in every recording, and long lists are cut.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("api_examples.json")
BASE = "/api/v1"
_NO_WORD = re.compile(r"\W+")

Call = dict[str, Any]


def load_examples() -> list[Call]:
    """Return the recorded calls."""
    calls: list[Call] = json.loads(FILE.read_text(encoding="utf-8"))
    return calls


def add_examples(result: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
    """Add the recorded calls and responses to the operations (a hook of the generator)."""
    for call in load_examples():
        method, _, path = call["operation"].partition(" ")
        operation = result["paths"][BASE + path][method.lower()]
        _add_to_path(operation, call)
        if call["status"] < 400 and "body" in call:
            for media in operation["requestBody"]["content"].values():
                _add(media, call, call["body"])
        if "response" in call:
            content = operation["responses"][str(call["status"])]["content"]
            for media in content.values():
                _add(media, call, call["response"])
    return result


def _add_to_path(operation: dict[str, Any], call: Call) -> None:
    """Add the path of the first successful call; a query would narrow what is tried out."""
    given = call.get("path", {}) if call["status"] < 400 else {}
    for parameter in operation.get("parameters", []):
        if parameter["in"] == "path" and parameter["name"] in given:
            parameter.setdefault("example", given[parameter["name"]])


def _add(media: dict[str, Any], call: Call, value: Any) -> None:
    name = _NO_WORD.sub("-", call["summary"].lower()).strip("-")
    media.setdefault("examples", {})[name] = {"summary": call["summary"], "value": value}
