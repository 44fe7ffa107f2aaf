"""Statements of Markdown files: each list item and each paragraph is one."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from engram.console.transfer.foreign.streams import ForeignError
from memories.core.front_matter import read_properties
from memories.core.markdown import Line, headings_above, read_lines

FILE_MAX_BYTES = 16 * 2**20
_ITEM = re.compile(r"\A[ \t]*+(?:[-*+]|\d{1,9}[.)])[ \t]++(?:\[[ xX]\][ \t]++)?")
_NO_STATEMENT = re.compile(r"\A(?:[\s|:>*_=-]*+|(?:\||<!--)[^\n]*+)\Z")


def markdown_items(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the statements of a file, or of all `.md` files of a folder in order of their names.

    Headings, code, tables and front matter are none. Each has its place as source, and the headings
    above it in its metadata.
    """
    if path.is_dir():
        files = sorted(file for file in path.rglob("*.md") if file.is_file())
        if not files:
            raise ForeignError("The folder holds no .md file.")
    else:
        files = [path]
    for file in files:
        name = str(file.relative_to(path)) if path.is_dir() else file.name
        for number, text, headings in _statements(_read(file, name)):
            identity = hashlib.sha256(f"{name}\n{text}".encode()).hexdigest()[:32]
            item: dict[str, Any] = {"id": identity, "content": text, "source": f"{name}:{number}"}
            if headings:
                item["headings"] = list(headings)
            yield item


def _read(file: Path, name: str) -> str:
    try:
        raw = file.read_bytes() if file.stat().st_size <= FILE_MAX_BYTES else None
    except OSError as error:
        raise ForeignError(f"{name} cannot be read: {error.strerror}.") from None
    if raw is None:
        raise ForeignError(f"{name} is larger than {FILE_MAX_BYTES >> 20} MB.")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ForeignError(f"{name} is not UTF-8.") from None


def _statements(content: str) -> Iterator[tuple[int, str, tuple[str, ...]]]:
    """Yield the line number, the text on one line and the headings of each statement."""
    unified = content.replace("\r\n", "\n").replace("\r", "\n")
    body = read_properties(unified).body
    number = unified.count("\n") - body.count("\n") + 1
    begun, parts, above = 0, [], ()  # type: int, list[str], tuple[str, ...]
    for line, headings in headings_above(read_lines(body)):
        item = None if _is_other(line) else _ITEM.match(line.text)
        if parts and (_is_other(line) or item):
            yield begun, " ".join(parts), above
            parts = []
        if not _is_other(line):
            if not parts:
                begun, above = number, headings
            text = line.text[item.end() :] if item else line.text
            if text.strip():
                parts.append(text.strip())
        number += 1 + line.text.count("\n")
    if parts:
        yield begun, " ".join(parts), above


def _is_other(line: Line) -> bool:
    """Return whether a line is no part of a statement."""
    text = line.text.strip()
    is_blank = bool(_NO_STATEMENT.match(text)) or _is_image(text)
    return line.is_code or bool(line.level) or is_blank


def _is_image(text: str) -> bool:
    """Return whether a line is an image alone; a pattern would try each "](" of it anew."""
    is_marked = text.startswith("![") and text.endswith(")") and "](" in text[2:]
    return is_marked and "\n" not in text
