"""Find the lines of a turn that a request to remember announces: "Store the following: - …"."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from memories.core.extraction.request_grammar import find_request
from memories.core.tokeniser import sentence_spans

BULLET: Final = re.compile(r"(?:[-*\u2022]|\d{1,2}[.)]|\(\d{1,2}\))\s++")
_LINE_CHARS: Final = 600  # of a line that may end with a request

Span = tuple[int, int]


def find_items(text: str, start: int, end: int, is_own: Callable[[int], bool]) -> list[Span]:
    """Return the items that requests announce, each with its bullet; linear in the length.

    Parameters
    ----------
    text : str
    start, end : int
        The turn that is read.
    is_own : callable
        Whether the line that begins at a position is in the speaker's own words: no block of code,
        no quoted text.

    Returns
    -------
    list of (start, end)
        All items of the list that stands behind a line that ends with such a request; without a
        list the line behind it.
    """
    lines = list(_lines(text, start, end))
    found: list[Span] = []
    n = 0
    while n < len(lines):
        n += 1
        if not is_own(lines[n - 1][0]) or not _announces(text[slice(*lines[n - 1])]):
            continue
        while n < len(lines) and not text[slice(*lines[n])].strip():
            n += 1
        items, n = _items_from(text, lines, n, is_own)
        found += items
    return found


def _lines(text: str, start: int, end: int) -> Iterator[Span]:
    for line in text[start:end].splitlines(keepends=True):
        yield start, start + len(line)
        start += len(line)


def _announces(line: str) -> bool:
    tail = line.rstrip()[-_LINE_CHARS:]
    if not tail:
        return False
    found = find_request(tail[sentence_spans(tail)[-1][0] :])
    return found is not None and found.is_bare and found.points_on


def _items_from(
    text: str, lines: list[Span], n: int, is_own: Callable[[int], bool]
) -> tuple[list[Span], int]:
    """Return the items from a line on, and the number of the line behind them."""
    items: list[Span] = []
    depth = 0
    while n < len(lines) and is_own(lines[n][0]):
        line = text[slice(*lines[n])]
        bare = line.lstrip()
        indent = len(line) - len(bare)
        is_item = BULLET.match(bare) is not None
        if is_item:
            items.append(lines[n])
            depth = indent
        elif not items:
            return [lines[n]], n + 1
        elif bare and indent > depth:
            items[-1] = (items[-1][0], lines[n][1])
        elif bare or not _goes_on(text, lines, n):
            break
        n += 1
    return items, n


def _goes_on(text: str, lines: list[Span], n: int) -> bool:
    """Return whether another item stands behind an empty line."""
    return n + 1 < len(lines) and BULLET.match(text[slice(*lines[n + 1])].lstrip()) is not None
