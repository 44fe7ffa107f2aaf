"""Split turns into statements, each a verbatim piece of the transcript."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final, Literal

from memories.core.extraction.blocks import Block
from memories.core.extraction.turns import Turn, read_lines
from memories.core.tokeniser import sentence_spans

Kind = Literal["prose", "code", "quoted", "private"]

# "Don't store this: …" and what says the same, at the beginning of a clause.
_PRIVATE = re.compile(
    r"(?:^|[,;:.(\u2013\u2014-] ?)(?:(?:please|and|but|so|ok|okay|also),? ){0,3}(?:"
    r"(?:do not|don['\u2019]t|never|no need to)(?: please| ever)? (?:store|save|record|remember|"
    r"memori[sz]e|note|write|keep|log|put)(?: down)? (?:any of )?(?:the following"
    r"|what (?:i|we)|(?:this|that|it|these)"
    r"(?=(?:$| ?[,.:;!?)\u2013\u2014-]| (?:please|but|because|as|or|and|in|to|for|down)\b)))\b"
    r"(?! (?:in|on|to|at|under|as|for) (?!(?:your |the |my )?(?:memory|notes|record)))"
    r"|(?:do not|don['\u2019]t) (?:store|record|remember|memori[sz]e) my\b"
    # "Never store that Elke is ill", "Do not save: …"; not "never store that file in the cache".
    r"|(?:(?:do not|don['\u2019]t|never)(?: please| ever)? (?:store|save|record|remember|"
    r"memori[sz]e|note|write|keep|log)(?: down)?|forget)(?: ?:"
    r"|,? that (?=(?:[\w'\u2019-]{1,30} ){1,5}(?:am|is|are|was|were|has|have|had|will|would|can|"
    r"could|should|must|may|do|does|did|\w{2,15}(?:[^\Wsu]s|ed))\b))"
    r"|i (?:do not|don['\u2019]t) want (?:this|that|it) (?:to be )?(?:stored|saved|recorded|kept|"
    r"remembered|written)"
    r"|(?:this|that|it|the following)(?: is|['\u2019]s| must| should| may)? not (?:to )?(?:be )?"
    r"(?:stored|saved|recorded|remembered|for the record|for your (?:memory|notes))"
    r"|(?:(?:this|that|it)(?: is|['\u2019]s) )?(?:strictly )?off the record\b"
    r"|(?:keep|take) (?:this|that|it) off the record\b)",
    re.IGNORECASE,
)
_BARE_WORDS: Final = 3  # beside the request in a statement that says nothing else
# "Actually scratch that, …", "never mind, forget it": the statement before is taken back.
_TAKING_BACK = (
    r"(?:scratch|strike|forget|disregard|ignore|cancel|undo) (?:that|it|what i (?:just )?said)"
    r"|(?:i )?take (?:that|it) back"
)
RETRACTING = re.compile(
    r"(?:(?:actually|no|nope|oh|oops|sorry|wait|well|hm+|please|ok|okay|and|but|never ?mind)"
    rf"[,;.\u2013\u2014-]? {{1,2}}){{0,4}}(?:{_TAKING_BACK})(?: please| again)?"
    r"(?: ?[,.;:!\u2013\u2014-]{1,3}| but(?= )|$)",
    re.IGNORECASE,
)
_BUT = re.compile(
    r"[,;]? but (?=(?:please |do |also ){0,2}(?:remember|note|keep|write|store|save))", re.I
)
# What follows is the text of others: "Summarise this page: …".
_HANDS_OVER = re.compile(
    r"\b(?:summari[sz]e|sum up|translate|proofread|rephrase|paraphrase|rewrite|read|shorten"
    r"|extract|analy[sz]e)\b[^:.!?\n]{0,80}"
    r"(?::(?=\s)|\b(?:this|these|below)[^:.!?\n]{0,40}[.!?]?[ \t]*\n)",
    re.IGNORECASE,
)
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
    stands in a block of code or log lines, in text quoted from elsewhere, or is not to be stored.
    `corrects` is the text that its speaker took back for it, "" without one.
    """

    text: str
    start: int
    end: int
    turn: int
    place: int
    kind: Kind
    corrects: str = ""


def read_statements(transcript: str, turns: tuple[Turn, ...]) -> tuple[Statement, ...]:
    """Return the sentences of all turns, in order."""
    blocks = {line.start: line.block for line in read_lines(transcript)}
    return tuple(
        statement
        for position, turn in enumerate(turns)
        for statement in _marked_private(list(_of_turn(transcript, position, turn, blocks)))
    )


def asks_not_to_store(text: str) -> bool:
    """Return whether a statement asks not to store what it says or what stands beside it."""
    return _PRIVATE.search(text) is not None


def _marked_private(found: list[Statement]) -> list[Statement]:
    """Mark what is not to be stored.

    Where a statement only asks so, that is the one before it, at the beginning of a turn the next.
    """
    marked = list(found)
    for n, statement in enumerate(found):
        if statement.kind != "prose" or not asks_not_to_store(statement.text):
            continue
        marked[n] = replace(statement, kind="private")
        if len(_PRIVATE.sub(" ", statement.text).split()) > _BARE_WORDS:
            continue
        meant = n - 1 if n else n + 1
        if (
            meant < len(found)
            and found[meant].kind == "prose"
            and not _ASKS.match(found[meant].text)
        ):
            marked[meant] = replace(found[meant], kind="private")
    return marked


_ASKS = re.compile(
    r"(?:(?:please|and|but|do|also),? ){0,3}(?:remember|note|keep|store|save)\b", re.I
)


def _of_turn(
    transcript: str, position: int, turn: Turn, blocks: dict[int, Block | None]
) -> Iterator[Statement]:
    place = 0
    for kind, start, end in _handed_over(transcript, turn, blocks):
        for first, last in _sentences(transcript[start:end]):
            for a, b in _split_at_request(transcript, start + first, start + last):
                yield Statement(transcript[a:b], a, b, position, place, kind)
                place += 1


def _split_at_request(transcript: str, start: int, end: int) -> list[tuple[int, int]]:
    """Split "Don't store this, but remember that …" and "Scratch that, it has …" in two."""
    taken_back = RETRACTING.match(transcript, start, end)
    if taken_back is not None and (rest := transcript[taken_back.end() : end].strip()):
        return [(start, taken_back.end()), (end - len(rest), end)]
    found = _BUT.search(transcript, start, end)
    if found is None or not asks_not_to_store(transcript[start : found.start()]):
        return [(start, end)]
    return [(start, found.start()), (found.end(), end)]


def _handed_over(
    transcript: str, turn: Turn, blocks: dict[int, Block | None]
) -> Iterator[tuple[Kind, int, int]]:
    """Yield the stretches of a turn; what stands behind "Summarise this:" is quoted."""
    at = len(transcript)
    for kind, start, end in _blocks(transcript, turn, blocks):
        if kind == "prose" and end <= at and (found := _HANDS_OVER.search(transcript, start, end)):
            at = found.end()
        if kind == "prose" and end > at:
            if start < at:
                yield kind, start, at
            yield "quoted", max(start, at), end
        else:
            yield kind, start, end


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
