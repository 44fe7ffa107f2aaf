"""Every operation has an example, taken from a real call, that its description allows.

`make examples` records them anew.
"""

from __future__ import annotations

import json
import os
import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pytest
from drf_spectacular.generators import SchemaGenerator
from jsonschema import Draft202012Validator, FormatChecker

from engram.console.api_examples import FILE, load_examples
from engram.console.diagnostics import parts
from engram.kernel.causes import CAUSES
from tests.console.examples.recorder import MEASURED, Call
from tests.console.examples.story import record

IS_RECORDING = "ENGRAM_RECORD_EXAMPLES" in os.environ


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    """Return the API's description."""
    made: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)
    return made


def outline(value: Any) -> Any:
    """Return what must not change unseen: names, words and kinds, no figures."""
    if isinstance(value, dict):
        return {name: outline(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [outline(inner) for inner in value]
    if isinstance(value, str):
        # A fingerprint depends on the ids of rows that earlier tests of the process have used up.
        text = re.sub(r"\b[0-9a-f]{16,64}\b", "fingerprint", value)
        return re.sub(r"[-+]?\d[\d.,]*", "#", text)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return "number"
    return value


def test_the_same_calls_have_the_same_answers(
    db: None, document: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    # The same on a full disk, and with a database on a server of its own.
    monkeypatch.setattr(parts, "_free_bytes", lambda: MEASURED["free_bytes"])
    calls = record(list(document["paths"]))
    if IS_RECORDING:
        text = json.dumps(calls, indent=1, ensure_ascii=False)
        FILE.write_text(f"{text}\n", encoding="utf-8")
    for now, then in zip(calls, load_examples(), strict=True):
        assert outline(now) == outline(then), "changed: run `make examples` and read the difference"


def operations(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield f"{method.upper()} {path}", operation


def examples(media: dict[str, Any]) -> list[Any]:
    return [example["value"] for example in media.get("examples", {}).values()]


def test_every_operation_has_examples(document: dict[str, Any]) -> None:
    bare = []
    for name, operation in operations(document):
        parts = {"request": operation.get("requestBody", {})} | {
            code: answer for code, answer in operation["responses"].items() if code[0] == "2"
        }
        for part, shape in parts.items():
            for media in shape.get("content", {}).values():
                if not examples(media):
                    bare.append((name, part))
    assert len(list(operations(document))) > 70
    assert bare == []


def test_every_path_has_an_example(document: dict[str, Any]) -> None:
    found = [
        (name, parameter["name"], parameter.get("example"))
        for name, operation in operations(document)
        for parameter in operation.get("parameters", [])
        if parameter["in"] == "path"
    ]
    assert len(found) > 40
    assert [one for one in found if not one[2]] == []
    assert ("DELETE /api/v1/notes/{note_path}", "note_path", "work/billing.md") in found


def as_json_schema(shape: Any, *, is_closed: bool) -> Any:
    """Return a schema of OpenAPI 3.0 as one of JSON Schema; closed ones take no other names."""
    if isinstance(shape, list):
        return [as_json_schema(inner, is_closed=is_closed) for inner in shape]
    if not isinstance(shape, dict):
        return shape
    made = {name: as_json_schema(inner, is_closed=is_closed) for name, inner in shape.items()}
    for bound, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        if made.pop(exclusive, False) is True:
            made[exclusive] = made.pop(bound)
    if is_closed and isinstance(shape.get("properties"), dict):
        made.setdefault("additionalProperties", False)
    if made.pop("nullable", False) is True:
        return {"anyOf": [made, {"type": "null"}]}
    return made


def test_every_example_is_as_described(document: dict[str, Any]) -> None:
    closed = as_json_schema(document["components"], is_closed=True)
    wrong = defaultdict(list)
    checked = 0
    for name, operation in operations(document):
        parts = {"request": operation.get("requestBody", {})} | operation["responses"]
        for part, shape in parts.items():
            for media in shape.get("content", {}).values():
                schema = as_json_schema(media["schema"], is_closed=True)
                validator = Draft202012Validator(
                    schema | {"components": closed}, format_checker=FormatChecker()
                )
                for example in examples(media):
                    checked += 1
                    wrong[name, part] += [
                        f"{error.json_path}: {error.message[:200]}"
                        for error in validator.iter_errors(example)
                    ]
    assert checked > 120
    assert {name: found for name, found in wrong.items() if found} == {}


def test_a_wrong_example_is_found(document: dict[str, Any]) -> None:
    components = as_json_schema(document["components"], is_closed=True)
    schema = {"$ref": "#/components/schemas/Memory", "components": components}
    [memory] = [c["response"] for c in load_examples() if c["summary"] == "One memory"]
    is_valid = Draft202012Validator(schema, format_checker=FormatChecker()).is_valid
    assert is_valid(memory)
    for wrong in ({"id": "seven"}, {"state": "odd"}, {"content": None}, {"added": 1}):
        assert not is_valid(memory | wrong), wrong
    assert not is_valid({name: inner for name, inner in memory.items() if name != "revision"})


def test_some_problems_are_shown() -> None:
    refused: list[Call] = [call for call in load_examples() if call["status"] >= 400]
    assert {call["status"] for call in refused} == {401, 403, 404, 409, 410, 422}
    for call in refused:
        name = call["response"]["type"].removeprefix("/problems/")
        assert (CAUSES[name].status, CAUSES[name].title) == (
            call["status"], call["response"]["title"],
        )  # fmt: skip


def test_nothing_private_is_recorded() -> None:
    text = FILE.read_text(encoding="utf-8")
    assert re.findall(r"egr_[^…]", text) == []
    assert re.findall(r"testserver|/home/|/root/|/tmp/|/work/", text) == []
    assert len(text) < 230_000
