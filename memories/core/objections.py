"""Find reasons not to suggest to a person that two texts say the same.

Used only for pairs that no rule could judge. A paraphrase does not repeat a part of the sentence
with a different rest or with two words exchanged, does not deny what the other text states, does
not put two steps in the opposite order or pair things the other way round, and has neither an
antonym nor another member of one kind.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import dropwhile, islice, takewhile
from typing import Final

from memories.core.alignment import against, kinds_of
from memories.core.claim_types import Reading, Term
from memories.core.contradictions.order import other_order
from memories.core.contradictions.pairing import other_pairing
from memories.core.exclusions import find_exclusion
from memories.core.frames import other_name
from memories.core.function_words import (
    CONJUNCTIONS,
    DETERMINERS,
    FUNCTION_WORDS,
    NEGATORS,
    PREPOSITIONS,
)
from memories.core.lexicon import GRADED, concept_of, opposites_of
from memories.core.replaced import is_exchanged, words_in_order
from memories.core.spelling import collapse, normalise
from memories.core.tokeniser import Token, tokenise


def _words(text: str) -> list[str]:
    return text.split()


_RUN: Final = 5  # consecutive words that paraphrases do not share
_OPENING: Final = 3  # the same, for the first words of both
_DENIED: Final = 3  # content words after a negation that it may deny
_NEGATORS: Final = NEGATORS | {"without", "nil"}
_ADVERBS: Final = frozenset(["not", "never", "neither", "nor"])
_BETWEEN: Final = PREPOSITIONS | CONJUNCTIONS | DETERMINERS | {"once"}
_BOUNDING: Final = frozenset(
    ["more", "less", "fewer", "later", "earlier", "longer", "shorter", "higher", "lower", "over",
     "under"]
)  # fmt: skip
_SMALL: Final = FUNCTION_WORDS | _NEGATORS | {"only", "other", "further", "else", "matter"}
# Words that deny, end or exclude without a negation ("unpaid", "has been dropped").
_NEGATIVE: Final = re.compile(
    r"\b(?:not?|never|nobody|nothing|none|neither|nor|without|cannot|nil|un\w{4,40}|dis\w{4,40}|"
    r"im\w{1,40}ble|in\w{1,40}ble|out|off|closed?|drop\w{0,4}|miss\w{0,4}|refus\w{1,4}|"
    r"bann?\w{0,3}|"
    r"forb\w{1,6}|stop\w{0,4}|free|except\w{0,6}|only|exclu\w{1,8}|lack\w{0,4}|avoid\w{0,4}|instead|"
    r"read.only|frozen|froze|remov\w{1,4}|cut|cancel\w{0,6}|reject\w{0,4}|den(?:y|ies|ied)|absent|"
    r"zero|nought|declin\w{1,4}|unless|until|all|always|solely|alone|limit\w{0,4}|max\w{0,4}|"
    r"single|"
    r"prevent\w{0,4}|gone|lost|end\w{0,3}|fail\w{0,4}|skip\w{0,4}|omit\w{0,4}|spar\w{1,4}|stays?|"
    r"remains?|\w{3,40}less|most)\b|n't\b",
    re.IGNORECASE,
)
# Medicines, which are not synonyms of each other.
_MEDICINES: Final = frozenset(
    concept_of(word)
    for word in _words(
        "aspirin warfarin heparin ibuprofen paracetamol codeine morphine fentanyl tramadol "
        "penicillin amoxicillin doxycycline vancomycin metformin insulin ramipril lisinopril "
        "amlodipine bisoprolol metoprolol atorvastatin simvastatin clopidogrel apixaban "
        "rivaroxaban dabigatran enoxaparin prednisolone furosemide omeprazole "
        "pantoprazole salbutamol "
        "levothyroxine sertraline citalopram diazepam lorazepam midazolam ketamine propofol "
        "naproxen diclofenac"
    )
)
# Alternatives that are not a pair of single words.
_ALTERNATIVES: Final = (
    (
        re.compile(
            r"\b(?:not (?:\w{1,20} )?(?:allowed|permitted|accepted|welcome)|may not|must not|"
            r"cannot|"
            r"can't|mustn't|forbid\w{0,4}|forbidden|bann?(?:s|ed)?|prohibit\w{0,5}|off limits)\b",
            re.IGNORECASE,
        ),
        re.compile(r"\b(?:may|can|allow(?:s|ed)?|permit(?:s|ted)?|welcome)\b", re.IGNORECASE),
    ),
    (
        re.compile(r"\b(?:nil by mouth|npo|fast(?:s|ed|ing)?|empty stomach)\b", re.IGNORECASE),
        re.compile(
            r"\b(?:breakfast|lunch|dinner|supper|snacks?|meals?|eats?|drinks?|feeds?)\b",
            re.IGNORECASE,
        ),
    ),
)


def objection(a: Reading, b: Reading) -> str:
    """Return a reason why two texts do not say the same, "" when none is found."""
    one, other = collapse(a.text), collapse(b.text)
    return (
        shares_frame(one, other)
        or denies_other(one, other)
        or _find_opposites(a, b)
        or _alternative(one, other)
        or find_exclusion(one, other)
        or other_name(one, other)
        or _exchange(a.text, b.text)
        or other_order(a.text, b.text)
        or other_pairing(a.text, b.text)
    )


def _exchange(a: str, b: str) -> str:
    """Return a reason when two words changed places: "by ping first and by rank second"."""
    is_found = is_exchanged(words_in_order(a), words_in_order(b))
    return "two words changed places" if is_found else ""


def _tokens(text: str) -> list[Token]:
    return tokenise(normalise(text))


def shares_frame(a: str, b: str) -> str:
    """Return a reason when both share a part of a sentence and each has a different rest."""
    left, right = _tokens(a), _tokens(b)
    content_a, content_b = frozenset(_content(left)), frozenset(_content(right))
    if content_a <= content_b or content_b <= content_a:
        return ""
    words_a, words_b = _lowers(left), _lowers(right)
    same = takewhile(lambda pair: pair[0] == pair[1], zip(words_a, words_b, strict=False))
    opening = len(list(islice(same, _OPENING)))
    if opening == _OPENING or not _runs(words_a).isdisjoint(_runs(words_b)):
        return "one sentence that each goes on with in another way"
    return ""


def _lowers(tokens: Iterable[Token]) -> list[str]:
    return [token.lower for token in tokens if token.kind != "symbol"]


def _runs(words: Sequence[str]) -> frozenset[tuple[str, ...]]:
    return frozenset(tuple(words[at : at + _RUN]) for at in range(len(words) - _RUN + 1))


def _content(tokens: Iterable[Token]) -> Iterator[str]:
    for token in tokens:
        if token.kind != "symbol" and token.lower not in _SMALL:
            yield concept_of(token.lower)


def denies_other(a: str, b: str) -> str:
    """Return a reason when one text denies what the other mentions, else ""."""
    return _find_denial(a, b) or _find_denial(b, a)


def _find_denial(denying: str, other: str) -> str:
    """Return a reason when one text denies what the other, without a negation, mentions."""
    if _NEGATIVE.search(other):
        return ""
    stated = frozenset(_content(_tokens(other)))
    for token in _behind_negations(_tokens(denying)):
        if concept_of(token.lower) in stated:
            return f"only one side denies {token.written or token.text}"
    return ""


def _behind_negations(tokens: Sequence[Token]) -> Iterator[Token]:
    for at, token in enumerate(tokens[:-1]):
        if token.lower not in _NEGATORS or tokens[at + 1].lower in _BOUNDING:
            continue  # "no more than five" is a bound
        following = tokens[at + 1 : at + 8]
        if token.lower in _ADVERBS:  # "does not yet know the arm": "know" is denied
            following = list(dropwhile(lambda other: other.lower in _SMALL, following))
        phrase = takewhile(lambda other: not _ends_phrase(other), following)
        content = (other for other in phrase if other.lower not in _SMALL)
        yield from islice(content, _DENIED)


def _ends_phrase(token: Token) -> bool:
    is_name = token.kind == "word" and not token.text.islower()
    return token.kind == "symbol" or is_name or token.lower in _BETWEEN


def _find_opposites(a: Reading, b: Reading) -> str:
    """Return two words that exclude each other, one of each text, as a reason."""
    left, right = _own_terms(a, b), _own_terms(b, a)
    words = {term.key: term for term in right}
    for term in left:
        if term.key in GRADED:
            continue
        if hits := sorted(opposites_of(term.key) & words.keys()):
            return against(term, words[hits[0]])
    kinds = {kind: term for term in right for kind in _kinds(term)}
    for term in left:
        if shared := sorted(_kinds(term) & kinds.keys()):
            return against(term, kinds[shared[0]])
    return ""


def _kinds(term: Term) -> frozenset[str]:
    return kinds_of(term.key) | ({"medicine"} if term.key in _MEDICINES else frozenset())


def _own_terms(one: Reading, other: Reading) -> list[Term]:
    return [
        term
        for claim in one.claims
        for term in claim.terms
        if term.weight == 1 and term.kind in ("word", "name") and term.key not in other.keys
    ]


def _alternative(a: str, b: str) -> str:
    for one, another in _ALTERNATIVES:
        for text, other in ((a, b), (b, a)):
            if one.search(text) and not one.search(other) and another.search(other):
                return "alternatives"
    return ""
