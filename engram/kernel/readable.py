"""Remove invisible characters from texts, with a mapping to the original positions."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import NamedTuple

# Non-ASCII characters, with the character before, which a combining mark may follow.
_NOT_ASCII = re.compile(r"[\x00-\x7f]?[^\x00-\x7f]+")
_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
_MOST_MARKS = 8  # per character; bounds the sorting of marks


class Readable(NamedTuple):
    """A readable text; `begins` and `ends` are the original positions of each character."""

    text: str
    begins: Sequence[int]
    ends: Sequence[int]


def readable(text: str) -> Readable:
    """Return a text without invisible characters, which could hide a credential."""
    if text.isascii():
        return Readable(text, range(len(text)), range(1, len(text) + 1))
    parts: list[str] = []
    begins: list[int] = []
    ends: list[int] = []

    kept_to = 0
    for run in (*_NOT_ASCII.finditer(text), None):
        until = run.start() if run else len(text)
        parts.append(text[kept_to:until])
        begins.extend(range(kept_to, until))
        ends.extend(range(kept_to + 1, until + 1))
        if run:
            kept_to = run.end()
            for cluster, begin, end in _clusters(run[0], until):
                parts.append(unicodedata.normalize("NFKC", cluster))
                begins.extend([begin] * len(parts[-1]))
                ends.extend([end] * len(parts[-1]))
    return Readable("".join(parts), begins, ends)


def _clusters(text: str, offset: int) -> Iterator[tuple[str, int, int]]:
    """Yield each visible character with its combining marks, and its start and end."""
    cluster, begin, end = "", offset, offset
    for place, character in enumerate(text, start=offset):
        if unicodedata.category(character) == "Cf" or _UNSEEN.match(character):
            continue
        if cluster and (len(cluster) > _MOST_MARKS or not unicodedata.combining(character)):
            yield cluster, begin, end
            cluster = ""
        if not cluster:
            begin = place
        cluster += character
        end = place + 1
    if cluster:
        yield cluster, begin, end
