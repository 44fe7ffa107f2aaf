"""Tell memories that only point at a note, which claims nothing, from those that say something.

"Emergency contacts: see [[contacts]]" stays true whatever the note says. What remains of a text
without the clauses that a link is a part of must say something: links in brackets, and behind a
comma with a few words ("see", "steps in"), belong to no clause.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from memories.core.reading import read_cached
from memories.core.tokeniser import stem, stems

PROMOTED: Final = "promoted"  # tag of a memory whose text moved into the note
_MARK: Final = "\x00"  # a link
_LINK: Final = re.compile(r"!?\[\[[^\[\]\n]{1,700}\]\]")
_IN_BRACKETS: Final = re.compile(r"[(\[][^()\[\]\x00]{0,40}\x00[^()\[\]]{0,80}[)\]]")
_AND_MORE: Final = re.compile(r"\x00(?:(?:,| and| or|, and| &)? ?\x00)+")
# Behind a comma or dash at the end of a sentence, with up to three words: ", steps in [[runbook]]".
_ASIDE: Final = re.compile(
    r"(?:,|;| [-\u2013\u2014])(?: [^\s,;:.\x00]{1,30}){0,3} \x00(?=[.!]*(?:\s|$))"
)
_BOUNDARY: Final = re.compile(r"[.;!?](?:\s|$)|\n|(?<=[\w\x00]):\s|\s[-\u2013\u2014]\s")
_CLAUSE: Final = re.compile(r",\s")
_ASKS: Final = re.compile(
    r"^(?:how|where|who|whom|whose|what|which|when|why|whether)\b", re.IGNORECASE
)
_LEADS: Final = re.compile(
    r"^(?:for|on|about|regarding|concerning|before|after|when|if|to|see)\b", re.IGNORECASE
)
_WORD: Final = re.compile(r"\w+")
# Words about notes, which say nothing of what a note says.
_OF_NOTES: Final = stems(
    "note notes page pages table tables list lists detail details information info section document"
    " documents documentation doc docs file files link links wiki runbook overview summary answer"
    " answers move moved moves see look read find found write written describe described explain"
    " explained cover covered collect collected keep kept live lives lie lies there here more all"
    " everything full complete current up"
)
_NAMED: Final = frozenset(["name", "label", "quantity", "date", "version"])
_LEAST: Final = 2  # words of content in a statement; a name or value counts for two


def is_pointer(text: str, tags: Iterable[str] = ()) -> bool:
    """Return whether a memory says little more than which note to read."""
    if PROMOTED in tags:
        return True
    marked = _AND_MORE.sub(_MARK, _LINK.sub(_MARK, text.replace(_MARK, " ")))
    if _MARK not in marked:
        return False
    bare = _ASIDE.sub("", _IN_BRACKETS.sub("", marked))
    if _MARK not in bare:
        return not _content(bare)
    return not any(_says_something(part) for part in _BOUNDARY.split(bare))


def _says_something(part: str) -> bool:
    """Return whether a part of a text that a link belongs to is a statement by itself."""
    part = part.strip(" ()[]")
    if _ASKS.match(part):
        return False
    if _MARK in part:
        beside = [clause for clause in _CLAUSE.split(part) if _MARK not in clause]
        rest = part.replace(_MARK, "")
        return any(map(_says_something, beside)) or any(c.isdigit() for c in rest)
    if _LEADS.match(part) or _content(part) < _LEAST:
        return False
    claims = read_cached(part).claims
    opening = _WORD.match(part)
    is_title = opening is not None and opening[0].endswith("s")  # a plural: "Answers about travel"
    return any(
        any(term.kind in ("quantity", "date", "version") for term in claim.terms)
        or (claim.verb and not (is_title and stem(opening[0].lower()) == claim.verb))
        for claim in claims
        if opening is not None
    )


def _content(part: str) -> int:
    """Count the words of a text that are not about notes; names and values count for two."""
    terms = [term for claim in read_cached(part).claims for term in claim.terms]
    return sum(
        2 if term.kind in _NAMED else 1
        for term in terms
        if term.weight == 1 and term.key not in _OF_NOTES and stem(term.text) not in _OF_NOTES
    )
