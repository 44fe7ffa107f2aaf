"""Read the items of large JSON files one after the other: arrays, objects of arrays, JSON Lines.

A file may be gigabytes: one item is held at a time, and its size is bounded.
"""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import ijson

ITEM_MAX_BYTES = 256 * 2**20
LINE_MAX_BYTES = 2**20
BOM = b"\xef\xbb\xbf"
ERRORS_SHOWN = 20  # of a file
CONVERSATIONS = re.compile(r"\Aconversations(?:-\d++)?\.json\Z")


class ForeignError(ValueError):
    """A file that cannot be imported; the message says why."""


class _Counted:
    """A file that tells of the bytes it reads, and ends an item that is too large."""

    def __init__(self, file: IO[bytes], advance: Callable[[int], object]) -> None:
        self._file = file
        self._advance = advance
        self.of_item = 0

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        self._advance(len(data))
        self.of_item += len(data)
        if self.of_item > ITEM_MAX_BYTES:
            raise ForeignError(f"One item is larger than {ITEM_MAX_BYTES >> 20} MB.")
        return data


def items_of(
    path: Path, names: Sequence[str], *, advance: Callable[[int], object] = lambda size: None
) -> Iterator[Any]:
    """Yield the items of a file: of an array, of JSON Lines, or of an array of one of these names.

    A zip file is read where it holds `conversations.json`. Raise `ForeignError` when the file is
    not JSON, is cut short, or has another shape; `advance` is told of the bytes that were read.
    """
    try:
        with path.open("rb") as probe:
            parts = _members(path) if zipfile.is_zipfile(probe) else [""]
        for part in parts:
            with _open(path, part) as file:
                prefix = _find_prefix(file, names)
            with _open(path, part) as file:
                yield from (
                    _lines(file, advance) if prefix is None else _parsed(file, prefix, advance)
                )
    except OSError as error:
        raise ForeignError(f"It cannot be read: {error.strerror or error}.") from None
    except (zipfile.BadZipFile, EOFError, RuntimeError, NotImplementedError) as error:
        raise ForeignError(f"The zip file cannot be read: {error}.") from None


def size_of(path: Path) -> int:
    """Return the bytes that `items_of` reads; 0 when there is no such file."""
    if not path.is_file():
        return 0
    if not zipfile.is_zipfile(path):
        return path.stat().st_size
    with zipfile.ZipFile(path) as zipped:
        return sum(zipped.getinfo(name).file_size for name in _members(path))


def _members(path: Path) -> list[str]:
    with zipfile.ZipFile(path) as zipped:
        found = sorted(
            name for name in zipped.namelist() if CONVERSATIONS.match(name.rpartition("/")[2])
        )
    if not found:
        raise ForeignError("The zip file holds no conversations.json.")
    return found


@contextmanager
def _open(path: Path, member: str) -> Iterator[IO[bytes]]:
    if not member:
        with path.open("rb") as file:
            yield file
        return
    with zipfile.ZipFile(path) as zipped, zipped.open(member) as file:
        yield file


def _skip_mark(file: IO[bytes]) -> None:
    """Go to the beginning of a file, behind a byte order mark."""
    file.seek(0)
    if file.read(len(BOM)) != BOM:
        file.seek(0)


def _find_prefix(file: IO[bytes], names: Sequence[str]) -> str | None:
    """Return where the items are, as ijson names it; None for JSON Lines."""
    _skip_mark(file)
    start = file.readline(LINE_MAX_BYTES).strip()
    while not start:
        if not (line := file.readline(LINE_MAX_BYTES)):
            raise ForeignError("The file is empty.")
        start = line.strip()
    if start.startswith(b"["):
        return "item"
    try:
        first = json.loads(start)
    except (ValueError, RecursionError):
        first = None  # an object over several lines, or no JSON
    if isinstance(first, dict) and not any(isinstance(first.get(n), list) for n in names):
        return None
    _skip_mark(file)
    try:
        for prefix, event, _ in ijson.parse(file, use_float=True):
            if event == "start_array" and prefix in names:
                return f"{prefix}.item"
    except ijson.JSONError as error:
        raise ForeignError(f"It is no JSON: {_reason(error)}.") from None
    raise ForeignError(f"It holds no list, nor an object with one of {', '.join(names)}.")


def _parsed(file: IO[bytes], prefix: str, advance: Callable[[int], object]) -> Iterator[Any]:
    counted = _Counted(file, advance)
    _skip_mark(file)
    try:
        for item in ijson.items(counted, prefix, use_float=True):
            counted.of_item = 0
            yield item
    except ijson.JSONError as error:
        raise ForeignError(f"It is no JSON, or cut short: {_reason(error)}.") from None


def _lines(file: IO[bytes], advance: Callable[[int], object]) -> Iterator[Any]:
    number = 0
    _skip_mark(file)
    while line := file.readline(LINE_MAX_BYTES):
        number += 1
        advance(len(line))
        if len(line) == LINE_MAX_BYTES:
            raise ForeignError(f"Line {number} is longer than {LINE_MAX_BYTES >> 20} MB.")
        if not line.strip():
            continue
        try:
            yield json.loads(line)
        except (ValueError, RecursionError):
            raise ForeignError(f"Line {number} is not JSON.") from None


def _reason(error: Exception) -> str:
    """Return the first line of an error, without the text around it that ijson quotes."""
    text = str(error).splitlines()
    return text[0].strip().rstrip(".") if text else type(error).__name__
