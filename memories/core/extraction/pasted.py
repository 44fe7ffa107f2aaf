"""Find the text of others in a turn by the words that introduce it.

"Here is the mail I got: …", "Summarise this page: …", "Output of the script:", the header of a
mail, marks of a beginning and an end. Such words are the speaker's own, and what follows is not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from memories.core.extraction.cues import DAYS
from memories.core.extraction.request_grammar import find_request

Span = tuple[int, int]

# What follows is the text of others: "Summarise this page: …".
_HANDS_OVER = re.compile(
    r"\b(?:summari[sz]e|sum up|translate|proofread|rephrase|paraphrase|rewrite|read|shorten"
    r"|extract|analy[sz]e)\b[^:.!?\n]{0,80}"
    r"(?::(?=\s)|\b(?:this|these|below)[^:.!?\n]{0,40}[.!?]?[ \t]*\n)",
    re.IGNORECASE,
)
_HEAD_CHARS: Final = 120
_COLON: Final = re.compile(r":(?=\s)")  # not that of a time
_TEXT: Final = (
    r"(?:e-?mail|mail|message|letter|text|transcript|log|output|article|page|web ?page|website"
    r"|document|doc|pdf|file|ticket|issue|comment|review|readme|post|thread|excerpt|newsletter|memo"
    r"|snippet|quote|quotation|passage|paragraph|chapter|description|chat|reply|response|notice"
    r"|announcement|report|notification|statement|complaint|prompt|feedback)"
)
_SENT: Final = (
    r"(?:says|said|wrote|writes|replied|replies|returned|returns|answered|responded|posted|reads"
    r"|states|stated|printed|prints|shows|showed|logged|asked|(?:sent|told|forwarded|wrote)"
    r" (?:me|us|you)|sent)"
)
_BY_OTHERS: Final = re.compile(
    # "Here is the mail I got", "I received this message"
    r"\A(?:(?:please )?(?:here(?:['\u2019]s| is| are)|th(?:is|ese) (?:is|are)|below is|see|look at"
    r"|(?:i|we)(?:['\u2019]ve| have)?(?: just)? (?:got|received|found|pasted|copied)|got|received)"
    rf"\b(?![^:]{{0,99}}\b(?:my|our|i wrote|we wrote) ?(?:\w{{1,20}} )?{_TEXT}\b)"
    rf".{{0,120}}\b{_TEXT}s?\b"
    # "Message from my landlord", "The output of the script"
    rf"|(?:(?:the|an?|this|another|their|his|her|its) )?(?:\w{{1,20}} )?{_TEXT}"
    r" (?:(?:from|by|sent by) (?!(?:me|us|myself)\b)|(?:that )?(?:i|we) (?:got|received|found)\b)"
    r"|(?:(?:the|this|another) )?(?:\w{1,20} )?"
    r"(?:output|log|transcript|text|excerpt|copy|body|contents?) of "
    # "I copied the following from their site", "Copied from the forum", "Forwarded message"
    r"|(?:i|we)(?:['\u2019]ve| have)?(?: just)? (?:pasted|copied|found) (?:this|it|the following)\b"
    r"|(?:pasted|copied|copying|quote|quoted|quoting|forwarded|forwarding|excerpt|taken|straight)"
    rf" (?:(?:from|by) |{_TEXT}\b)"
    # "Log output", "Ticket #881 text"
    r"|(?:\S{1,20} ){0,2}(?:log|console|terminal|script|tool|command|error|program) (?:output|log)$"
    rf"|(?:\S{{1,20}} )?{_TEXT}(?: #?\w{{1,20}})? (?:text|body|contents?)$)",
    re.IGNORECASE,
)
_SAYING: Final = re.compile(rf"\A.{{0,120}}\b{_SENT}(?: [\w:.]{{1,20}}){{0,3}}$", re.IGNORECASE)
_OWN_WORDS: Final = re.compile(
    r"\b(?:i|we) (?:(?:just|have|had) )?\w{1,20}(?: \w{1,20})?$", re.IGNORECASE
)
# A source on its own line, as Slack or "the handbook"; not "From Monday:" or "From the start:".
_FROM: Final = re.compile(
    r"[Ff]rom (?:(?:the|our|my|their) (?=[A-Z])|(?:the|their) (?!start|beginning|first|next|very))?"
    r"(?P<name>(?<=the )\S{1,30}|(?<=their )\S{1,30}|[A-Z]\S{0,30})(?: (?!on$)\S{1,30}){0,3}$"
)
_BELOW: Final = re.compile(
    r"\A.{0,120}\b(?:(?:pasted|copied|attached|included|quoted|forwarded)\b.{0,120}"
    rf"|(?:see|look at|check|consider|review|read)\b.{{0,120}}\b{_TEXT}s? )\bbelow\W{{0,40}}$",
    re.IGNORECASE,
)
# The same in a sentence of its own line: "The following is from the patient's letter."
_ANNOUNCED: Final = re.compile(
    r"\A(?:the following (?:is|are|was|were)\b.{0,120}"
    r"|(?:(?:ok|okay|so|please),? ){0,2}(?:here(?:['\u2019]s| is| are)|below (?:is|are))"
    rf"\b(?![^.]{{0,99}}\b(?:my|our|i wrote|we wrote) ?(?:\w{{1,20}} )?{_TEXT}\b)"
    rf".{{0,120}}\b{_TEXT}s?\b.{{0,60}}"
    rf"|.{{0,100}}\b{_SENT} the following)\.$",
    re.IGNORECASE,
)
_ACTS_ON: Final = re.compile(
    r"\A.{0,120}\b(?:reply|respond|react|answer|comment|explain|check|review|verify|validate|fix"
    r"|debug|edit|improve|correct|reword|classify|format|convert|parse|look|think|make)\b.{0,120}"
    rf"\b(?:this|these)(?: (?:\w{{1,20}} )?{_TEXT}s?)?(?:,? please)?$",
    re.IGNORECASE,
)
_FORWARDED: Final = re.compile(r"\W{2,40}(?:forwarded|original) (?:message|e-?mail)\W{2,40}$", re.I)
_HEADER: Final = re.compile(r"(?:From|To|Cc|Subject|Date|Sent|Reply-To):[ \t]", re.IGNORECASE)
# "--- START OF DOCUMENT ---", "BEGIN PASTE"; not "Start the build".
_MARK: Final = re.compile(
    r"(?P<rule>[-=_~<\[]{2,40} ?)?(?:(?P<begin>begin|start)|(?P<end>end))(?: of)?"
    r"(?: \w{1,20}){1,3} ?[-=_~>\]]{0,40}$",
    re.IGNORECASE,
)
# What is quoted in passing, as "From the manual (p. 3): …" or "page 12 of the handbook: …".
_WORK: Final = (
    r"(?:manual|handbook|guide|guidelines?|wiki|faq|docs|documentation|contract|lease|policy|terms"
    r"|rules|label|sign|brochure|leaflet|book|recipe|instructions|site|spec|standard)"
)
_FROM_WORK: Final = re.compile(
    r"(?:(?:\w{1,20} )?(?:from|per|quoting|according to|as per) "
    r"|(?:page|section|chapter|\u00a7) ?[\w.]{1,8} of )"
    rf"(?!(?:our|my)\b)(?:[\w'\u2019-]{{1,20}} ){{0,3}}(?:{_TEXT}|{_WORK})"
    r"(?: of (?:the )?[\w'\u2019-]{1,20})?(?:,? \(?[\w. \u00a7]{1,20}\)?)?$",
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
_OPENING: Final = {'"': '"', "\u201c": "\u201d", "\u00ab": "\u00bb", "\u201e": "\u201c"}
_CLOSES: Final = frozenset(_OPENING.values())


def find_pasted(
    transcript: str, prose: Sequence[Span], end: int, *, is_persons: bool
) -> list[Span]:
    """Return where others' text stands in one turn, in order.

    Parameters
    ----------
    transcript : str
    prose : sequence of (int, int)
        The stretches of the turn that are neither code nor marked as quoted.
    end : int
        Where the turn ends.
    is_persons : bool
        Whether a person speaks; of an assistant only text that it was handed is read so.
    """
    handed = (_HANDS_OVER.search(transcript, *span) for span in prose)
    handed_at = next((found.end() for found in handed if found is not None), end)
    spans = _introduced_spans(transcript, prose, handed_at) if is_persons else []
    return [*spans, (handed_at, end)]


def introduces_text(line: str) -> bool:
    """Return whether a line introduces the text of others: "Joe <joe@example.org> wrote:"."""
    return _head_end(line.strip()) is not None


def _introduced_spans(transcript: str, prose: Sequence[Span], end: int) -> list[Span]:
    spans: list[Span] = []
    at = 0
    for start, stop in prose:
        lines = list(_lines(transcript, start, min(stop, end)))
        for place, (first, _) in enumerate(lines):
            found = _introduced(transcript, lines, place, end) if first >= at else None
            if found is not None:
                spans.append(found)
                at = found[1]
    return spans


def _lines(transcript: str, start: int, stop: int) -> Iterator[Span]:
    at = start
    for line in transcript[start:stop].splitlines(keepends=True):
        if line.strip():
            yield at, at + len(line.rstrip())
        at += len(line)


def _introduced(transcript: str, lines: Sequence[Span], place: int, end: int) -> Span | None:
    """Return where the text stands that a line introduces, None where it introduces none."""
    first, last = lines[place]
    line = transcript[first:last]
    if _mark(line) == "begin":
        ends = (a for a, b in islice(lines, place + 1, None) if _mark(transcript[a:b]) == "end")
        return last, next(ends, end)
    if _is_header(transcript, lines[place : place + 2]) or _FORWARDED.match(line):
        return last, end
    at = _head_end(line)
    if at is None:
        closed = _closing(transcript, first, last)
        is_quoted = place > 0 and line[0] in _OPENING and transcript[closed - 1] in _CLOSES
        is_whole = is_quoted and closed == last
        return (first, last) if is_whole else _quoted(transcript, first, last, end)
    behind = line[at:].lstrip()
    if behind:
        start = last - len(behind)
        return start, _closing(transcript, start, last)
    if place + 1 >= len(lines):
        return None  # what follows is quoted or code already
    start = lines[place + 1][0]
    return start, _closing(transcript, start, end)


def _quoted(transcript: str, first: int, last: int, end: int) -> Span | None:
    """Return where a line quotes several sentences, or begins a quotation that nothing closes."""
    found = _QUOTES.search(transcript, first, last)
    if found is None or _OWN_WORDS.search(transcript[first : found.start()] + found[0].split()[0]):
        return None
    start = found.start("mark")
    if found["mark"] not in _OPENING:
        closed = _UNQUOTE.search(transcript, start, last)
        return start, closed.end() if closed else last
    closed_at = _closing(transcript, start, end)
    if transcript[closed_at - 1] not in _CLOSES or closed_at - 1 == start:
        return start, last  # no mark closes it
    is_long = _SEVERAL.search(transcript, start, closed_at) is not None
    return (start, closed_at) if is_long or closed_at > last else None


def _is_header(transcript: str, lines: Sequence[Span]) -> bool:
    names = [found[0].lower() for a, b in lines if (found := _HEADER.match(transcript, a, b))]
    return len(names) > 1 and names[0] != names[1]


def _head_end(line: str) -> int | None:
    """Return where the words of a line end that introduce the text of others."""
    is_alone = line.endswith(":") and len(line) <= _HEAD_CHARS
    found = _COLON.search(line, 0, _HEAD_CHARS)
    colon = len(line) - 1 if is_alone else found.start() if found else -1
    if colon < 0:
        is_short = len(line) <= _HEAD_CHARS
        is_told = is_short and (_BELOW.match(line) or _ANNOUNCED.match(line))
        return len(line) if is_told and find_request(line) is None else None
    head = line[:colon].strip(" \t-*#>")
    if not head or find_request(head) is not None:
        return None
    is_said = _SAYING.match(head) is not None and _OWN_WORDS.search(head) is None
    introduces = is_said or _BY_OTHERS.match(head) or _BELOW.match(head) or _FROM_WORK.match(head)
    if is_alone and not introduces:
        name = _FROM.match(head)
        is_source = name is not None and name["name"].lower() not in DAYS
        introduces = is_source or _ACTS_ON.match(head)
    return colon + 1 if introduces else None


def _mark(line: str) -> str:
    """Return whether a line marks the "begin" or the "end" of a text, "" where it does neither."""
    found = _MARK.match(line)
    if found is None or not (found["rule"] or line.isupper()):
        return ""
    return "begin" if found["begin"] else "end"


def _closing(transcript: str, start: int, end: int) -> int:
    """Return where a text ends; one in quotation marks does behind the closing one."""
    closes = _OPENING.get(transcript[start : start + 1])
    found = transcript.find(closes, start + 1, end) if closes else -1
    return found + 1 if found >= 0 else end
