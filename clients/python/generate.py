"""Writes the client's types and methods from the OpenAPI document, which comes on standard input.

`make client` runs it; a test compares what it writes with what is committed.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import textwrap
import tomllib
from dataclasses import dataclass
from keyword import iskeyword
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PACKAGE = HERE / "src" / "engram_client"
NOTE = "Written by generate.py from the API's description: `make client` writes it anew."
BASE = "/api/v1"
IDEMPOTENCY = "Idempotency-Key"
# Queries by POST: they change nothing, and can be sent again without a key.
QUERIES = {"memories_recall_create", "context_create"}
PLAIN = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}
_REF = re.compile(r"\btypes\.(\w+)")

Schema = dict[str, Any]


class Shapes:
    """The document's components as Python types; those that are used are collected."""

    def __init__(self, components: dict[str, Schema]):
        self.components = components
        self.written: dict[str, str] = {}

    def of(self, schema: Schema, hint: str, *, sent: bool = False) -> str:
        """Return the type of a schema; `sent`: it is an argument and not part of an answer."""
        text = self._bare(schema, hint, sent=sent)
        if not schema.get("nullable") or text in {"t.Any", "None"}:
            return text
        return _none_last(f"{text} | None")

    def _bare(self, schema: Schema, hint: str, *, sent: bool) -> str:
        kind = schema.get("type")
        if "$ref" in schema:
            text = self.name(schema["$ref"].rpartition("/")[2])
        elif "allOf" in schema:
            text = self._bare(schema["allOf"][0], hint, sent=sent)
        elif "oneOf" in schema:
            kinds = [self._bare(one, hint, sent=sent) for one in schema["oneOf"]]
            text = " | ".join(dict.fromkeys(kinds))
        elif "enum" in schema:
            text = _literal(schema["enum"])
        elif kind == "array":
            item = self.of(schema["items"], hint, sent=sent)
            text = f"Sequence[{item}]" if sent else f"list[{item}]"
        elif kind == "object":
            text = self._object(schema, hint, sent=sent)
        elif sent and schema.get("format") == "date-time":
            text = "datetime | str"
        else:
            text = PLAIN.get(kind or "", "t.Any")
        return text

    def _object(self, schema: Schema, hint: str, *, sent: bool) -> str:
        if "properties" in schema:
            self._write(hint, schema)
            return f"types.{hint}"
        values = schema.get("additionalProperties")
        value = self.of(values, hint, sent=sent) if isinstance(values, dict) and values else "t.Any"
        return f"Mapping[str, {value}]" if sent else f"dict[str, {value}]"

    def name(self, component: str) -> str:
        """Return the type of a component, written when it is first used."""
        schema = self.components[component]
        if "enum" in schema:
            values = _literal(schema["enum"])
            if component in {"NullEnum", "BlankEnum"}:
                return values
            alias = component.removesuffix("Enum")
            alias = f"{alias}Value" if alias in self.components else alias
            self.written.setdefault(alias, f"{alias} = {values}")
            return f"types.{alias}"
        if schema.get("type") == "object" and "properties" in schema:
            self._write(component, schema)
            return f"types.{component}"
        return self.of(schema, component)

    def _write(self, name: str, schema: Schema) -> None:
        if name in self.written:
            return
        self.written[name] = ""  # a component may hold itself
        required = set(schema.get("required", ()))
        lines = []
        for field, shape in schema["properties"].items():
            text = self.of(shape, f"{name}{_camel(field)}")
            lines.append(f"    {field}: {text if field in required else f't.NotRequired[{text}]'}")
            if iskeyword(field) or not field.isidentifier():
                raise SystemExit(f"{name}.{field} cannot be a field of a class")
        doc = _sentence(schema.get("description") or name)
        body = "\n".join(lines) or "    pass"
        self.written[name] = f'class {name}(t.TypedDict):\n    """{doc}"""\n\n{body}'

    def module(self) -> str:
        """Return the module of all types that are used."""
        # Aliases are values and come first; classes may name each other in any order.
        aliases = [text for name, text in sorted(self.written.items()) if " = t.Literal" in text]
        classes = [text for name, text in sorted(self.written.items()) if text not in aliases]
        body = "\n".join(aliases) + "\n\n\n" + "\n\n\n".join(classes)
        return (
            f'"""What the API takes and answers, as typed dictionaries.\n\n{NOTE}\n"""\n\n'
            "from __future__ import annotations\n\n"
            "import typing as t\n\n" + _REF.sub(r"\1", body) + "\n"
        )


@dataclass(frozen=True)
class Argument:
    """An argument of a method."""

    name: str
    type: str
    is_required: bool
    place: str  # path, query or body


@dataclass(frozen=True)
class Method:
    """A method of the client: one operation of the API."""

    resource: str
    name: str
    verb: str
    path: str
    arguments: tuple[Argument, ...]
    answer: str
    row: str  # of a list in pages; empty: it is none
    doc: str
    takes_body: bool
    takes_key: bool
    is_repeatable: bool


