"""Tell memories that only point at a note, which claims nothing, from those that say something.

"Emergency contacts: see [[contacts]]" stays true whatever the note says; "[[Mirjam]] owns payroll"
does not. A clause points when all it says of a link is where to look. Any other link is a word of
its sentence, or names the source behind it: "Backups are encrypted [[backup]]".
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from memories.core.reading import read_cached
from memories.core.tokeniser import stem, stems

PROMOTED: Final = "promoted"  # tag of a memory whose text moved into the note
_LINK: Final = re.compile(
    r"!?\[\[([^\[\]\n|#]{0,400})(?:#[^\[\]\n|]{0,300})?(?:\|([^\[\]\n]{0,300}))?\]\]"
)
# A link while it is read: one character for private use, which no text has afterwards.
_FIRST_MARK, _MARKS = 0xE000, 6400
_MARK: Final = re.compile(r"[\ue000-\uf8ff]")
_IN_BRACKETS: Final = re.compile(
    r"[(\[][^()\[\]\ue000-\uf8ff]{0,40}[\ue000-\uf8ff][^()\[\]]{0,80}[)\]]"
)
_AND_MORE: Final = re.compile(r"(?<=[\ue000-\uf8ff])(?:,? and|,? or|,| &)? ?[\ue000-\uf8ff]")
# Behind a comma or dash at the end of a sentence, with up to three words: ", steps in [[runbook]]".
_ASIDE: Final = re.compile(
    r"(?:,|;| [-\u2013\u2014])(?: [^\s,;:.\ue000-\uf8ff]{1,30}){0,3} [\ue000-\uf8ff]"
    r"(?=[.!]*(?:\s|$))"
)
_BOUNDARY: Final = re.compile(r"[.;!?](?:\s|$)|\n|(?<=[\w\ue000-\uf8ff]):\s|\s[-\u2013\u2014]\s")
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
    " everything full complete current up below above"
)
_BEING: Final = re.compile(r"\b(?:is|are|was|were)\b", re.IGNORECASE)
_NAMED: Final = frozenset(["name", "label", "quantity", "date", "version"])
_LEAST: Final = 2  # words of content in a statement; a name or value counts for two

# What leads to a link at the end of a clause. "see", and the other imperatives at its beginning.
_SEE: Final = re.compile(r"\bsee(?: also)?(?: the)?(?: \w{1,20})?$", re.IGNORECASE)
_LOOK: Final = re.compile(
    r"\b(?:look(?: \w{1,6})?(?: up)?(?: at| in| into)?|read|check|consult|refer to|go to"
    r"|find \w{1,6} in)(?: the)?(?: note| page)?$",
    re.IGNORECASE,
)
_POLITE: Final = re.compile(r"(?:please|just|always|first)?", re.IGNORECASE)
_WRITTEN: Final = re.compile(
    r"\b(?:described|documented|explained|written(?: up| down)?|listed|collected|covered|found|kept"
    r"|recorded|noted|outlined|defined|detailed|summari[sz]ed|maintained|set out|laid out|moved?"
    r"|moves)(?: \w{1,15})? (?:in|at|on|to|into|under|by)(?: the)?(?: note| page)?$",
    re.IGNORECASE,
)
_IS_IN: Final = re.compile(
    r"(?:\b(?:is|are|lives?|lies?|lying|stands?|sits?) )?\b(?:in|at|on|under)(?: the)?"
    r"(?: note| page)?$",
    re.IGNORECASE,
)
_AND: Final = re.compile(r"\b(?:and|but)(?: (?:is|are|was|were|has been|have been))?$", re.I)
_HEADS: Final = (
    r"(?:details?|info|information|more|steps|instructions|contacts|lists?|tables?|answers|"
    r"overview|summary|runbooks?|documentation|docs|notes?|background|everything|guide)"
)
_OF_DETAILS: Final = re.compile(
    rf"(?:(?:the|all|our|more|full|further|current) ){{0,2}}{_HEADS}\b", re.IGNORECASE
)
# What a clause says of a link at its beginning.
_HOLDS: Final = re.compile(
    r"(?:also )?(?:(?:describes?|documents?|explains?|lists?|summari[sz]es?|outlines?)\b"
    r"|(?:covers?|collects?|contains?|holds?|has|have|keeps?|is|shows?|says?|tells?)(?: \w{1,12})?"
    rf" (?:{_HEADS}|page|place|how|where|what|who|when|why|which)\b"
    r"|(?:has |was |is )?moved? (?:there|here)\b)",
    re.IGNORECASE,
)
_PURPOSE: Final = re.compile(r"(?:for|about|on|to|when|before|after|if|instead)\b", re.IGNORECASE)


def is_pointer(text: str, tags: Iterable[str] = ()) -> bool:
    """Return whether a memory says little more than which note to read."""
    if PROMOTED in tags:
        return True
    names: list[str] = []

    def mark(found: re.Match[str]) -> str:
        names.append((found[2] or found[1].rpartition("/")[2]).strip())
        return chr(_FIRST_MARK + (len(names) - 1) % _MARKS)

    marked = _AND_MORE.sub("", _LINK.sub(mark, _MARK.sub(" ", text)))
    if not names:
        return False
    bare = _ASIDE.sub("", _IN_BRACKETS.sub("", marked))
    if _MARK.search(bare) is None:
        return not _content(bare)
    return not any(_says_something(part, names) for part in _BOUNDARY.split(bare))


def _says_something(part: str, names: list[str]) -> bool:
    """Return whether a part of a text, with links or without, is a statement by itself."""
    part = part.strip(" ()[]")
    if _MARK.search(part) is None:
        return _ASKS.match(part) is None and _is_statement(part)
    clauses = [clause.strip() for clause in _CLAUSE.split(part)]
    if _ASKS.match(part) and len(clauses) == 1:
        return False
    others = [clause for clause in clauses if not _points(clause, names)]
    if len(others) < len(clauses):
        has_digits = any(map(str.isdigit, part))
        return has_digits or any(_says_something(clause, names) for clause in others)
    return bool(_content(_MARK.sub(" ", part)))


def _points(clause: str, names: list[str]) -> bool:
    """Return whether all that a clause says of its first link is where to look."""
    found = _MARK.search(clause)
    if found is None:
        return False
    before, after = clause[: found.start()].strip(), clause[found.end() :].strip()
    if not before:
        return not after or _HOLDS.match(after) is not None or not _content(after)
    is_aim = not after or _PURPOSE.match(after) is not None
    if is_aim and _tells_to_look(before):
        return True
    return not _content(after) and _tells_where(before, _name(found[0], names))


def _tells_where(before: str, name: str) -> bool:
    """Return whether a clause says of something that it stands in the note at its end."""
    if written := _WRITTEN.search(before):
        return _has_no_other_verb(before[: written.start()].strip())
    place = _IS_IN.search(before)
    if place is None:
        return False
    subject = before[: place.start()]
    is_named_so = bool(_stems_of(name) & _stems_of(subject))  # "Contacts are in [[contacts]]"
    return _OF_DETAILS.match(subject) is not None or (" " in place[0] and is_named_so)


def _stems_of(text: str) -> frozenset[str]:
    return stems(" ".join(_WORD.findall(text.lower())))


def _tells_to_look(before: str) -> bool:
    if _SEE.search(before):
        return True
    look = _LOOK.search(before)
    lead = before[: look.start()].strip() if look else ""
    return look is not None and bool(_POLITE.fullmatch(lead) or _LEADS.match(lead))


def _has_no_other_verb(before: str) -> bool:
    """Return whether nothing is asserted before "and is described in [[a]]"."""
    joined = _AND.search(before)
    return joined is None or not _is_statement(before[: joined.start()].strip())


def _name(mark: str, names: list[str]) -> str:
    return names[(ord(mark) - _FIRST_MARK) % len(names)]


def _is_statement(part: str) -> bool:
    """Return whether a part without links claims something."""
    if _LEADS.match(part) or _content(part) < _LEAST:
        return False
    opening = _WORD.match(part)
    if opening is None:
        return False
    if (being := _BEING.search(part)) and _content(part[being.end() :]):
        return True
    is_title = opening[0].endswith("s")  # a plural: "Answers about travel"
    return any(
        any(term.kind in ("quantity", "date", "version") for term in claim.terms)
        or (claim.verb and not (is_title and stem(opening[0].lower()) == claim.verb))
        for claim in read_cached(part).claims
    )


def _content(part: str) -> int:
    """Count the words of a text that are not about notes; names and values count for two."""
    terms = [term for claim in read_cached(part).claims for term in claim.terms]
    return sum(
        2 if term.kind in _NAMED else 1
        for term in terms
        if term.weight == 1 and term.key not in _OF_NOTES and stem(term.text) not in _OF_NOTES
    )
