"""Split a sentence where its parts are to be kept apart: a request, or what is taken back."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memories.core.extraction.declining import find_declining
from memories.core.extraction.lasting import is_lasting
from memories.core.extraction.private import asks_not_to_store, find_retraction
from memories.core.extraction.request_grammar import find_request, request_position

_BUT = re.compile(
    r"[,;]? but (?=(?:please |do |also ){0,2}(?:remember|note|keep|write|store|save))", re.I
)
_AND_REMEMBER = re.compile(
    r"(?:[;,]|,? and) (?=(?:(?:also|please|and),? ){0,2}"
    r"(?:remember|don['\u2019]t forget|note) that\b)",
    re.IGNORECASE,
)
# "I'm allergic to nuts, what can I bake?", "I live in Oslo and I'm looking for a choir."
_ASKS_ON = re.compile(
    r"(?:[,;]|,? (?:so|and|but)| [-\u2013\u2014]) (?=(?:(?:what|which|where|when|who|how|why|can"
    r"|could|would|should|shall|do|does|is|are|will|any) (?=[^?]{1,300}\?)"
    r"|(?:please|suggest|recommend|give|help|tell|find|show)\b"
    r"|(?:i'm |i am |we're |we are )?looking for\b|(?:i|we)(?: need|'d like|'d love| want)\b))",
    re.IGNORECASE,
)


def split_at_request(
    transcript: str, start: int, end: int, *, is_own: bool
) -> Iterator[tuple[int, int]]:
    """Split "Don't store this, but remember that …" and what a speaker takes back from the rest.

    In a user's own words, what stands before a request to remember is a statement of its own, and
    so are a plain fact before a question, and each request of several.
    """
    if not is_own:
        yield from _split(transcript, start, end, is_own=False)
        return
    for more in _AND_REMEMBER.finditer(transcript, start, end):
        if find_request(transcript[start : more.start()]) is None:
            break
        yield from _split(transcript, start, more.start(), is_own=True)
        start = more.end()
    yield from _split(transcript, start, end, is_own=True)


def _split(transcript: str, start: int, end: int, *, is_own: bool) -> Iterator[tuple[int, int]]:
    found = find_retraction(transcript, start, end)
    if found is None and (declined := find_declining(transcript, start, end)) is not None:
        found = declined if find_request(transcript[start : declined[0]]) is not None else None
    if found is not None:
        if start < found[0]:
            yield start, found[0]
        yield found
        start = found[1]
    rest = transcript[start:end].strip()
    start = end - len(rest)
    if not rest:
        return
    but = _BUT.search(transcript, start, end)
    if but is not None and asks_not_to_store(transcript[start : but.start()]):
        yield start, but.start()
        yield but.end(), end
    elif is_own and (at := request_position(rest)):
        yield start, start + len(rest[:at].rstrip())
        yield start + at, end
    else:
        yield from _split_at_question(transcript, start, end) if is_own else [(start, end)]


def _split_at_question(transcript: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Split a plain fact from what is asked behind it."""
    found = _ASKS_ON.search(transcript, start, end)
    if found is not None and is_lasting(transcript[start : found.start()]):
        yield start, found.start()
        start = found.end()
    yield start, end
