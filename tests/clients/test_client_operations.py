"""The Python client calls every operation of the API as its description says."""

from __future__ import annotations

import inspect
import json
import re
import tomllib
from collections.abc import Iterator
from types import NoneType, UnionType
from typing import (
    Any,
    Literal,
    NotRequired,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)
from urllib.parse import parse_qs, urlsplit

import generate
import httpx
import pytest
from drf_spectacular.generators import SchemaGenerator
from engram_client import UNSET, AsyncEngram, Engram, types

from engram.console.api_examples import load_examples

NAMES: dict[str, str] = tomllib.loads((generate.HERE / "names.toml").read_text(encoding="utf-8"))
# Parameters of pages are followed by the client itself.
OF_PAGES = {"cursor", "offset"}
KEY = "Idempotency-Key"


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    """Return the API's description."""
    made: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)
    return json.loads(json.dumps(made))  # type: ignore[no-any-return]


def operations(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, verbs in document["paths"].items():
        for verb, operation in verbs.items():
            yield path, verb.upper(), operation


class Recorder:
    """Takes down what a client sends, and answers with an empty list."""

    def __init__(self) -> None:
        self.requests: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        return httpx.Response(200, json={"results": [], "next": None})


def method_of(client: Any, operation: str) -> Any:
    """Return the client's method for an operation; fails where it has none."""
    found = client
    for name in NAMES[operation].split("."):
        found = getattr(found, name)
    return found


def arguments_of(method: Any) -> dict[str, str]:
    """Return a different text for each argument of a method."""
    names = inspect.signature(method).parameters
    values = {name: f"<{name}/ü>" for name in names}
    return values | ({"idempotency_key": "my-key"} if "idempotency_key" in names else {})


def fields_of(document: dict[str, Any], operation: dict[str, Any]) -> dict[str, Any]:
    """Return the fields that a body may have."""
    if "requestBody" not in operation:
        return {}
    schema = operation["requestBody"]["content"]["application/json"]["schema"]
    if "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return {n: s for n, s in schema["properties"].items() if not s.get("readOnly")}


def test_what_is_written_is_what_the_description_says(document: dict[str, Any]) -> None:
    for path, text in generate.modules(document).items():
        assert path.read_text(encoding="utf-8") == text, f"{path.name}: run `make client`"


def test_each_operation_is_called_with_all_that_it_takes(document: dict[str, Any]) -> None:
    recorder = Recorder()
    with httpx.Client(transport=httpx.MockTransport(recorder)) as http:
        client = Engram("https://engram.example", "egr_key", http=http)
        for path, verb, operation in operations(document):
            method = method_of(client, operation["operationId"])
            values = arguments_of(method)
            answer = method(**values)
            if hasattr(answer, "first_page"):
                answer.first_page()
            sent = recorder.requests.pop()
            parameters = operation.get("parameters", [])
            taken = {p["name"]: p["in"] for p in parameters if p["name"] not in OF_PAGES}
            inside = {name for name, place in taken.items() if place == "path"}
            asked = {name: [values[name]] for name, place in taken.items() if place == "query"}
            address = urlsplit(str(sent.url))

            assert (sent.method, not recorder.requests) == (verb, True)
            pattern = "".join(
                "([^/]+)"
                if part in {f"{{{name}}}" for name in inside - {"note_path"}}
                else "(.+)"
                if part == "{note_path}"
                else re.escape(part)
                for part in re.split(r"(\{\w+\})", path)
            )
            found = re.fullmatch(pattern, address.path)
            assert found, (path, address.path)
            assert [httpx.URL(f"/{text}").path[1:] for text in found.groups()] == [
                values[name] for name in re.findall(r"\{(\w+)\}", path)
            ]
            assert parse_qs(address.query) == asked, path
            fields = fields_of(document, operation)
            expected = {name: values[name] for name in fields}
            assert json.loads(sent.content or b"{}") == expected, path
            assert sent.headers.get(KEY) == ("my-key" if KEY in taken else None), path
            assert values.keys() == inside | asked.keys() | fields.keys() | (
                {"idempotency_key"} if KEY in taken else set()
            ), path


def test_only_what_is_required_must_be_given(document: dict[str, Any]) -> None:
    client = Engram("https://engram.example", "egr_key")
    for path, verb, operation in operations(document):
        parameters = inspect.signature(method_of(client, operation["operationId"])).parameters
        needed = {p["name"] for p in operation.get("parameters", []) if p.get("required")}
        schema = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
        body = schema.get("schema", {})
        if "$ref" in body:
            body = document["components"]["schemas"][body["$ref"].rpartition("/")[2]]
        needed |= set(body.get("required", ()))
        assert {n for n, p in parameters.items() if p.default is p.empty} == needed, (verb, path)
        defaults = {p.default for n, p in parameters.items() if n not in needed}
        assert defaults <= {UNSET, None}
    client.close()


def test_answers_have_the_types_that_the_methods_name(document: dict[str, Any]) -> None:
    client = Engram("https://engram.example", "egr_key")
    seen = set()
    names = {
        f"{v} {p.removeprefix('/api/v1')}": o["operationId"] for p, v, o in operations(document)
    }
    for example in (e for e in load_examples() if e["status"] < 300):
        operation = names[example["operation"]]
        returned = inspect.signature(method_of(client, operation), eval_str=False).return_annotation
        page = re.fullmatch(r"Pages\[.+, (.+)\]", returned)
        text = page[1] if page else returned
        kind = eval(text, {"types": types})  # noqa: S307  an annotation of the client
        assert wrong(example.get("response"), kind) == [], example["operation"]
        seen.add(operation)
    assert seen == set(names.values())
    client.close()


def wrong(value: Any, kind: Any, place: str = "") -> list[str]:
    """Return where an answer of the service is not of a type: a missing or an unknown field."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin in {Union, UnionType}:
        found = min((wrong(value, one, place) for one in inner), key=len)
    elif origin is NotRequired:
        found = wrong(value, inner[0], place)
    elif origin is Literal:
        found = [] if value in inner else [f"{place}={value!r}"]
    elif origin is list and isinstance(value, list):
        found = [w for i, item in enumerate(value) for w in wrong(item, inner[0], f"{place}[{i}]")]
    elif origin is dict and isinstance(value, dict):
        found = [w for name, v in value.items() for w in wrong(v, inner[1], f"{place}.{name}")]
    elif is_typeddict(kind) and isinstance(value, dict):
        hints = get_type_hints(kind, vars(types), include_extras=True)
        required = {name for name, hint in hints.items() if get_origin(hint) is not NotRequired}
        odd = (required - value.keys()) | (value.keys() - hints.keys())
        found = [f"{place}.{name}" for name in odd]
        for name in value.keys() & hints.keys():
            found += wrong(value[name], hints[name], f"{place}.{name}")
    else:
        allowed = {float: (int, float), None: (NoneType,), Any: (type(value),)}.get(kind, (kind,))
        found = [] if type(value) in allowed else [place]
    return found


def test_both_clients_take_the_same_and_return_the_same() -> None:
    blocking = Engram("https://engram.example", "egr_key")
    other = AsyncEngram("https://engram.example", "egr_key")
    for operation in NAMES:
        one = inspect.signature(method_of(blocking, operation))
        two = inspect.signature(method_of(other, operation))
        assert one.parameters == two.parameters, operation
        assert two.return_annotation.removeprefix("Async") == one.return_annotation, operation
    blocking.close()
