"""Split turns into statements, each a verbatim piece of the transcript."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from memories.core.extraction.blocks import Block
from memories.core.extraction.introductions import introduces
from memories.core.extraction.lists import BULLET, find_items
from memories.core.extraction.pasted import Span, find_pasted, unquoted
from memories.core.extraction.references import asks_for_detail, tells_detail
from memories.core.extraction.request_grammar import find_request
from memories.core.extraction.shown_text import find_shown_text
from memories.core.extraction.splitting import split_at_request
from memories.core.extraction.turns import Turn, read_lines
from memories.core.tokeniser import sentence_spans

Kind = Literal["prose", "code", "quoted", "private"]

_QUOTED = re.compile(r"[ \t]{0,3}>")
_INDENTED = re.compile(r"(?: {2}|\t)\s*\S")
_NUMBERED = re.compile(r"\(?\d{1,2}[.)]")
_MOST_JOINED: Final = 300  # characters
_MOST_TOGETHER: Final = 600  # characters of code or quoted lines
# A word, blanks aside: code and logs have more signs and digits than words.
_LETTERS = re.compile(r"[^\W\d_]{2,}")
_LETTERS_IN_PROSE: Final = 0.55  # least share of letters among the characters of a line of prose


@dataclass(frozen=True, slots=True)
class Statement:
    """One sentence of a turn; `text` is `transcript[start:end]`.

    `turn` is the position of its turn, `place` its own within the turn, `kind` says whether it
    stands in a block of code or log lines, in text quoted from elsewhere, or is not to be stored.
    `corrects` is the text that its speaker took back for it, "" without one; `is_listed`: a request
    to remember announced it; `is_retracted`: its speaker took it back; `is_doubtful`: it may be
    others' words, which its speaker shows.
    """

    text: str
    start: int
    end: int
    turn: int
    place: int
    kind: Kind
    corrects: str = ""
    is_listed: bool = False
    is_retracted: bool = False
    is_doubtful: bool = False

    @property
    def asks_to_remember(self) -> bool:
        """Return whether it is a request to remember, or one announced it."""
        return self.is_listed or find_request(self.text) is not None


def read_statements(transcript: str, turns: tuple[Turn, ...]) -> tuple[Statement, ...]:
    """Return the sentences of all turns, in order."""
    blocks = {line.start: line.block for line in read_lines(transcript)}
    return tuple(
        statement
        for position, turn in enumerate(turns)
        for statement in _of_turn(transcript, position, turn, blocks)
    )


def _of_turn(
    transcript: str, position: int, turn: Turn, blocks: dict[int, Block | None]
) -> Iterator[Statement]:
    place = 0
    prose = [(a, b) for kind, a, b in _blocks(transcript, turn, blocks) if kind == "prose"]
    is_persons = turn.role != "assistant"
    shown = find_shown_text(transcript, turn.start, turn.end, prose) if is_persons else []
    for kind, start, end, is_item in _stretches(transcript, turn, blocks):
        cut = [(start, end, False)] if is_item else _parted(start, end, shown)
        is_own = kind == "prose" and turn.is_users
        for first, last, is_within in cut:
            span = unquoted(transcript, first, last) if is_within else (first, last)
            is_doubtful = turn.may_be_output or is_within or (is_item and _is_in(first, shown))
            for one in _of_stretch(transcript, kind, span, is_own=is_own, is_item=is_item):
                yield replace(one, turn=position, place=place, is_doubtful=is_doubtful)
                place += 1


def _of_stretch(
    transcript: str, kind: Kind, stretch: Span, *, is_own: bool, is_item: bool
) -> Iterator[Statement]:
    """Yield the statements of a stretch, their turn and place unset."""
    start, end = stretch
    listed_until = start if not is_item else end
    said, is_awaited = "", False  # the sentence before, and whether it asks to keep this one
    text = transcript[start:end]
    for first, last in [_item(text)] if is_item else _pieces(text, kind):
        span = start + first, start + last
        parts = split_at_request(transcript, *span, is_own=is_own) if kind == "prose" else [span]
        for a, b in parts:
            before, said = said, transcript[a:b]
            is_listed = b <= listed_until or (is_awaited and tells_detail(said))
            yield Statement(said, a, b, 0, 0, kind, is_listed=is_listed)
            is_awaited = is_own and asks_for_detail(said, before)
            if is_own and not is_item and _goes_for_line(said):
                listed_until = _line_end(transcript, b, end)


def _parted(start: int, end: int, spans: Sequence[Span]) -> Iterator[tuple[int, int, bool]]:
    """Yield the parts of a stretch, and whether each is in a span; spans are in order."""
    at = start
    place = max(bisect_right(spans, (start, start)) - 1, 0)
    while place < len(spans) and spans[place][0] < end:
        first, last = max(spans[place][0], at), min(spans[place][1], end)
        if at < first:
            yield at, first, False
        if first < last:
            yield first, last, True
            at = last
        place += 1
    if at < end:
        yield at, end, False


def _is_in(at: int, spans: Sequence[Span]) -> bool:
    return any(is_within for _, _, is_within in _parted(at, at + 1, spans))


def _pieces(text: str, kind: Kind) -> Iterator[tuple[int, int]]:
    """Yield the sentences of a stretch; those of what is no prose together, up to a length."""
    start = end = 0
    for first, last in _sentences(text):
        if end and (kind == "prose" or last - start > _MOST_TOGETHER):
            yield start, end
            start = end = 0
        start, end = (start if end else first), last
    if end:
        yield start, end


def _goes_for_line(text: str) -> bool:
    """Return whether a request is for all that is said in its line: "Store these facts: …"."""
    found = find_request(text)
    return found is not None and found.has_many


def _line_end(transcript: str, start: int, end: int) -> int:
    found = transcript.find("\n", start, end)
    return end if found < 0 else found


def _item(text: str) -> tuple[int, int]:
    """Return where an item of a list begins and ends, without its bullet."""
    bare = text.lstrip()
    bullet = BULLET.match(bare)
    return len(text) - len(bare) + (bullet.end() if bullet else 0), len(text.rstrip())


def _stretches(
    transcript: str, turn: Turn, blocks: dict[int, Block | None]
) -> Iterator[tuple[Kind, int, int, bool]]:
    """Yield the stretches of a turn, and whether each is an item that a request announces."""
    others = _others_text(transcript, turn, blocks)
    line_start = transcript.rfind("\n", 0, turn.start) + 1

    def is_own(at: int) -> bool:
        block = blocks.get(line_start if at == turn.start else at)
        is_others = _is_in(at, others)
        return block is None and not is_others and _QUOTED.match(transcript, at) is None

    is_users = turn.is_users
    items = find_items(transcript, turn.start, turn.end, is_own) if is_users else []
    items = items[::-1]
    at = turn.start
    for kind, start, end in _handed_over(transcript, turn, blocks, others):
        at = max(at, start)
        while items and items[-1][0] < end:
            first, last = items.pop()
            if at < first:
                yield kind, at, first, False
            yield "prose", first, last, True
            at = last
        if at < end:
            yield kind, at, end, False
            at = end


def _others_text(
    transcript: str, turn: Turn, blocks: dict[int, Block | None]
) -> list[tuple[int, int]]:
    prose = [(a, b) for kind, a, b in _blocks(transcript, turn, blocks) if kind == "prose"]
    return find_pasted(transcript, prose, turn.end) if turn.role != "assistant" else []


def _handed_over(
    transcript: str,
    turn: Turn,
    blocks: dict[int, Block | None],
    others: Sequence[tuple[int, int]],
) -> Iterator[tuple[Kind, int, int]]:
    """Yield the stretches of a turn; prose in the spans of others, in order, is quoted."""
    for kind, start, end in _blocks(transcript, turn, blocks):
        for first, last, is_others in _parted(start, end, others):
            yield "quoted" if is_others and kind == "prose" else kind, first, last


def _blocks(
    transcript: str, turn: Turn, blocks: dict[int, Block | None]
) -> Iterator[tuple[Kind, int, int]]:
    """Yield the stretches of a turn by kind; lines of one kind stay together."""
    kind: Kind = "prose"
    begin = at = turn.start
    line_start = transcript.rfind("\n", 0, at) + 1
    for line in transcript[turn.start : turn.end].splitlines(keepends=True):
        is_first = at == turn.start
        block = blocks.get(line_start if is_first else at)
        found = block or _kind_of(line, is_first=is_first)
        if found != kind and at > begin:
            yield kind, begin, at
            begin = at
        kind = found
        at += len(line)
    if at > begin:
        yield kind, begin, at


def _kind_of(line: str, *, is_first: bool) -> Kind:
    if _QUOTED.match(line):
        return "quoted"
    words = line.split()
    if not words or is_first:
        return "prose"
    written = sum(map(len, words))
    letters = sum(map(len, _LETTERS.findall(line)))
    is_dense = letters < _LETTERS_IN_PROSE * written
    if _INDENTED.match(line) or (is_dense and len(words) > 2 and not _is_told(line)):
        return "code"
    return "prose"


def _is_told(line: str) -> bool:
    """Return whether a line of many signs is written by a person all the same."""
    plain = line.strip()
    is_head = plain.endswith(":") and introduces(plain[:-1], ":", "", is_alone=True) != ""
    return is_head or find_request(line) is not None


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
        bullet = BULLET.match(bare)
        first = start + len(piece) - len(bare) + (bullet.end() if bullet else 0)
        last = start + len(piece.rstrip())
        if last > first:
            yield first, last
