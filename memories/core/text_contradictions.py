"""Contradictions in how two short texts arrange the same words, where no two claims contradict.

Words of different cases, conditions and denials make another arrangement harmless, so only plain
statements are compared.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import takewhile
from typing import Final

from memories.core.cases import CaseReading, Contradiction
from memories.core.claim_types import Reading
from memories.core.contradictions.order import ORDERING
from memories.core.contradictions.registry import TEXT_RULES
from memories.core.function_words import PREPOSITIONS
from memories.core.one_more import is_one_more
from memories.core.text_parts import content_of, tokens_of

WAYS_OF_TEXTS: Final = frozenset[Contradiction](["pairing", "order"])
_MIN_COMMON: Final = 2  # words of both: fewer cannot be arranged in two ways
_CASE_WORDS: Final = 3  # of an opening phrase, behind its preposition
# Denials, conditions, told changes and what is not to be done.
_NOT_PLAIN: Final = re.compile(
    r"\b(?:not?|never|nobody|none|nothing|neither|nor|cannot|without|avoid\w{0,3}|refus\w{1,4}|"
    r"forb[ai]d\w{0,5}|prohibit\w{0,3}|wrong\w{0,2}|mistake\w{0,3}|bugs?|instead|rather|if|unless|"
    r"when(?:ever)?|except\w{0,6}|too\s(?:early|late)|revers\w{1,4}|swap\w{0,4}|switch\w{0,3}|"
    r"the\sother\sway|used\sto|stopped|until|till|again|look(?:s|ed|ing)?\safter|"
    r"nam(?:ed|ing)\safter)\b|n['\u2019]t\b",
    re.IGNORECASE,
)
_PAST: Final = re.compile(r"\b(?:was|were|had|did|became|last|ago|yesterday)\b", re.IGNORECASE)


def find_in_texts(a: Reading, b: Reading) -> CaseReading | None:
    """Return how two texts contradict each other as a whole, if they do.

    The reading is the same in either order of the texts. The rules leave out long ones.
    """
    if len(a.keys & b.keys) < _MIN_COMMON:
        return None
    found = next(filter(None, (rule(a, b) for rule in TEXT_RULES)), None)
    return found if found and _are_comparable(a, b) else None


def nearest_claims(a: Reading, b: Reading, pairs: Iterable[tuple[int, int]]) -> tuple[int, int]:
    """Return of pairs of claims, by number, the one that shares most words; the first of equals."""

    def common(pair: tuple[int, int]) -> int:
        return len(a.claims[pair[0]].topics & b.claims[pair[1]].topics)

    return max(pairs, key=lambda pair: (common(pair), -pair[0], -pair[1]))


def _are_comparable(a: Reading, b: Reading) -> bool:
    """Return whether both are plain statements, of one tense and not plainly of other cases."""
    claims = (*a.claims, *b.claims)
    if any(claim.modality != "fact" for claim in claims) or is_one_more(a.text, b.text):
        return False
    if _NOT_PLAIN.search(a.text) or _NOT_PLAIN.search(b.text):
        return False
    if _is_of_two_occasions(a.text) or _is_of_two_occasions(b.text):
        return False
    if bool(_PAST.search(a.text)) != bool(_PAST.search(b.text)):
        return False
    if _exact_keys(a) - b.keys and _exact_keys(b) - a.keys:
        return False  # each has a value or a name that the other lacks
    return not (_opening_case(a.text, b.text) or _opening_case(b.text, a.text))


def _is_of_two_occasions(text: str) -> bool:
    """Return whether a text orders twice: "weighed before and after loading"."""
    return sum(token.lower in ORDERING for token in tokens_of(text)) > 1


def _exact_keys(reading: Reading) -> frozenset[str]:
    terms = (term for claim in reading.claims for term in claim.terms)
    return frozenset(term.key for term in terms if term.kind != "word" and term.weight == 1)


def _opening_case(text: str, other: str) -> bool:
    """Return whether a text opens with a case that the other lacks: "In winter, \u2026"."""
    tokens = tokens_of(text)
    if not tokens or tokens[0].lower not in PREPOSITIONS - ORDERING:
        return False
    phrase = takewhile(lambda token: token.kind != "symbol", tokens[1 : 1 + _CASE_WORDS])
    return not content_of(phrase) <= content_of(tokens_of(other))
