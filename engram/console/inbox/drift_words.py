"""Say of drift how sure it is, and offer the memory's text with what its note says now."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from conflicts.core.contrast import contrast_of
from memories.core.drift.passages import without_links
from memories.core.drift.substitution import edited_place

MOST_WORDS: Final = 8  # of a phrase that is put in the place of another
_SURE: Final = ((0.9, "very likely"), (0.7, "likely"), (0.5, "more likely than not"))
_LINKED: Final = re.compile(r"\[\[[^\[\]\n]{1,700}\]\]")


class Offer(NamedTuple):
    """A memory's text with a phrase of its note, and the phrase that this one replaces."""

    text: str
    old: str
    new: str


def offer(content: str, told: Mapping[str, Any]) -> Offer | None:
    """Return the memory's text as the note has it; None unless one phrase was replaced by another.

    `told` is the context of the prediction error.
    """
    passage = told.get("passage")
    if not passage or passage.get("withdrawn"):
        return None
    before = (told.get("before") or {}).get("text") or without_links(content)
    for old, new in _replaced(before, passage["text"]):
        if found := _put(content, old, new):
            return found
    return None


def say_reason(reason: str) -> str:
    """Return a reason in which two values stand against each other as a change."""
    head, colon, rest = reason.rpartition(": ")
    old, versus, new = rest.partition(" vs ")
    return f"{head}{colon}“{old}” became “{new}”" if versus and " vs " not in new else reason


def sure_words(evidence: float) -> str:
    """Return how sure a finding is, in words."""
    return next((words for least, words in _SURE if evidence >= least), "a faint sign")


def _replaced(before: str, after: str) -> list[tuple[str, str]]:
    """Return what may have been replaced by what, the surest first."""
    place = edited_place(before, after)
    value = contrast_of(before, after)
    pairs = [place and (place.old, place.new), value and (value.older, value.newer)]
    return [pair for pair in pairs if pair and all(0 < len(p.split()) <= MOST_WORDS for p in pair)]


def _put(content: str, old: str, new: str) -> Offer | None:
    """Put a phrase in the place of the only one like `old` that stands outside links."""
    links = [link.span() for link in _LINKED.finditer(content)]
    starts = [
        start
        for start in _starts(content.lower(), old.lower())
        if not any(begin < start + len(old) and start < end for begin, end in links)
    ]
    if len(starts) != 1 or len(content.lower()) != len(content):
        return None
    start, end = starts[0], starts[0] + len(old)
    first = content[start]
    if first.isupper() != old[0].isupper():  # it begins a sentence in one of them
        new = (new[0].upper() if first.isupper() else new[0].lower()) + new[1:]
    return Offer(content[:start] + new + content[end:], content[start:end], new)


def _starts(text: str, phrase: str) -> Iterator[int]:
    """Yield where a phrase begins as whole words."""
    start = text.find(phrase)
    while start >= 0:
        around = text[max(start - 1, 0) : start] + text[start + len(phrase) :][:1]
        if not any(map(str.isalnum, around)):
            yield start
        start = text.find(phrase, start + len(phrase))
