"""Find words by which two texts exclude each other: antonyms, and words that only one denies."""

from __future__ import annotations

import re
from typing import Final

from conflicts.core.statements import Statement, explain_words
from memories.core.claims import Claim
from memories.core.lexicon import opposites_of

# "It is not true that …" may deny a text that has a negation: "… that nobody may …".
_NOT_SO: Final = re.compile(
    r"\b(?:not|isn't|no\slonger|never)\s(?:true|the\scase|so)\b|\bthat\s\w+\sis\s(?:false|untrue)\b",
    re.IGNORECASE,
)


def opposite_words(a: Statement, b: Statement) -> str:
    """Return as a reason two words that exclude each other, one of each text; "" for none."""
    theirs = b.stems - a.stems
    for word in sorted(a.stems - b.stems):
        if found := opposites_of(word) & theirs:
            return explain_words("opposite words", a, word, b, min(found))
    return ""


def denied_words(a: Statement, b: Statement) -> frozenset[str]:
    """Return the words that one text affirms and the other denies."""
    mine, theirs = _polarities(a.reading.claims), _polarities(b.reading.claims)
    return frozenset(w for w in mine.keys() & theirs.keys() if mine[w] != theirs[w])


def _polarities(claims: tuple[Claim, ...]) -> dict[str, bool]:
    plain = (claim for claim in claims if not _NOT_SO.search(claim.text))
    return {word: claim.polarity for claim in plain for word in sorted(claim.words)}
