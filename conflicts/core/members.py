"""Which member of a kind a text names: "tenant acme", "line 4", "12 Mill Street"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Final

from memories.core.function_words import AUXILIARIES, CONJUNCTIONS, DETERMINERS, PREPOSITIONS

_NAMED: Final = re.compile(
    r"\b(?P<kind>tenant|customer|client|account|site|branch|store|shop|plant|region|country|school|"
    r"class|ward|clinic|line|house|flat|cluster|unit|bus|tram|group|cohort|arm|batch)\s"
    r"(?P<name>(?-i:[A-Z][\w-]*)|\d+\w?)\b",
    re.IGNORECASE,
)
# A name in lower case has no article before its kind: "of tenant acme", not "the tenant pays".
_CODED: Final = re.compile(
    r"(?:\b(?P<before>[A-Za-z]{1,20})\s)?\b(?P<kind>tenant|customer|client|cluster)\s"
    r"(?P<name>(?-i:[a-z][a-z0-9-]{1,30}))\b",
    re.IGNORECASE,
)
_ADDRESS: Final = re.compile(
    r"\b(?P<name>\d{1,4}[a-z]?)\s(?P<kind>[A-Z][a-z]{1,30}(?:\s[A-Z][a-z]{1,30}){1,2})\b"
)
_NO_NAMES: Final = AUXILIARIES | CONJUNCTIONS | PREPOSITIONS


@lru_cache(maxsize=8192)
def members_of(text: str) -> Mapping[str, frozenset[str]]:
    """Return the names of the members of each kind, in lower case."""
    found: dict[str, frozenset[str]] = {}
    for match in _matches(text):
        kind = match["kind"].lower()
        found[kind] = found.get(kind, frozenset()) | {match["name"].lower()}
    return found


def _matches(text: str) -> Iterator[re.Match[str]]:
    yield from _NAMED.finditer(text)
    yield from _ADDRESS.finditer(text)
    for match in _CODED.finditer(text):
        is_named = (match["before"] or "").lower() not in DETERMINERS
        # "Customer pays" has a verb, "customer data" is no customer's name either.
        if is_named and match["name"] not in _NO_NAMES and not match["name"].endswith(("s", "ed")):
            yield match
