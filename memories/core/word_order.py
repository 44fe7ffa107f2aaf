"""Decide whether texts of the same words differ in word order: roles and denials.

Checked last, for claims and texts without another difference. Words may change places only in ways
that are known to be harmless: a passive, a phrase that is put first, neighbours in a list. People
decide about any other order.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import combinations
from typing import Final

from memories.core.alignment import TermPair
from memories.core.cases import Case
from memories.core.claim_types import Claim, Term
from memories.core.function_words import FORMS_OF_BE, NEGATORS, PREPOSITIONS
from memories.core.lexicon import concept_of, is_product
from memories.core.spelling import normalise
from memories.core.symbols import symbol_of
from memories.core.tokeniser import tokenise

_MAX_PAIRS: Final = 40  # matched words that are examined for exchanged places
_MAX_MOVED: Final = 400  # words of a text in which a moved phrase is looked for
_SUBORDINATE: Final = re.compile(
    r"\b(?:that|who|whom|whose|which|when|if|because|so|before|after|while|although|though|than|"
    r"then|first|where)\b",
    re.IGNORECASE,
)
_EXACT_KINDS: Final = frozenset(["name", "label", "quantity", "version", "date"])
_NEGATORS: Final = NEGATORS - {"nor"} | {"without", "cannot"}
_UNDENIED: Final = FORMS_OF_BE - {"being"} | frozenset(
    ["do", "does", "did", "a", "an", "the", "to", "any", "yet"]
)
# Must occur equally often in both claims: each changes the agent or the meaning.
_COUNTED: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (r"\b(?:get|gets|got|getting)\b", r"\bbut\b", r"\bown\b", r"\byet\b",
                    r"\ba few\b", r"&&", r"\|\|", r"(?<!\w)!(?=\w)")
)  # fmt: skip
_TO_VERB: Final = re.compile(r"\bto (\w+)", re.IGNORECASE)
_TO_BE: Final = re.compile(
    r"\b(ready|able|easy|hard|safe|free|needs?|wants?) to be\b", re.IGNORECASE
)
_GERUND: Final = re.compile(r"\b(\w{2,40}ing)\b", re.IGNORECASE)
_FEET_OR_INCHES: Final = re.compile(r"\d(['\"])(?=[\s.,;]|$)")
_UNIT_BEHIND: Final = re.compile(r"(?<=\d)[^\W\d_]{1,4}\b")
_OWNER: Final = re.compile(r"\b[^\W\d_]{1,40}(?:'s|s')(?!\w)")
# May be anywhere, or missing.
_PLACELESS: Final = frozenset(["a", "an", "the", "today", "now", "currently"])
_LISTING: Final = frozenset(["and", "or"])
_INSIDE: Final = frozenset(["in", "on", "at", "inside", "within"])
RUNNING: Final = frozenset(["on", "via", "through", "using"])  # before the platform of a thing
_CONDITIONAL: Final = frozenset(["if", "when", "whenever", "unless", "while", "until"])
# "To leave" after a verb is its complement, not a place.
_MOVABLE: Final = (PREPOSITIONS | _CONDITIONAL) - {"to", "of"}


def difference_of_claims(case: Case) -> str:
    """Return why two aligned claims of the same words differ in meaning, "" when they do not."""
    if _is_reordered(case):
        return "the same words in another order"
    if _denies_another(case):
        return "each denies another word"
    if _is_led_by_another(case):
        return "another preposition behind the verb"
    for pattern in _COUNTED:
        if len(pattern.findall(case.a.text)) != len(pattern.findall(case.b.text)):
            return "a small word on one side"
    return "another form of a verb" if _form_differs(case.a.text, case.b.text) else ""


def difference_of_texts(a: str, b: str) -> str:
    """Return why whole texts differ: word order, or marks outside of claims; "" for neither."""
    left, right = normalise(a), normalise(b)
    if _is_rearranged(_words(left), _words(right)):
        return "the same words in another order"
    if _FEET_OR_INCHES.findall(left) != _FEET_OR_INCHES.findall(right):
        return "feet are not inches"
    if _owners(left) != _owners(right) and _owners(left, bare=True) == _owners(right, bare=True):
        return "one owner is not several"
    return "units of another case" if _units_differ(left, right) else ""


def _is_reordered(case: Case) -> bool:
    """Return whether two matched words changed places without a known, harmless reason."""
    at_a = {id(term): index for index, term in enumerate(case.a.terms)}
    at_b = {id(term): index for index, term in enumerate(case.b.terms)}
    placed = sorted(
        ((at_a[id(pair.a)], at_b[id(pair.b)], pair) for pair in case.found.same + case.found.finer),
        key=lambda found: found[:2],
    )[:_MAX_PAIRS]
    is_turned = bool(case.a.agent_prep) != bool(case.b.agent_prep) and not any(
        _SUBORDINATE.search(claim.text) for claim in (case.a, case.b)
    )
    if is_turned:
        return False
    return any(
        b_second < b_first
        and a_first != a_second
        and not (a_second - a_first == b_first - b_second == 1 and _share_part(first, second))
        and not _may_move(case, first, second)
        for (a_first, b_first, first), (a_second, b_second, second) in combinations(placed, 2)
    )


def _share_part(first: TermPair, second: TermPair) -> bool:
    """Return True for neighbours of one part of the sentence: "German and English"."""
    return first.a.region == second.a.region or first.b.region == second.b.region


def _may_move(case: Case, first: TermPair, second: TermPair) -> bool:
    """Return True for a phrase or condition that moved as a whole, or a side without a verb."""
    for pair in (first, second):
        if pair.a.region == pair.b.region == "condition":
            return True
        if pair.a.prep and pair.a.prep == pair.b.prep and pair.a.prep not in _CONDITIONAL:
            return True
    is_exact = first.a.kind in _EXACT_KINDS and second.a.kind in _EXACT_KINDS
    return not (case.a.verb and case.b.verb) and not is_exact


def _denies_another(case: Case) -> bool:
    """Return whether both have a negation, but before different words."""
    if case.found.opposed:
        return False
    left, right = _find_denied(case.a.text), _find_denied(case.b.text)
    return bool(left) and bool(right) and left != right


def _find_denied(text: str) -> list[str]:
    tokens = [token for token in tokenise(normalise(text)) if token.kind != "symbol"]
    found = []
    following = ""  # the next word that may be denied, seen from the end
    for token in reversed(tokens):
        if token.lower in _NEGATORS:
            found.append(following)
        elif token.lower not in _UNDENIED:
            following = concept_of(token.lower)
    return sorted(found)


def _is_led_by_another(case: Case) -> bool:
    """Return True for "left Ben" and "left with Ben": another preposition after the same verb."""
    if not case.a.verb or case.a.verb != case.b.verb:
        return False
    left, right = _behind_verb(case.a), _behind_verb(case.b)
    if left is None or right is None or left.prep == right.prep:
        return False
    led = {left.prep, right.prep}
    if led <= _INSIDE or (is_product(left.key) and led <= RUNNING):
        return False
    return any(pair.a is left and pair.b is right for pair in case.found.same)


def _behind_verb(claim: Claim) -> Term | None:
    is_behind = False
    for term in claim.terms:
        if is_behind and term.region == "predicate":
            return term
        is_behind = is_behind or term.is_verb
    return None


def _form_differs(a: str, b: str) -> bool:
    """Return True for "stopped to take", "stopped taking"; "ready to eat", "to be eaten"."""
    if len(_TO_BE.findall(a)) != len(_TO_BE.findall(b)):
        return True
    to_a, ing_a = _verbs(_TO_VERB, a), _verbs(_GERUND, a)
    to_b, ing_b = _verbs(_TO_VERB, b), _verbs(_GERUND, b)
    return bool((to_a - ing_a) & (ing_b - to_b) or (to_b - ing_b) & (ing_a - to_a))


def _verbs(pattern: re.Pattern[str], text: str) -> set[str]:
    return {concept_of(word.lower()) for word in pattern.findall(text)}


def _words(text: str) -> list[str]:
    return [
        token.text if token.kind == "symbol" else token.lower
        for token in tokenise(text)
        if token.lower not in _PLACELESS and token.text not in {".", ",", ";"}
    ]


def _is_rearranged(a: list[str], b: list[str]) -> bool:
    """Return whether the same words changed places other than as a phrase or in a list."""
    if a == b or len(a) != len(b) or Counter(a) != Counter(b):
        return False
    start = _alike(a, b)
    end = len(a) - _alike(a[::-1], b[::-1])
    left, right = a[start:end], b[start:end]
    if len(left) > _MAX_MOVED:
        return True
    for at in range(1, len(left)):
        first, second = left[:at], left[at:]
        if second + first == right and {first[0], second[0]} & _MOVABLE:
            return False
        if second[0] in _LISTING and [*second[1:], second[0], *first] == right:
            return False
    return True


def _alike(a: list[str], b: list[str]) -> int:
    """Return the length of the common beginning of two lists of one length."""
    return next(i for i, (one, other) in enumerate(zip(a, b, strict=True)) if one != other)


def _owners(text: str, *, bare: bool = False) -> list[str]:
    found = (match[0].lower() for match in _OWNER.finditer(text))
    return [name.replace("'", "").removesuffix("s") if bare else name for name in found]


def _units_differ(a: str, b: str) -> bool:
    """Return True for "5MB-10MB" beside "5Mb-10Mb"."""
    left, right = _UNIT_BEHIND.findall(a), _UNIT_BEHIND.findall(b)
    if left == right or [one.lower() for one in left] != [one.lower() for one in right]:
        return False
    return [_measure(one) for one in left] != [_measure(one) for one in right]


def _measure(word: str) -> tuple[str, float] | None:
    symbol = symbol_of(word, attached=True)
    return (symbol.unit, symbol.factor) if symbol else None
