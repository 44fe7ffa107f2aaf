"""Find the text of others in a turn by its marks: it is never what the turn's speaker says.

The header of a mail, marks of a beginning and an end, quotation marks around several sentences.
What words alone introduce is found by `introductions`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

Span = tuple[int, int]

_SENT: Final = (
    r"(?:says|said|wrote|writes|replied|replies|returned|returns|answered|responded|posted|reads"
    r"|states|stated|printed|prints|shows|showed|logged|asked|(?:sent|told|forwarded|wrote)"
    r" (?:me|us|you)|sent)"
)
_OWN_WORDS: Final = re.compile(
    r"\b(?:i|we) (?:(?:just|have|had) )?\w{1,20}(?: \w{1,20})?$", re.IGNORECASE
)
_FORWARDED: Final = re.compile(r"\W{2,40}(?:forwarded|original) (?:message|e-?mail)\W{2,40}$", re.I)
_HEADER: Final = re.compile(r"(?:From|To|Cc|Subject|Date|Sent|Reply-To):[ \t]", re.IGNORECASE)
# "--- START OF DOCUMENT ---", "BEGIN PASTE"; not "Start the build".
_MARK: Final = re.compile(
    r"(?P<rule>[-=_~<\[]{2,40} ?)?(?:(?P<begin>begin|start)|(?P<end>end))(?: of)?"
    r"(?: \w{1,20}){1,3} ?[-=_~>\]]{0,40}$",
    re.IGNORECASE,
)
# What somebody says in quotation marks, or behind "quote,".
_QUOTES: Final = re.compile(
    rf"\b{_SENT}(?: [\w.]{{1,20}}){{0,2}}[,:]?[ \t]{{1,3}}"
    r"(?P<mark>[\"\u201c\u201e\u00ab]|quote\b[,:]?(?=[ \t]))",
    re.IGNORECASE,
)
_UNQUOTE: Final = re.compile(r"\b(?:un|end )quote\b[.,]?", re.IGNORECASE)
_SEVERAL: Final = re.compile(r"[.!?] +\w")  # sentences
OPENING: Final = {'"': '"', "\u201c": "\u201d", "\u00ab": "\u00bb", "\u201e": "\u201c"}
_CLOSES: Final = frozenset(OPENING.values())


def find_pasted(transcript: str, prose: Sequence[Span], end: int) -> list[Span]:
    """Return where others' text stands in one turn of a person, in order.

    Parameters
    ----------
    transcript : str
    prose : sequence of (int, int)
        The stretches of the turn that are neither code nor marked as quoted.
    end : int
        Where the turn ends.
    """
    spans: list[Span] = []
    at = 0
    for start, stop in prose:
        lines = list(lines_in(transcript, start, min(stop, end)))
        for place, (first, _) in enumerate(lines):
            found = _marked(transcript, lines, place, end) if first >= at else None
            if found is not None:
                spans.append(found)
                at = found[1]
    return spans


def lines_in(transcript: str, start: int, stop: int) -> Iterator[Span]:
    at = start
    for line in transcript[start:stop].splitlines(keepends=True):
        if line.strip():
            yield at, at + len(line.rstrip())
        at += len(line)


def _marked(transcript: str, lines: Sequence[Span], place: int, end: int) -> Span | None:
    """Return where the text stands that a line begins or holds, None where it does neither."""
    first, last = lines[place]
    line = transcript[first:last]
    if _mark(line) == "begin":
        ends = (a for a, b in islice(lines, place + 1, None) if _mark(transcript[a:b]) == "end")
        return last, next(ends, end)
    if _is_header(transcript, lines[place : place + 2]) or _FORWARDED.match(line):
        return last, end
    closed = closing(transcript, first, last)
    is_quoted = place > 0 and line[0] in OPENING and transcript[closed - 1] in _CLOSES
    is_whole = is_quoted and closed == last
    return (first, last) if is_whole else _quoted(transcript, first, last, end)


def _quoted(transcript: str, first: int, last: int, end: int) -> Span | None:
    """Return where a line quotes several sentences, or begins a quotation that nothing closes."""
    found = _QUOTES.search(transcript, first, last)
    if found is None or _OWN_WORDS.search(transcript[first : found.start()] + found[0].split()[0]):
        return None
    start = found.start("mark")
    if found["mark"] not in OPENING:
        closed = _UNQUOTE.search(transcript, start, last)
        return start, closed.end() if closed else last
    closed_at = closing(transcript, start, end)
    if transcript[closed_at - 1] not in _CLOSES or closed_at - 1 == start:
        return start, last  # no mark closes it
    is_long = _SEVERAL.search(transcript, start, closed_at) is not None
    return (start, closed_at) if is_long or closed_at > last else None


def _is_header(transcript: str, lines: Sequence[Span]) -> bool:
    names = [found[0].lower() for a, b in lines if (found := _HEADER.match(transcript, a, b))]
    return len(names) > 1 and names[0] != names[1]


def _mark(line: str) -> str:
    """Return whether a line marks the "begin" or the "end" of a text, "" where it does neither."""
    found = _MARK.match(line)
    if found is None or not (found["rule"] or line.isupper()):
        return ""
    return "begin" if found["begin"] else "end"


def closing(transcript: str, start: int, end: int) -> int:
    """Return where a text ends; one in quotation marks does behind the closing one."""
    closes = OPENING.get(transcript[start : start + 1])
    found = transcript.find(closes, start + 1, end) if closes else -1
    return found + 1 if found >= 0 else end


def unquoted(transcript: str, start: int, end: int) -> Span:
    """Return where a text stands without the quotation marks around it."""
    opened = transcript[start : start + 1]
    if OPENING.get(opened) != transcript[end - 1 : end] or end - start < 2:
        return start, end
    return start + 1, end - 1
