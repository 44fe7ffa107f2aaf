"""When a prompt counts as a use of a memory: it shares enough of what is rare.

Words that stand in many memories say nothing about one, and long memories share something with
every prompt. So only rare terms count, a memory must share two of them, and a twentieth of its
length: whoever fills a memory with words to be matched raises what it must share.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

RARE_SHARE = 0.05  # of the memories may hold a rare term
RARE_AT_LEAST = 5  # holders that a rare term may always have
TERMS_MAX = 64  # of one prompt, the rarest
SHARED_LEAST = 2
SHARED_OF_LENGTH = 0.05
SHARED_MOST = 12  # whatever the length
HITS_MAX = 20  # memories that one prompt counts for, the best


def rare_terms(terms: Sequence[str], frequencies: Mapping[str, int], memories: int) -> list[str]:
    """Return the terms that can make a match, rarest first; `terms` come in that order."""
    most = max(RARE_AT_LEAST, RARE_SHARE * memories)
    return [term for term in terms if 0 < frequencies.get(term, 0) <= most][:TERMS_MAX]


def is_hit(shared: int, words: int, asked: int) -> bool:
    """Tell whether sharing so many of `asked` rare terms matches a memory of so many words.

    A prompt that has a single rare term asks for that one alone.
    """
    least = min(SHARED_LEAST, asked)
    return shared >= min(SHARED_MOST, max(least, math.ceil(SHARED_OF_LENGTH * words)))
