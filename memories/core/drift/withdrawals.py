"""Read where a note says of itself, or of one of its sections, that it no longer holds.

Such words stand in a heading ("Old process (deprecated)"), in the lines with which a section begins
("**Deprecated:** see [[releases]]", "> [!warning] This page is out of date", "Status: superseded by
ADR 12"), or in the front matter ("status: deprecated"). Deeper in a text they are about other
things: "Deprecated endpoints answer for a year".
"""

from __future__ import annotations

import re
from typing import Final

from memories.core.front_matter import Properties, texts_of

_MAX_CHARS: Final = 300  # of a line; a longer one is no mark
_NO_LONGER: Final = (
    r"no longer (?:valid|current|used|in use|in force|maintained|supported|true|correct|relevant"
    r"|applicable|applies|apply|holds?)"
)
_ENDED: Final = (
    r"(?:deprecated|obsolete|outdated|out[- ]of[- ]date|superseded|withdrawn|discontinued"
    rf"|{_NO_LONGER}|not (?:valid|used|in use|current|maintained) any ?more)"
)
# What only ends the thing that a heading or a status names: "Cancelled" below "Offsite in May".
_ENDED_ALONE: Final = rf"(?:{_ENDED}|cancell?ed|abandoned|rejected|retired|replaced)"
# Behind such a word: nothing, a sign, a time, or what to read instead. Not "endpoints answer …".
_REST: Final = (
    r"(?=$|[.:;,!)\]]|[ \t]+[(\u2013\u2014-]"
    r"|[ \t]+(?:since|as of|by|in favou?r of|from|with|see|use|on \d|in \d|and)\b)"
)
_ALONE: Final = re.compile(rf"{_ENDED_ALONE}{_REST}", re.IGNORECASE)
_OF_PAGE: Final = re.compile(
    r"(?:note|attention|warning|caution|important)?[:! ]{0,3}"
    r"(?:this|the)[ \t](?:page|document|doc|note|section|guide|article|runbook|file|chapter|policy"
    r"|process|procedure|spec|specification|proposal|plan|adr|rfc|information|content|text)\b"
    r"(?:[ \t](?:below|here|above|on this page))?"
    r"(?:[ \t](?:is|are|was|were|has|have|had|been|now|all|completely|entirely|therefore)\b){0,4}"
    rf"[ \t]{_ENDED_ALONE}\b",
    re.IGNORECASE,
)
_STATUS_NAMES: Final = ("status", "state", "lifecycle")
_STATUS: Final = re.compile(
    rf"(?:{'|'.join(_STATUS_NAMES)})[ \t]*(?::{{1,2}}|=)[ \t]*{_ENDED_ALONE}{_REST}",
    re.IGNORECASE,
)
_IN_TITLE: Final = re.compile(
    rf"[(\[{{][ \t]*(?:now |old, )?{_ENDED_ALONE}\b[^()\[\]{{}}]{{0,80}}[)\]}}]"
    rf"|^{_ENDED}\b|[:\u2013\u2014-][ \t]*{_ENDED_ALONE}$",
    re.IGNORECASE,
)
_IN_TEXT: Final = re.compile(rf"\b{_ENDED_ALONE}\b", re.IGNORECASE)
_CALLOUT: Final = re.compile(r"\[![\w-]{1,30}\][+-]?[ \t]*")
_FIELD: Final = re.compile(r"[A-Za-z][\w ./-]{0,30}(?::{1,2}|\|)[ \t]*\S")
_STATUS_TITLES: Final = frozenset(["status", "state"])
_FLAGS: Final = (
    "deprecated", "obsolete", "outdated", "superseded", "superseded_by", "superseded-by",
    "replaced_by", "replaced-by",
)  # fmt: skip
_NOT_SET: Final = frozenset(["false", "no", "0", "none", "off"])


class WithdrawalReader:
    """Follows a note line by line, and knows what withdraws the part that it has come to.

    Lines are read while `is_beginning`: fields, callouts and withdrawals do not end the beginning
    of a section.
    """

    def __init__(self, of_note: str = ""):
        self._open = [(0, of_note)]  # each section that a line stands in: its level, what is said
        self.is_beginning = True
        self._is_status = False

    @property
    def words(self) -> str:
        """Return what withdraws the part that was read last, as written; "" if nothing does."""
        return next((words for _, words in self._open if words), "")

    def enter(self, level: int, title: str) -> None:
        """Begin a section."""
        while self._open[-1][0] >= level:
            self._open.pop()
        self._open.append((level, withdrawal_in_title(title)))
        self.is_beginning, self._is_status = True, title.lower() in _STATUS_TITLES

    def read(self, text: str) -> None:
        """Read a plain line of the beginning of the section."""
        found = withdrawal_in_line(text)
        if found:
            # Below the heading "Status" stands the status of what that heading is a part of.
            place = len(self._open) - (2 if self._is_status else 1)
            level, before = self._open[place]
            self._open[place] = (level, before or found)
        self.is_beginning = bool(found or _CALLOUT.match(text) or _FIELD.match(text))


def mentions_withdrawal(text: str) -> bool:
    """Return whether a memory says itself that something is deprecated, obsolete or the like."""
    return _IN_TEXT.search(text) is not None


def withdrawal_in_properties(properties: Properties) -> str:
    """Return the field of a note's front matter that says that it no longer holds, "" if none."""
    values = {name.lower(): value for name, value in properties.values.items()}
    for name in _STATUS_NAMES:
        for said in texts_of(values.get(name)):
            if _ALONE.match(said):
                return f"{name}: {said}"
    for name in _FLAGS:
        told = texts_of(values.get(name))
        if told and told[0].lower() not in _NOT_SET:
            return f"{name}: {told[0]}"
    tags = (*texts_of(values.get("tags"), is_spaced=True), *texts_of(values.get("tag")))
    return next((tag for tag in tags if tag.lstrip("#").lower() in _FLAGS), "")


def withdrawal_in_title(title: str) -> str:
    """Return a heading that says that its section no longer holds, "" for any other."""
    return title if _IN_TITLE.search(title[:_MAX_CHARS]) else ""


def withdrawal_in_line(text: str) -> str:
    """Return a line at the beginning of a section that says that it no longer holds, "" if not.

    `text` is plain: without emphasis and signs of quotations and items.
    """
    said = _CALLOUT.sub("", text, count=1).lstrip("#:! \t\u26a0\ufe0f\u274c\U0001f6ab\u2757")
    is_mark = any(pattern.match(said) for pattern in (_ALONE, _STATUS, _OF_PAGE))
    return said if said and len(said) <= _MAX_CHARS and is_mark else ""
