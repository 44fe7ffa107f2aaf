"""Tell by its function words whether what was read seems to be English."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from memories.core.function_words import (
    AUXILIARIES,
    CONJUNCTIONS,
    DETERMINERS,
    PREPOSITIONS,
    PRONOUNS,
)

_KNOWN: Final = AUXILIARIES | CONJUNCTIONS | DETERMINERS | PREPOSITIONS | PRONOUNS
_WORD: Final = re.compile(r"[^\W\d_]+")
WORDS_NEEDED: Final = 6  # of fewer nothing can be said
ENGLISH_FROM: Final = 0.15  # share of function words, see docs/tuning.md


def share_of_function_words(texts: Iterable[str]) -> tuple[float, int]:
    """Return the share (0..1) of English function words, and the number of words; linear."""
    count = known = 0
    for text in texts:
        for word in _WORD.finditer(text):
            count += 1
            known += word[0].lower() in _KNOWN
    return known / max(count, 1), count


def seems_english(texts: Iterable[str]) -> bool:
    """Return False for texts of some words of which few are function words of English."""
    share, count = share_of_function_words(texts)
    return count < WORDS_NEEDED or share >= ENGLISH_FROM
