"""Decide when a prompt counts as a use of a memory, by the rare terms that the two share.

A word of many memories identifies none of them, neither does a number, and a long memory shares
some word with every prompt. So a prompt matches a memory when

1. the shared terms are rare: in at most 5 % of the memories, or in five;
2. at least one shared term is a word: "7", "2026-05-04" and "10.0.0.1" name no thing;
3. two terms are shared, or the only *distinctive* word of the prompt: one in at most a tenth of the
   memories, and in at most five (one is always allowed). If the prompt has two such words, a memory
   may share one by chance;
4. a twentieth of the memory's length is shared, or the memory is short: filling a memory with many
   words only raises the number that must be shared. One distinctive word is enough for a memory of
   at most sixty terms.

A prompt that repeats a memory matches it, however common its words are: the memory's index terms,
three at least, stand in the prompt one after the other. Memories that are a sentence of the prompt,
or some sentences one after the other, are found by their hash (`statements_in`), whatever else the
prompt says; others only among the best by the words of the whole prompt.

The number of memories with a word does not show that the word is small talk: "thanks" is
distinctive where one memory has it. That is why a match by a single word reaches at most five
memories a prompt and counts once a session, however many prompts repeat it: it raises a label to
0.3, never to 0.6.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from memories.core.content import CONTENT_MAX_CHARS, content_hash
from memories.core.spelling import normalise
from memories.core.text import tokens
from memories.core.tokeniser import BULLET, sentence_spans

RARE_SHARE = 0.05  # largest share of the memories with a rare term
RARE_AT_LEAST = 5  # memories with a rare term that are always allowed
TERMS_MAX = 64  # of one prompt, the rarest
DISTINCTIVE_SHARE = 0.1  # largest share of the memories with a distinctive word
DISTINCTIVE_MOST = 5  # most memories with such a word, whatever the share
DISTINCTIVE_LENGTH = 60  # most index terms of a memory that one such word matches
SHARED_LEAST = 2
SHARED_OF_LENGTH = 0.05
SHARED_MOST = 12  # whatever the length
REPEATED_LEAST = 3  # index terms of a memory whose repetition counts
SENTENCES_MAX = 100  # of a prompt, the first, that are looked up as statements
STATEMENT_SENTENCES = 4  # most adjacent sentences that are looked up as one statement
QUOTES = "\"'\u201c\u201d\u201e\u00ab\u00bb\u2018\u2019"  # around a repeated statement
HITS_MAX = 20  # memories that one prompt matches, the best


class Match(Enum):
    """The way in which a prompt matches a memory."""

    SINGLE = "one distinctive word"
    SEVERAL = "several rare terms"
    REPEATED = "its own words"


@dataclass(frozen=True, slots=True)
class PromptTerms:
    """The terms of a prompt that can match memories.

    Parameters
    ----------
    terms : the rare terms, rarest first, at most 64.
    words : those of them that begin with a letter.
    distinctive : the only distinctive word; "" for none or more than one.
    """

    terms: tuple[str, ...]
    words: frozenset[str]
    distinctive: str


def prompt_terms(
    terms: Sequence[str], frequencies: Mapping[str, int], memories: int
) -> PromptTerms:
    """Return the terms of a prompt that can match; ``terms`` come rarest first.

    Parameters
    ----------
    terms : distinct index terms of the prompt.
    frequencies : the number of memories with each term; 0 for a missing term.
    memories : the number of memories, at least 0.
    """
    rare = rare_terms(terms, frequencies, memories)
    words = frozenset(term for term in rare if term[0].isalpha())
    most = max(1.0, min(DISTINCTIVE_MOST, DISTINCTIVE_SHARE * memories))
    candidates = [word for word in words if frequencies[word] <= most]
    return PromptTerms(tuple(rare), words, candidates[0] if len(candidates) == 1 else "")


def rare_terms(terms: Sequence[str], frequencies: Mapping[str, int], memories: int) -> list[str]:
    """Return the terms that few memories have, rarest first; ``terms`` come in that order."""
    most = max(RARE_AT_LEAST, RARE_SHARE * memories)
    return [term for term in terms if 0 < frequencies.get(term, 0) <= most][:TERMS_MAX]


def match_prompt(prompt: PromptTerms, shared: Collection[str], length: int) -> Match | None:
    """Return how a prompt matches a memory of ``length`` index terms; None without a match.

    ``shared`` are the distinct terms of ``prompt.terms`` that the memory has.
    """
    words = prompt.words.intersection(shared)
    least = min(SHARED_MOST, max(SHARED_LEAST, math.ceil(SHARED_OF_LENGTH * length)))
    if words and len(shared) >= least:
        return Match.SEVERAL
    return Match.SINGLE if length <= DISTINCTIVE_LENGTH and prompt.distinctive in words else None


def in_order(text: str) -> str:
    """Return the index terms of a text in its order, a space before and after each."""
    return f" {' '.join(tokens(text))} "


def repeats(prompt: str, memory: str) -> bool:
    """Return whether a prompt has the index terms of a memory one after the other.

    Parameters
    ----------
    prompt, memory : the terms of both, by `in_order`.
    """
    return memory.count(" ") > REPEATED_LEAST and memory in prompt


def statements_in(text: str) -> set[str]:
    """Return the content hashes of what a prompt may repeat: its sentences and runs of them.

    Runs have up to `STATEMENT_SENTENCES` of the first `SENTENCES_MAX` sentences. Of a sentence what
    follows its first colon counts, too ("As you wrote: …"), and quotes around a run do not.
    """
    plain = normalise(text)
    spans = [span for span in sentence_spans(plain) if plain[slice(*span)].strip()][:SENTENCES_MAX]
    found: set[str] = set()
    for first, (start, _) in enumerate(spans):
        lead, colon, _ = plain[start : spans[first][1]].partition(": ")
        starts = (start, start + len(lead) + 2) if colon else (start,)
        for _, end in spans[first : first + STATEMENT_SENTENCES]:
            found.update(_unquoted(text[at:end]) for at in starts if end - at <= CONTENT_MAX_CHARS)
    return {content_hash(statement) for statement in found if statement}


def _unquoted(text: str) -> str:
    return BULLET.sub("", text).strip().strip(QUOTES).strip()