def methods(document: Schema, names: dict[str, str]) -> tuple[list[Method], Shapes]:
    """Return a method for each operation of the document, and the types that they need."""
    shapes = Shapes(document["components"]["schemas"])
    found = []
    for path, verbs in document["paths"].items():
        for verb, operation in verbs.items():
            if operation["operationId"] not in names:
                raise SystemExit(
                    f"{verb.upper()} {path}: no method for {operation['operationId']}; "
                    "add a line to clients/python/names.toml and run `make client`"
                )
            found.append(_method(path, verb.upper(), operation, names, shapes))
    known = {o["operationId"] for verbs in document["paths"].values() for o in verbs.values()}
    if gone := names.keys() - known:
        raise SystemExit(f"not in the API any more: {sorted(gone)}")
    return found, shapes


def _method(
    path: str, verb: str, operation: Schema, names: dict[str, str], shapes: Shapes
) -> Method:
    id_ = operation["operationId"]
    resource, _, name = names[id_].rpartition(".")
    hint = _camel(id_)
    parameters = operation.get("parameters", [])
    arguments = [
        Argument(
            p["name"], shapes.of(p["schema"], hint, sent=True), bool(p.get("required")), p["in"]
        )
        for p in sorted(parameters, key=lambda p: p["in"] != "path")
        if p["in"] in {"path", "query"} and p["name"] not in {"cursor", "offset"}
    ]
    body = operation.get("requestBody")
    if body is not None:
        arguments += _fields(body["content"]["application/json"]["schema"], hint, shapes)
    answer, row = _answer(operation, shapes)
    takes_key = any(p["name"] == IDEMPOTENCY for p in parameters)
    return Method(
        resource=resource,
        name=name,
        verb=verb,
        path=path.removeprefix(BASE),
        arguments=tuple(sorted(arguments, key=lambda a: not a.is_required)),
        answer=answer,
        row=row if verb == "GET" else "",
        doc=_sentence(operation["summary"]),
        takes_body=body is not None,
        takes_key=takes_key,
        is_repeatable=verb in {"GET", "PUT", "DELETE"} or takes_key or id_ in QUERIES,
    )


def _fields(schema: Schema, hint: str, shapes: Shapes) -> list[Argument]:
    """Return the arguments for the fields of a body."""
    if "$ref" in schema:
        schema = shapes.components[schema["$ref"].rpartition("/")[2]]
    required = set(schema.get("required", ()))
    return [
        Argument(
            field, _argument(shapes, shape, f"{hint}{_camel(field)}"), field in required, "body"
        )
        for field, shape in schema["properties"].items()
        if not shape.get("readOnly")
    ]


def _argument(shapes: Shapes, schema: Schema, hint: str) -> str:
    return shapes.of(schema, hint, sent=True)


def _answer(operation: Schema, shapes: Shapes) -> tuple[str, str]:
    """Return the type of the answer, and of a row where it is a list in pages."""
    kinds, row = [], ""
    for status, response in operation["responses"].items():
        if not status.startswith("2"):
            continue
        content = response.get("content", {}).get("application/json")
        if content is None:
            kinds.append("None")
            continue
        schema = content["schema"]
        kinds.append(shapes.of(schema, _camel(operation["operationId"])))
        shape = shapes.components.get(schema.get("$ref", "").rpartition("/")[2], {})
        fields = shape.get("properties", {})
        if {"results", "next"} <= fields.keys():
            row = shapes.of(fields["results"]["items"], "Row")
    return " | ".join(dict.fromkeys(kinds)), row


def client(found: list[Method], *, is_async: bool) -> str:
    """Return the module of the blocking or the asynchronous client."""
    prefix = "Async" if is_async else ""
    resources = sorted({m.resource for m in found if m.resource})
    parts = [
        f'"""The {"asynchronous" if is_async else "blocking"} client.\n\n{NOTE}\n"""\n\n'
        "from __future__ import annotations\n\n"
        "import typing as t\n"
        "from collections.abc import Mapping, Sequence\n"
        "from datetime import datetime\n\n"
        "import httpx\n\n"
        "from engram_client import types\n"
        "from engram_client._attempts import Retry\n"
        "from engram_client._calls import UNSET, Call, Unset, asked, given, new_key, segment\n"
        f"from engram_client._transport import TIMEOUT, {prefix}Transport\n"
        f"from engram_client.pages import {prefix}Pages\n"
    ]
    for resource in resources:
        own = [m for m in found if m.resource == resource]
        title = resource.replace("_", " ")
        parts.append(
            f"class {prefix}{_camel(resource)}:\n"
            f'    """Calls about {title}."""\n\n'
            f"    def __init__(self, transport: {prefix}Transport):\n"
            "        self._transport = transport\n\n"
            + "\n".join(_code(m, is_async=is_async) for m in own)
        )
    plain = [m for m in found if not m.resource]
    attributes = "".join(
        f"        self.{r} = {prefix}{_camel(r)}(self._transport)\n" for r in resources
    )
    parts.append(
        f"class {prefix}Engram({prefix}Transport):\n"
        f'    """A client of one workspace: the one that its key belongs to.\n\n'
        "    `url` and `key` are read from ENGRAM_URL and ENGRAM_KEY when they are not given.\n"
        '    """\n\n'
        "    def __init__(\n        self,\n        url: str | None = None,\n"
        "        key: str | None = None,\n        *,\n"
        "        timeout: float | httpx.Timeout = TIMEOUT,\n        retry: Retry | None = None,\n"
        f"        http: httpx.{prefix}Client | None = None,\n    ):\n"
        "        super().__init__(url, key, timeout=timeout, retry=retry, http=http)\n"
        f"        self._transport = self\n{attributes}\n"
        + "\n".join(_code(m, is_async=is_async) for m in plain)
    )
    return "\n\n".join(parts)


