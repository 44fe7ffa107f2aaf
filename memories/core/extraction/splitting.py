"""Split a sentence where its parts are to be kept apart: a request, or what is taken back."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memories.core.extraction.declining import find_declining
from memories.core.extraction.private import asks_not_to_store, find_retraction
from memories.core.extraction.request_grammar import find_request, request_position

_BUT = re.compile(
    r"[,;]? but (?=(?:please |do |also ){0,2}(?:remember|note|keep|write|store|save))", re.I
)


def split_at_request(
    transcript: str, start: int, end: int, *, is_own: bool
) -> Iterator[tuple[int, int]]:
    """Split "Don't store this, but remember that …" and what a speaker takes back from the rest.

    In a user's own words, what stands before a request to remember is a statement of its own.
    """
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
        yield start, end
