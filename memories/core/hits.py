"""When a prompt counts as a use of a memory: what the two share must tell it from other memories.

A word that stands in many memories says nothing about one, a number says nothing by itself, and a
long memory shares something with every prompt. So a prompt matches a memory when

1. what they share is rare: at most 5 % of the memories hold it, or five;
2. one of the shared terms at least is a word: "7", "2026-05-04" and "10.0.0.1" name no thing;
3. two terms are shared, or the one *telling* word of the prompt: one that a tenth of the memories
   holds at most, and five at most (one always may). Of two such words one is shared by chance;
4. a twentieth of the memory's own length is shared, or the memory is a short one: whoever fills a
   memory with words to be matched raises what it must share. One telling word is enough of at
   most sixty.

How many memories hold a word tells how much it says of one; which words are small talk it cannot
tell: "thanks" is telling where one memory holds it. That is why a match by a single word reaches
five memories a prompt at most and counts once a session, however many prompts repeat it: it raises
a label to 0.3, never to 0.6.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

RARE_SHARE = 0.05  # of the memories may hold a rare term
RARE_AT_LEAST = 5  # holders that a rare term may always have
TERMS_MAX = 64  # of one prompt, the rarest
TELLING_SHARE = 0.1  # of the memories may hold a word that is enough by itself
TELLING_MOST = 5  # holders of such a word, whatever the share
TELLING_LENGTH = 60  # index terms of a memory that one word is enough of
SHARED_LEAST = 2
SHARED_OF_LENGTH = 0.05
SHARED_MOST = 12  # whatever the length
HITS_MAX = 20  # memories that one prompt counts for, the best


class Match(Enum):
    """How much a prompt shares with a memory."""

    SINGLE = "one telling word"
    SEVERAL = "several rare terms"


@dataclass(frozen=True, slots=True)
class PromptTerms:
    """What of a prompt can make a match.

    Parameters
    ----------
    terms : the rare terms, rarest first, at most 64.
    words : those of them that begin with a letter.
    telling : the word that is enough by itself; "" where there is none, or more than one.
    """

    terms: tuple[str, ...]
    words: frozenset[str]
    telling: str


def prompt_terms(
    terms: Sequence[str], frequencies: Mapping[str, int], memories: int
) -> PromptTerms:
    """Return what of a prompt can make a match; ``terms`` come rarest first.

    Parameters
    ----------
    terms : distinct index terms of the prompt.
    frequencies : in how many memories each stands; a term not in it stands in none.
    memories : how many there are, at least 0.
    """
    rare = rare_terms(terms, frequencies, memories)
    words = frozenset(term for term in rare if term[0].isalpha())
    most = max(1.0, min(TELLING_MOST, TELLING_SHARE * memories))
    telling = [word for word in words if frequencies[word] <= most]
    return PromptTerms(tuple(rare), words, telling[0] if len(telling) == 1 else "")


def rare_terms(terms: Sequence[str], frequencies: Mapping[str, int], memories: int) -> list[str]:
    """Return the terms that few memories hold, rarest first; ``terms`` come in that order."""
    most = max(RARE_AT_LEAST, RARE_SHARE * memories)
    return [term for term in terms if 0 < frequencies.get(term, 0) <= most][:TERMS_MAX]


def match_prompt(asked: PromptTerms, shared: Collection[str], length: int) -> Match | None:
    """Return how a prompt matches a memory of ``length`` index terms; None: it does not.

    ``shared`` are the distinct terms of ``asked.terms`` that stand in the memory.
    """
    words = asked.words.intersection(shared)
    least = min(SHARED_MOST, max(SHARED_LEAST, math.ceil(SHARED_OF_LENGTH * length)))
    if words and len(shared) >= least:
        return Match.SEVERAL
    return Match.SINGLE if length <= TELLING_LENGTH and asked.telling in words else None