def _code(method: Method, *, is_async: bool) -> str:
    """Return the source of one method."""
    positional = [a for a in method.arguments if a.is_required]
    optional = [a for a in method.arguments if not a.is_required]
    signature = ["self", *(f"{a.name}: {a.type}" for a in positional)]
    keyed = [f"{a.name}: {_none_last(f'{a.type} | Unset')} = UNSET" for a in optional]
    if method.takes_key:
        keyed.append("idempotency_key: str | None = None")
    if keyed:
        signature += ["*", *keyed]
    answer = method.answer
    if method.row:
        answer = f"{'Async' if is_async else ''}Pages[{method.row}, {method.answer}]"
    wait, define = ("await ", "async def") if is_async and not method.row else ("", "def")
    call = _call(method)
    sent = (
        f"{'Async' if is_async else ''}Pages(self._transport.send, {call})"
        if method.row
        else f"{wait}self._transport.send({call})"
    )
    return (
        f"    {define} {method.name}({', '.join(signature)}) -> {_none_last(answer)}:\n"
        f'        """{method.doc}"""\n'
        f"        return {sent}\n"
    )


def _call(method: Method) -> str:
    path = method.path
    for argument in (a for a in method.arguments if a.place == "path"):
        safe = ', "/"' if argument.name == "note_path" else ""
        part = f"{{segment('{argument.name}', {argument.name}{safe})}}"
        path = path.replace(f"{{{argument.name}}}", part)
    text = f'f"{path}"' if "{" in path else f'"{path}"'
    parts = [f'"{method.verb}"', text]
    for place, keyword, function in (("query", "query", "asked"), ("body", "body", "given")):
        fields = [f"{a.name}={a.name}" for a in method.arguments if a.place == place]
        if fields or (place == "body" and method.takes_body):
            parts.append(f"{keyword}={function}({', '.join(fields)})")
    if method.takes_key:
        parts.append("idempotency_key=idempotency_key or new_key()")
    if not method.is_repeatable:
        parts.append("repeatable=False")
    return f"Call[{method.answer}]({', '.join(parts)})"


def _literal(values: list[Any]) -> str:
    listed = [value for value in values if value is not None]
    texts = [f"t.Literal[{', '.join(json.dumps(value) for value in listed)}]"] if listed else []
    return " | ".join(texts + (["None"] if None in values else []))


def _none_last(union: str) -> str:
    """Return a union with None as its last member, once."""
    if " | None" not in union:
        return union
    return union.replace(" | None", "") + " | None"


def _camel(name: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in re.split(r"[^A-Za-z0-9]+", name))


def _sentence(text: str) -> str:
    """Return the first sentence of a text, on one line that fits."""
    first = " ".join(text.split()).split(". ")[0].rstrip(".").replace("\\", "").replace('"', "'")
    return textwrap.shorten(first, 84, placeholder=" …") + ("" if len(first) > 84 else ".")


def formatted(text: str) -> str:
    """Return source as the project formats it."""
    command = [sys.executable, "-m", "ruff", "format", "--line-length", "100", "-"]
    done = subprocess.run(  # noqa: S603  the command is this one
        command, input=text, capture_output=True, text=True, check=True
    )
    return done.stdout


def modules(document: Schema) -> dict[Path, str]:
    """Return the text of each module that is written."""
    names = tomllib.loads((HERE / "names.toml").read_text(encoding="utf-8"))
    found, shapes = methods(document, names)
    return {
        PACKAGE / "types.py": formatted(shapes.module()),
        PACKAGE / "_sync.py": formatted(client(found, is_async=False)),
        PACKAGE / "_async.py": formatted(client(found, is_async=True)),
    }


def main() -> None:
    """Write the modules."""
    for path, text in modules(json.load(sys.stdin)).items():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
