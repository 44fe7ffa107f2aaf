"""How long a thing is kept: for a span, or for ever: "kept for 90 days", "never deleted"."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from memories.core.function_words import words_of
from memories.core.lexicon import concept_of

MAX_CHARS: Final = 160
_THING: Final = r"^(?P<thing>[^\s,;:()\"][^,;:()\"]{1,80}?)"
_SPAN: Final = r"[\w.,-]{1,12}\s(?:second|minute|hour|day|week|month|quarter|year)s?"
_GONE: Final = r"(?:deleted|removed|purged|erased|pruned|discarded|wiped|shredded)"
_FOR_A_SPAN: Final = re.compile(
    rf"{_THING}(?:\s(?:is|are)\s(?:kept|retained|stored|held|preserved)\sfor\s{_SPAN}|"
    rf"\s(?:is|are)\s{_GONE}\safter\s{_SPAN}|\sexpires?\safter\s{_SPAN})$",
    re.IGNORECASE,
)
_FOR_EVER: Final = re.compile(
    rf"{_THING}(?:\s(?:is|are)\snever\s{_GONE}|\snever\sexpires?|\s(?:is|are)\s"
    r"(?:kept|retained|stored|held|preserved)\s(?:for\s?ever|indefinitely|permanently|for\sgood))$",
    re.IGNORECASE,
)
_IDLE: Final = words_of("the a an our their its all of for in at to on")


def one_span_is_endless(a: str, b: str) -> bool:
    """Return whether one sentence keeps a thing for a span and the other for ever."""
    left, right = _kept(a), _kept(b)
    return bool(left and right and left[0] == right[0] and left[1] != right[1])


@lru_cache(maxsize=4096)  # of short texts only
def _kept(text: str) -> tuple[frozenset[str], bool] | None:
    """Return the concepts of the thing, and whether it is kept for ever."""
    line = text.strip().rstrip(".!")
    if len(line) > MAX_CHARS:
        return None
    for pattern, is_endless in ((_FOR_A_SPAN, False), (_FOR_EVER, True)):
        if found := pattern.match(line):
            words = found["thing"].lower().split()
            return frozenset(concept_of(word) for word in words if word not in _IDLE), is_endless
    return None
