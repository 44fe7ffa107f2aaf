"""Read the words by which a speaker declines what they have just asked: "on second thought, no".

Such words take a request back, but say nothing by themselves, as the answer to a question does.
"""

from __future__ import annotations

import re
from typing import Final

from memories.core.extraction.private_patterns import MISTAKEN

_READ_CHARS: Final = 100  # of a statement, which has no other words
_DOUBT: Final = (
    r"on (?:second|further) thoughts?|on reflection|thinking (?:about|of) it(?: again)?"
    r"|come to think of it|(?:i|we)(?:['\u2019]ve| have)?(?: just)? changed (?:my|our) minds?"
    rf"|actually|wait|hm+|{MISTAKEN}"
)
_OPENERS: Final = (
    rf"(?:(?:{_DOUBT}|no|nope|oh|oops|ah|sorry|well|please|ok|okay|and|but)"
    r"[,;:.!\u2013\u2014-]{0,3} {1,2}){0,4}"
)
_THAT: Final = r"(?:that|it|this)(?: one)?"
_DECLINING = re.compile(
    rf"{_OPENERS}(?:(?:please )?(?:do not|don['\u2019]t)(?: do {_THAT}| bother(?: with {_THAT})?)?"
    rf"|let['\u2019]s not(?: do {_THAT})?|(?:better|rather|best) not(?: to)?|not after all"
    rf"|(?:there['\u2019]s |there is )?no need(?: for {_THAT}| to)?"
    rf"|(?P<dropped>(?:leave|drop|skip|delete|remove|discard|omit|ditch) {_THAT}(?: out)?"
    r"(?P<again> again)?)"
    rf"|(?P<doubtful>no|nope|not|{_DOUBT}))(?:,? (?:please|thanks|thank you|after all)){{0,2}}\W*",
    re.IGNORECASE,
)
_DOUBTS = re.compile(rf"\b(?:{_DOUBT})\b", re.IGNORECASE)
_HESITATES = re.compile(rf"\b(?:{_DOUBT}|no|nope|oh|oops|sorry)\b", re.IGNORECASE)
_CHANGED = re.compile(rf"\bchanged (?:my|our) mind|\b(?:{MISTAKEN})", re.IGNORECASE)
_LATER: Final = (
    r"(?: (?:too|also|as well|then|now|down|permanently|for (?:you|me|us|later|good|reference"
    r"|next time|(?:the )?future(?: \w{1,20})?)|(?:in|into|to) (?:my |your )?(?:memory|notes)))"
)
# "Shall I remember that?": who says no to it declines that it is kept. "Shall I save it to the
# README, too?" and "Shall I keep this branch?" are about something else.
_SAID: Final = r"(?:that|this|it|both|those|them|these(?: \w{1,20})?)"
_OFFER = re.compile(
    rf"\b(?:(?:remember|memori[sz]e)(?: \w{{1,20}}){{0,2}} {_SAID}\b[^.!?]{{0,40}}"
    r"|(?:save|store|keep|note|record|log)(?: (?!(?:or|for|to|from)\b)\w{1,20}){0,2}"
    rf" {_SAID}(?: in mind)?"
    rf"{_LATER}{{0,3}}"
    rf"|(?:add|put|save) {_SAID} (?:to|in|into) (?:(?:my|your|the) )?(?:memory|notes)) ?\?$",
    re.IGNORECASE,
)
_OFFER_CHARS: Final = 160


# "I'll remember that.", "Saved to memory.", "Noted."; not "I've saved the file."
_TELLS: Final = re.compile(
    r"\bi(?:['\u2019]ll| will| can)(?: \w{1,12})?"
    rf" (?:remember|memori[sz]e|note|save|store) {_SAID}\b"
    rf"|\bi(?:['\u2019]ve| have)(?: \w{{1,12}})? (?:remembered|noted|saved|stored) {_SAID}\b"
    rf"|\b(?:saved|stored|added|noted|recorded|put)(?: {_SAID})? (?:to|in|into)"
    r" (?:(?:my|your|the) )?(?:long-term )?(?:memory|memories|notes|profile|records)\b"
    r"|^(?:noted|remembered)\b",
    re.IGNORECASE,
)
_REFUSING: Final = re.compile(
    r"(?:(?:no|nope|nah|oh|actually|please|hmm?|sorry|wait|thanks|thank you)"
    r"[,.;:!\u2013\u2014-]{0,3} {1,2}){0,4}(?:no|nope|nah|thanks|thank you"
    r"|(?:do not|don['\u2019]t)(?: (?:do|remember|save|store|keep|note) (?:that|it|this))?"
    r"|(?:rather|better|please) not"
    r"|(?:delete|remove|forget|drop|undo|erase) (?:that|it|this)(?: again)?)"
    r"(?:,? (?:please|thanks|thank you|again)){0,2}\W{0,5}",
    re.IGNORECASE,
)
_NOT_SAYING_NO: Final = re.compile(r"(?:\W|thanks|thank you|oh|please)*", re.IGNORECASE)


def declines(text: str) -> bool:
    """Return whether a statement only declines something: "no, don't", "hmm, actually no"."""
    found = _DECLINING.fullmatch(text) if len(text) <= _READ_CHARS else None
    if found is None:
        return False
    if found["dropped"] is not None:  # "The flag is unused. Please remove it." is about the flag
        return (
            found["again"] is not None
            or _HESITATES.search(text, 0, found.start("dropped")) is not None
        )
    if found["doubtful"] is None:
        return True
    is_answer = found["doubtful"].lower() in {"no", "nope", "not"}
    return (_DOUBTS if is_answer else _CHANGED).search(text) is not None


def doubts(text: str) -> bool:
    """Return whether words that decline something do so on second thought."""
    return _DOUBTS.search(text[:_READ_CHARS]) is not None


def offers_to_store(text: str) -> bool:
    """Return whether a question offers to remember what was said before it."""
    return _OFFER.search(text[-_OFFER_CHARS:]) is not None


def tells_of_storing(text: str) -> bool:
    """Return whether an assistant's sentence says that it remembers what was said before it."""
    return _TELLS.search(text[-_OFFER_CHARS:]) is not None


def refuses(text: str) -> bool:
    """Return whether an answer only says no: "no thanks", "please don't", "delete that again"."""
    is_short = len(text) <= _READ_CHARS
    is_no = is_short and _REFUSING.fullmatch(text) is not None
    return is_no and _NOT_SAYING_NO.fullmatch(text) is None


def find_declining(transcript: str, start: int, end: int) -> tuple[int, int] | None:
    """Return where the end of a sentence declines what stands before it: "…, actually, don't."."""
    for boundary in _PAUSE.finditer(transcript, max(end - _READ_CHARS, start), end):
        words = transcript[boundary.end() : end]
        if doubts(words) and declines(words):
            return boundary.end(), end
    return None


# Behind a colon stands what is said or asked: "Remember that Bo said: actually, no.".
_PAUSE = re.compile(r"[,;(\u2013\u2014.!]+ ?| - ")
