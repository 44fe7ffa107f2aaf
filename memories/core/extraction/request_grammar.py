"""Find the words of a sentence that ask to remember, by the grammar of English requests.

A verb of remembering asks in the imperative, or behind a frame ("can you", "I want you to", "it is
important that you"). A verb of storing does so where its object is a clause ("store that Ana is
vegan") or what is said beside it ("store the following"), or where a memory is named ("in your
notes", "for later"). The request stands before the fact, behind it, or in a sentence of its own.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from memories.core.extraction import cues
from memories.core.extraction.references import says_why
from memories.core.extraction.request_clauses import CLOSING, is_opening, says_something
from memories.core.extraction.request_forms import TAIL_CHARS, Request, request_at
from memories.core.extraction.request_patterns import BOUNDARY
from memories.core.spelling import normalise

READ_CHARS: Final = 600  # at either end of a sentence


@lru_cache(maxsize=64)  # the same sentence is looked at for itself and for its neighbours
def find_request(text: str) -> Request | None:
    """Return the request to remember in a sentence, None where nobody asks."""
    plain = _plain(text)
    found = _at_start(plain)
    if found is not None:
        return found
    return _behind(plain) or _within(plain)


def without_request(text: str) -> str:
    """Return what a text asks to remember, "" for nothing; without a request the text."""
    found = find_request(text)
    return text if found is None else text[found.start : found.end]


def request_position(text: str) -> int:
    """Return where a request begins behind a clause that says something else, 0 for nowhere."""
    plain = _plain(text[:READ_CHARS])
    if _at_start(plain) is not None or _behind(plain) is not None:
        return 0
    found = _within(plain)
    is_split = found is not None and 0 < found.clause < found.start
    if found is None or not is_split or not says_something(plain[: found.clause]):
        return 0
    return found.clause


def _at_start(plain: str) -> Request | None:
    """Return the request that a text begins with, behind a pushpin or where bold words begin."""
    signs = _SIGNS.match(plain)
    return request_at(plain, signs.end() if signs else 0)


_SIGNS: Final = re.compile(r" {0,3}(?:[^\w\s\x00-\x7f]{1,8} {0,3})?")


def _plain(text: str) -> str:
    """Return a text of the same length without what it quotes."""
    return cues.QUOTATION.sub(lambda quoted: " " * len(quoted[0]), normalise(text))


def _behind(plain: str) -> Request | None:
    """Return a request behind the fact: "The keys are in the shed (remember this!)"."""
    first = max(len(plain) - TAIL_CHARS, 0)
    for boundary in BOUNDARY.finditer(plain, first):
        found = request_at(plain, boundary.end()) if boundary.start() else None
        if found is None or found.points_on:
            continue
        if found.is_bare or found.is_thing:
            end = len(plain[: boundary.start()].rstrip(CLOSING[:-2]))
            if says_why(plain[:end]):
                return found
            return Request(0, end, boundary.end(), is_polite=found.is_polite)
    return None


def _within(plain: str) -> Request | None:
    """Return a request behind other words; what it is of is kept where they may belong to it."""
    for boundary in BOUNDARY.finditer(plain, 0, READ_CHARS):
        found = request_at(plain, boundary.end())
        if found is None:
            continue
        if found.is_bare:
            if found.points_on:
                return found
            continue
        left = plain[: boundary.start()]
        if is_opening(left) or says_something(left):
            return found
        return Request(0, len(plain), found.clause, is_polite=found.is_polite)
    return None
