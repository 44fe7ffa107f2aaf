"""Find text that may not be what its user says: what something introduces or asks about ("is this
email legit?"), a mail, a chat or a document, fiction, a letter to whatever agent reads it.

Nobody can tell such a text from what the user says themselves, so that a person decides.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from memories.core.extraction.introductions import introduces, opens_with_link
from memories.core.extraction.pasted import OPENING, Span, closing, lines_in
from memories.core.extraction.pointing_back import points_back
from memories.core.extraction.shown_titles import names_own

_LINE_CHARS: Final = 160
_SIGNS: Final = re.compile(r"[:?!](?=\s|$)|\.(?=\s*$|\s+[^\s\d])")  # not that of "p. 3"
_MOST_CLAUSES: Final = 12  # of a line
# "Subject: …" at the beginning of a paragraph; "[10:42] bob: …", "[from slack] bob: …".
_HEADER: Final = re.compile(r"[ \t]{0,3}(?:subject|re|fwd?|from|reply-to):[ \t]", re.IGNORECASE)
_MESSAGE: Final = re.compile(
    r"[ \t]{0,3}\[[^\]\n]{1,40}\][ \t]{0,2}[\w@#.-]{1,30}(?: [\w.-]{1,20}){0,2}:[ \t]"
    r"|[ \t]{0,3}\[?\d{4}-\d\d-\d\d[ T]\d\d:\d\d"
)
# "bob (Acme) 10:42 AM" on a line of its own; not "Lunch at 12:30".
_AUTHOR: Final = re.compile(
    r"[ \t]{0,3}[^\s:][^:\n]{0,40}"
    r"(?<!\bat)(?<!\bby)(?<!\bto)(?<!till)(?<!until)(?<!from)(?<!before)(?<!after)"
    r"[ \t,\u2014-]{1,3}\(?\d{1,2}[:.]\d\d(?:[ \t]?[ap]\.?m\.?)?\)?[ \t]*$",
    re.IGNORECASE,
)
_HEADING: Final = re.compile(r"[ \t]{0,3}#{1,6}[ \t](?P<title>[^\n]{1,120})$")
# What follows is made up, or the words of a text that is to be written.
_MAKES_UP: Final = re.compile(
    r"(?:(?:hi|hello|hey|ok|okay|so|and|please|now|let['\u2019]s)[,!]? ){0,3}"
    r"(?:(?:pretend|imagine|suppose|assume|role-?play|act as)\b"
    r"|(?:write|draft|compose|for example)\b"
    r"(?! (?:this|that|it|the following)? ?down\b)[^.!?\n]{0,60}:"
    r"|(?:write|draft|compose) (?:me )?(?:an? )?(?:[\w-]{1,20} ){0,3}"
    r"(?:bio|biography|story|monologue|dialogue|persona|character|profile|letter|e-?mail|poem)\b"
    r"|use (?:this|these|the following|some) (?:[\w-]{1,20} ){0,2}data\b"
    r"|(?:in|for) (?:my|the|our) (?:novel|story|play|game|script|screenplay|campaign)\b)",
    re.IGNORECASE,
)
# A turn that begins as a letter to no agent by name, with what letters have and talk does not.
_TO_AN_AGENT: Final = re.compile(
    r"(?:(?P<dear>dear|to)|hi|hello|hey|greetings|good (?:day|morning|afternoon|evening))[ \t]{1,3}"
    r"(?:(?:the|my|our|any|all|an?)[ \t]{1,3})?(?:[\w-]{1,20}[ \t]{1,3})?"
    r"(?:assistants?|agents?|ai|bot|chatbot|language model|llm)(?:[ \t]\w{1,20})?[ \t]{0,3}[,:!]",
    re.IGNORECASE,
)
_THE_FOLLOWING: Final = re.compile(r"[^.!?\n]{0,80}\bthe following\b[^.!?\n]{0,60}:", re.IGNORECASE)
_SIGNED: Final = re.compile(
    r"[ \t]{0,8}(?:(?:(?:kind|best|warm|kindest|warmest)[ \t])?(?:regards|wishes|greetings)"
    r"|(?:yours )?(?:sincerely|faithfully|truly)(?: yours)?)[ \t]*(?:[,.!]|$)",
    re.IGNORECASE,
)


def find_shown_text(transcript: str, start: int, end: int, prose: Sequence[Span]) -> list[Span]:
    """Return where text stands that may not be what a turn's speaker says, in order.

    Something introduces it, asks about it or says behind it whose it is; it has the form of a mail,
    a chat, a log or a document; it is made up; or the turn is a letter to an agent. Linear.

    Parameters
    ----------
    transcript : str
    start, end : int
        Where the turn begins and ends.
    prose : sequence of (int, int)
        The stretches of the turn, in order, that are neither code nor marked as quoted.
    """
    first = transcript[start:end].lstrip()
    at = end - len(first)
    if _is_letter(first) or _MAKES_UP.match(transcript, at, end) is not None:
        return [(at, end)]
    lines = [
        _Line(transcript, first, last, stop, end)
        for begin, stop in prose
        for first, last in lines_in(transcript, begin, stop)
    ]
    found: list[Span] = []
    covered = start
    for line in lines:
        span = _shown_by(line) if line.start >= covered else None
        if span is not None:
            found.append(span)
            covered = span[1]
    behind = _shown_above(lines)
    if not behind:
        return found
    return [(start, behind), *((max(a, behind), b) for a, b in found if b > behind)]


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of prose; `stop` is where the prose ends that it is in, `turn_end` where its turn."""

    transcript: str
    start: int
    end: int
    stop: int
    turn_end: int

    @property
    def text(self) -> str:
        return self.transcript[self.start : self.end]

    @property
    def rest(self) -> Span:
        """Return where the text below the line stands."""
        return self.end, self.turn_end

    def behind(self, at: int) -> Span:
        """Return where the next words behind a position of the line begin, and some of them end."""
        blanks = _BLANKS.match(self.transcript, at, self.stop)
        start = blanks.end() if blanks else at
        return start, min(self.stop, start + _NEXT_CHARS)


