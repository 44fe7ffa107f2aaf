"""Read exports of memory systems: JSON or JSON Lines of statements, such as those of mem0.

A file is a list of objects, an object that holds such a list, or one object a line. The text of
each is in `memory`, `content`, `text` or `statement`; its line is that of the text in the file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from engram.console.audit.documents import MOST_CHARS, Document, Statement
from memories.core.tokeniser import sentence_spans

EXPORTS: Final = (".json", ".jsonl", ".ndjson")
MOST_CHARS_OF_A_FILE: Final = 10_000_000
_LISTS: Final = ("results", "memories", "data", "items")
_TEXTS: Final = ("memory", "content", "text", "statement")
_LOOKED_AT: Final = 65_536  # bytes of a file in a folder, to tell whether it is an export
_SEARCHED: Final = 100_000  # characters in which the next text is looked for
_PLAIN: Final = re.compile(r"[\w ,.;:'()-]{1,40}", re.ASCII)  # written without escapes
# Data for tests has texts, too; memory systems add who wrote them and when.
_TEXT: Final = re.compile(rb'"(?:memory|content)"\s*:')
_ADDED: Final = re.compile(
    rb'"(?:created_at|updated_at|observed_at|user_id|agent_id|metadata|memory_type|provenance)"\s*:'
)


class ExportError(ValueError):
    """A file that cannot be read as an export; the message says why."""


class NoExportError(ExportError):
    """A file that holds no statements, such as the settings of a program."""


def is_export(place: Path) -> bool:
    """Return whether a file of a folder looks like an export of memories, or cannot be read."""
    try:
        if not place.is_file():  # opening a pipe would wait for its writer
            return True
        with place.open("rb") as file:
            begin = file.read(_LOOKED_AT)
            return bool(_TEXT.search(begin) and _ADDED.search(begin))
    except OSError:
        return True  # reading it says why


def read_export(path: str, content: str) -> Document:
    """Return the statements of an export; raise `ExportError` if it has none."""
    document = Document(path)
    lines = _Lines(content)
    for block, (text, number) in enumerate(_texts(path, content), start=1):
        line = number or lines.of(text)
        for start, end in sentence_spans(text):
            piece = text[start:end].strip()
            if piece and len(piece) <= MOST_CHARS:
                document.statements.append(
                    Statement(path, line, line, piece, block=block, kind="item")
                )
    if not document.statements:
        raise NoExportError("it holds no statements under " + ", ".join(_TEXTS))
    return document


def _texts(path: str, content: str) -> Iterator[tuple[str, int]]:
    """Yield each text with the line of its object; 0 where it has to be looked for."""
    if path.lower().endswith(".json"):
        for text in _of_value(_parse(content, 1)):
            yield text, 0
        return
    for number, line in enumerate(content.split("\n"), start=1):
        if line.strip():
            for text in _of_value(_parse(line, number)):
                yield text, number


def _parse(text: str, line: int) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        at = line + getattr(error, "lineno", 1) - 1
        raise ExportError(f"line {at} is not JSON") from None


def _of_value(value: Any) -> Iterator[str]:
    """Yield the texts of an object, of a list of objects, or of an object with such a list."""
    if isinstance(value, dict):
        for name in _LISTS:
            if isinstance(value.get(name), list):
                yield from _of_value(value[name])
                return
        text = next((value[n] for n in _TEXTS if isinstance(value.get(n), str)), "")
        if text.strip():
            yield " ".join(text.split())
    elif isinstance(value, list):
        for item in value:
            if isinstance(item, dict):
                yield from _of_value(item)
            elif isinstance(item, str) and item.strip():
                yield " ".join(item.split())


class _Lines:
    """Finds the lines of texts that stand in a file in their order."""

    def __init__(self, content: str):
        self._content, self._at, self._line = content, 0, 1

    def of(self, text: str) -> int:
        """Return the line on which the next text begins, the last known one if it is not found."""
        begin = _PLAIN.match(text)
        written = begin[0] if begin else ""
        found = self._content.find(written, self._at, self._at + _SEARCHED) if written else -1
        if found >= 0:
            self._line += self._content.count("\n", self._at, found)
            self._at = found + len(written)
        return self._line
