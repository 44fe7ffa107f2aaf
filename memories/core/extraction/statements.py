"""Split turns into statements, each a verbatim piece of the transcript."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from memories.core.extraction.turns import Turn
from memories.core.tokeniser import sentence_spans

Kind = Literal["prose", "code", "quoted"]

_FENCE = re.compile(r"[ \t]{0,3}(?:```|~~~)")
_QUOTED = re.compile(r"[ \t]{0,3}>")
_INDENTED = re.compile(r"(?: {2}|\t)\s*\S")
_BULLET = re.compile(r"(?:[-*\u2022]|\d{1,2}[.)]|\(\d{1,2}\))\s++")
_NUMBERED = re.compile(r"\(?\d{1,2}[.)]")
_MOST_JOINED: Final = 300  # characters
# A word, blanks aside: code and logs have more signs and digits than words.
_LETTERS = re.compile(r"[^\W\d_]{2,}")
_LETTERS_IN_PROSE: Final = 0.55  # least share of letters among the characters of a line of prose


@dataclass(frozen=True, slots=True)
class Statement:
    """One sentence of a turn; `text` is `transcript[start:end]`.

    `turn` is the position of its turn, `place` its own within the turn, `kind` says whether it
    stands in a block of code or log lines, or in text quoted from elsewhere.
    """

    text: str
    start: int
    end: int
    turn: int
    place: int
    kind: Kind


def read_statements(transcript: str, turns: tuple[Turn, ...]) -> tuple[Statement, ...]:
    """Return the sentences of all turns, in order."""
    return tuple(
        statement
        for position, turn in enumerate(turns)
        for statement in _of_turn(transcript, position, turn)
    )


def _of_turn(transcript: str, position: int, turn: Turn) -> Iterator[Statement]:
    place = 0
    for kind, start, end in _blocks(transcript, turn):
        for first, last in _sentences(transcript[start:end]):
            a, b = start + first, start + last
            yield Statement(transcript[a:b], a, b, position, place, kind)
            place += 1


def _blocks(transcript: str, turn: Turn) -> Iterator[tuple[Kind, int, int]]:
    """Yield the stretches of a turn by kind; lines of one kind stay together."""
    is_fenced = False
    kind: Kind = "prose"
    begin = at = turn.start
    for line in transcript[turn.start : turn.end].splitlines(keepends=True):
        is_fence = _FENCE.match(line) is not None
        found = _kind_of(line, is_fenced=is_fenced or is_fence, is_first=at == turn.start)
        if found != kind and at > begin:
            yield kind, begin, at
            begin = at
        kind = found
        if is_fence:
            is_fenced = not is_fenced
        at += len(line)
    if at > begin:
        yield kind, begin, at


def _kind_of(line: str, *, is_fenced: bool, is_first: bool) -> Kind:
    if is_fenced:
        return "code"
    if _QUOTED.match(line):
        return "quoted"
    words = line.split()
    if not words or is_first:
        return "prose"
    written = sum(map(len, words))
    letters = sum(map(len, _LETTERS.findall(line)))
    is_dense = letters < _LETTERS_IN_PROSE * written
    return "code" if _INDENTED.match(line) or (is_dense and len(words) > 2) else "prose"


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    """Yield the positions of sentences, without surrounding blanks and bullets.

    A semicolon and the number of a list item end no statement.
    """
    begin = -1
    for opened, end in sentence_spans(text):
        start = opened if begin < 0 else begin
        piece = text[start:end]
        is_open = piece.rstrip().endswith(";") or _NUMBERED.fullmatch(piece.strip()) is not None
        begin = start if is_open and end < len(text) and end - start < _MOST_JOINED else -1
        if begin >= 0:
            continue
        bare = piece.lstrip()
        bullet = _BULLET.match(bare)
        first = start + len(piece) - len(bare) + (bullet.end() if bullet else 0)
        last = start + len(piece.rstrip())
        if last > first:
            yield first, last