def _shown_by(line: _Line) -> Span | None:
    """Return where the text stands that a line shows, introduces or begins."""
    text = line.text
    has_more = line.behind(line.end)[0] < line.stop
    heading = _HEADING.match(text)
    if heading is not None:
        return line.rest if has_more and not names_own(heading["title"]) else None
    if _MESSAGE.match(text):
        return line.start, line.end
    if has_more and (_HEADER.match(text) or _AUTHOR.match(text)):
        return line.rest
    if text[0] in OPENING:
        return _quotation(line)
    at = 0
    for sign in (*islice(_SIGNS.finditer(text), _MOST_CLAUSES), None):
        end = sign.start() if sign else len(text)
        span = _introduced(line, at, end, sign[0] if sign else "")
        if span is not None:
            return span
        at = end + 1
    return None


def _quotation(line: _Line) -> Span | None:
    """Return where a quotation of some words stands that a line begins with."""
    most = min(line.start + _QUOTED_CHARS, line.turn_end)
    closed = closing(line.transcript, line.start, most)
    is_long = len(line.transcript[line.start : closed].split()) >= _QUOTED_WORDS
    return (line.start, closed) if is_long and closed < most else None


def _introduced(line: _Line, first: int, last: int, sign: str) -> Span | None:
    """Return where the text stands that a clause of a line introduces; None without one."""
    start, stop = line.behind(line.start + last + len(sign))
    text = line.transcript[start:stop]
    if not text or first >= last or opens_with_link(text):
        return None  # what follows is quoted or code already, or goes on
    reach = introduces(line.text[first:last], sign, text, is_alone=start > line.end)
    if not reach:
        return None
    if text[0] in OPENING:
        return start, closing(line.transcript, start, line.turn_end)
    return start, (line.end if reach == "line" else line.turn_end)


def _shown_above(lines: Sequence[_Line]) -> int:
    """Return where the text ends of which a line below it says whose it is, 0 for nowhere."""
    for place in range(len(lines) - 1, 0, -1):
        text = lines[place].text[:_LINE_CHARS]
        sign = _SIGNS.search(text)
        clause, mark = (text[: sign.start()], sign[0]) if sign else (text, "")
        if points_back(clause, mark, is_last=place >= len(lines) - _LAST_LINES):
            return lines[place].start
    return 0


_LAST_LINES: Final = 2
_QUOTED_WORDS: Final = 4
_QUOTED_CHARS: Final = 2_000
_NEXT_CHARS: Final = 200
_BLANKS: Final = re.compile(r"\s*")


def _is_letter(text: str) -> bool:
    """Return whether a turn greets an agent, whichever it is, and goes on or ends as letters do.

    "Dear agent, store the following: …", or "Hi assistant, …" with "Kind regards" below. Whoever
    talks to an agent greets, and thanks, but does not sign.
    """
    greeting = _TO_AN_AGENT.match(text)
    if greeting is None:
        return False
    if greeting["dear"] and _THE_FOLLOWING.match(text.replace("\n", " "), greeting.end()):
        return True
    return any(_SIGNED.match(line) for line in text.splitlines()[1:])
