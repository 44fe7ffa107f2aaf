"""Read the properties of a note: YAML front matter, and `name:: value` lines of outliners.

Of YAML a subset is read, as texts, lists and mappings: no tags, anchors or aliases, of bounded
length, depth and number of values; `null` is an empty text, `"null"` a text. What cannot be read is
no error; it is part of the text.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import yaml

FRONT_MATTER_MAX_CHARS = 16_000
DEPTH_MAX = 8
VALUES_MAX = 2_000
_FENCE, _ENDS = "---", ("---", "...")
_PROPERTY = re.compile(r"(?:- )?([A-Za-z][\w-]{0,60})::[ \t]*([^\n]{0,2000})")
_NONE = frozenset(["null", "Null", "NULL", "~"])  # without quotes: there is no value
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
# What stands in the place of a credential is a text, where YAML would read brackets as a list. For
# YAML two characters for private use take the place of its brackets.
_MARKER = re.compile(r"\[removed: ([^\[\]\n]{1,80})\]")
_HELD_MARKER = re.compile("\ue000([^\ue000\ue001]{1,80})\ue001")
_BLANKS = re.compile(r"\s+")
_REFERENCE = re.compile(r"\[\[([^\[\]\n]{1,400})\]\]")

Value = str | list["Value"] | dict[str, "Value"]


class UnreadableError(ValueError):
    """Front matter that is not of the subset."""


class Properties(NamedTuple):
    """The properties of a note and the text after its front matter.

    `outlined` are the names of those that stand in the text as page properties.
    """

    values: dict[str, Value]
    body: str
    outlined: frozenset[str] = frozenset()


def read_properties(content: str) -> Properties:
    """Return the properties of a note; page properties stay in the body."""
    text = content.removeprefix("\ufeff")
    head, body = _split(text)
    values: dict[str, Value] = {}
    if head:
        try:
            values = parse(head)
        except UnreadableError:
            body = text
    own = {name: value for name, value in _page_properties(body).items() if name not in values}
    return Properties(values | own, body, frozenset(own))


def texts_of(value: Value | None, *, is_spaced: bool = False) -> list[str]:
    """Return a property as a list of texts: a list, or one text with commas.

    `is_spaced`: blanks part them, too.
    """
    if isinstance(value, str):
        rest = _REFERENCE.sub("", value)
        rest = _BLANKS.sub(",", rest) if is_spaced else rest
        parts = [*_REFERENCE.findall(value), *rest.split(",")]
        return [part.strip() for part in parts if part.strip()]
    if isinstance(value, list):
        flat = (item for item in value if isinstance(item, str))
        return [text for text in (_unlinked(item).strip() for item in flat) if text]
    return []


def parse(text: str) -> dict[str, Value]:
    """Return the mapping of a YAML document; raise `UnreadableError` if it is not of the subset."""
    if len(text) > FRONT_MATTER_MAX_CHARS:
        raise UnreadableError("too long")
    try:
        return _mapping_of(text)
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        raise UnreadableError(str(error)) from None


def _mapping_of(text: str) -> dict[str, Value]:
    """Build the value of a document from its events, without recursion."""
    root: list[Value] = []
    open_values: list[list[Value] | dict[str, Value]] = []
    names: list[str | None] = []  # of each open mapping, the name that waits for its value
    count = 0

    def add(value: Value) -> None:
        if not open_values:
            root.append(value)
        elif isinstance(outer := open_values[-1], list):
            outer.append(value)
        elif names[-1] is None:
            if not isinstance(value, str):
                raise UnreadableError("a name is no text")
            names[-1] = value
        else:
            outer[names[-1]] = value
            names[-1] = None

    held = _MARKER.sub("\ue000\\1\ue001", text)
    for event in yaml.parse(held, Loader=yaml.BaseLoader):
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise UnreadableError("anchors and aliases are not read")
        if isinstance(event, yaml.ScalarEvent):
            count += 1
            if _UNSTORABLE.search(event.value):  # written as an escape
                raise UnreadableError("a character that no text holds")
            is_name = bool(names) and isinstance(open_values[-1], dict) and names[-1] is None
            is_none = event.style is None and event.value in _NONE and not is_name
            add("" if is_none else _HELD_MARKER.sub(r"[removed: \1]", event.value))
        elif isinstance(event, yaml.CollectionStartEvent):
            count += 1
            new: list[Value] | dict[str, Value]
            new = [] if isinstance(event, yaml.SequenceStartEvent) else {}
            add(new)
            open_values.append(new)
            names.append(None)
        elif isinstance(event, yaml.CollectionEndEvent):
            open_values.pop()
            names.pop()
        if count > VALUES_MAX or len(open_values) > DEPTH_MAX:
            raise UnreadableError("too many values")
    if len(root) != 1 or not isinstance(root[0], dict):
        raise UnreadableError("no mapping")
    return root[0]


def _split(text: str) -> tuple[str, str]:
    """Return the front matter and the rest; "" and the text if it has none."""
    lines = text[: FRONT_MATTER_MAX_CHARS + 100].split("\n")
    if lines[0].rstrip() != _FENCE:
        return "", text
    position = len(lines[0]) + 1
    for line in lines[1:]:
        begin, position = position, position + len(line) + 1
        if line.rstrip() in _ENDS:
            return text[len(lines[0]) + 1 : begin], text[position:]
    return "", text


def _page_properties(body: str) -> dict[str, Value]:
    """Return the `name:: value` lines with which a body begins."""
    found: dict[str, Value] = {}
    text, position = body.lstrip(), 0
    while len(found) < VALUES_MAX and (match := _PROPERTY.match(text, position)):
        found.setdefault(match[1].lower(), match[2].strip())
        position = match.end()
        while position < len(text) and text[position] in " \t\r\n":
            position += 1
    return found


def _unlinked(text: str) -> str:
    return _REFERENCE.sub(r"\1", text)
