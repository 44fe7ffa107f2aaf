"""Decide by their texts alone whether two sentences name two different things.

A name is any word that is neither a value nor a verb: "Etna", "tenant acme", "room 101", "ORD-17",
"the gold plan". A number is a value, unless it follows a noun as a label ("building 3", "ticket
#5").
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Final

from memories.core.alignment import TermPair, kinds_of
from memories.core.cases import Case, build_case, is_agent_slot
from memories.core.claim_types import VALUE_KINDS, Claim, Term
from memories.core.claims import compare
from memories.core.lexicon import concept_of, opposites_of
from memories.core.reading import read_cached
from memories.core.topic_words import MEASURES

MAX_TOKENS: Final = 60
MIN_COMMON_SHARE: Final = 0.5
MAX_SLOTS: Final = 4
_TOKEN: Final = re.compile(r"[^\W_][\w'’.:/-]{0,60}(?<![.:/'’-])|[^\W_]")
_POSSESSIVE: Final = re.compile(r"['’]s?$")
_NAMING: Final = frozenset({"name", "label"})
_ABOUT: Final = frozenset({"subject", "condition"})


def is_sentence(text: str) -> bool:
    """Return whether a text has the length of a sentence or two."""
    return 0 < len(_TOKEN.findall(text)) <= MAX_TOKENS


def name_other_things(a: str, b: str) -> bool:
    """Return whether two sentences name two things without contradicting each other; symmetric."""
    found = slots_of(a, b)
    slots = [slot for slot in found or () if _has_content(slot)]
    is_named = False
    if len(slots) == 1:
        is_named = _is_led_to_a_value(a, slots[0])
        if is_named and _is_of_an_item(slots[0]):
            return True
    else:
        is_named = any(map(_is_name, slots))
    is_named = is_named or _have_other_subjects(a, b, is_one_frame=found is not None)
    return is_named and compare(a, b).relation == "different"


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a sentence and its index term; None for a word such as "the"."""

    text: str
    term: Term | None
    follows_noun: bool = False  # "tank alpha", "building 3"
    is_led: bool = False  # by a noun or a preposition, or it leads to a noun: "the gold plan"


@dataclass(frozen=True, slots=True)
class Slot:
    """The words in one place of a sentence, as either text fills it."""

    mine: tuple[Word, ...]
    theirs: tuple[Word, ...]
    is_first: bool  # where a capital letter does not mark a name


def slots_of(a: str, b: str) -> list[Slot] | None:
    """Return where two texts fill one sentence otherwise; None when they are two sentences."""
    mine, theirs = _words_of(a), _words_of(b)
    left, right = _keys_of(a), _keys_of(b)
    if right < left:  # the matcher is not symmetric
        mine, theirs, left, right = theirs, mine, right, left
    steps = SequenceMatcher(None, left, right, autojunk=False).get_opcodes()
    common = sum(end - start for step, start, end, _, _ in steps if step == "equal")
    if common < MIN_COMMON_SHARE * max(len(left), len(right)):
        return None
    slots = [
        Slot(mine[i:j], theirs[k:m], is_first=i == 0)
        for step, i, j, k, m in steps
        if step == "replace"
        and not any(word in right for word in left[i:j])
        and not any(word in left for word in right[k:m])
    ]
    added = sum((j - i) + (m - k) for step, i, j, k, m in steps if step in {"insert", "delete"})
    return slots if len(slots) <= MAX_SLOTS and added <= 2 else None


def _key(word: str) -> str:
    return concept_of(_POSSESSIVE.sub("", word.lower()))


@lru_cache(maxsize=4096)  # of short texts only
def _keys_of(text: str) -> tuple[str, ...]:
    return tuple(_key(word.text) for word in _words_of(text))


@lru_cache(maxsize=4096)  # of short texts only
def _words_of(text: str) -> tuple[Word, ...]:
    """Return the words of a text in order, each with its term."""
    terms: dict[str, Term] = {}
    for claim in read_cached(text).claims:
        for term in claim.terms:
            for part in _TOKEN.findall(term.text):
                terms.setdefault(_POSSESSIVE.sub("", part.lower()), term)
    found = _TOKEN.findall(text)
    held = [terms.get(_POSSESSIVE.sub("", word.lower())) for word in found]
    around = zip([None, *held], held, [*held[1:], None], strict=False)
    return tuple(
        Word(
            word,
            term,
            follows_noun=_is_noun(before),
            is_led=bool(term and term.prep) or _is_noun(before) or _is_noun(after),
        )
        for word, (before, term, after) in zip(found, around, strict=True)
    )


def _is_noun(term: Term | None) -> bool:
    return term is not None and term.kind == "word" and not term.is_verb and term.weight == 1


def _has_content(slot: Slot) -> bool:
    """Return whether more than a verb or a preposition differs: "are stored on", "is kept in"."""
    return any(word.term and not word.term.is_verb for word in (*slot.mine, *slot.theirs))


def _is_name(slot: Slot) -> bool:
    """Return whether both sides are names, and not two members of one known kind."""
    if slot.is_first and len(slot.mine) != len(slot.theirs):
        return False
    mine, theirs = ([word for word in words if word.term] for words in (slot.mine, slot.theirs))
    if not (mine and theirs and all(map(_names, (*mine, *theirs)))):
        return False
    left, right = ([_key(word.text) for word in words] for words in (mine, theirs))
    if all(map(_qualifies_subject, (mine[-1], theirs[-1]))):  # "the limit of the blue room"
        return True
    return not (_share_kind(left, right) or _are_opposed(left, right))


def _qualifies_subject(word: Word) -> bool:
    return word.is_led and word.term is not None and word.term.region in _ABOUT


def _names(word: Word) -> bool:
    """Return whether a word may name a sentence's subject, rather than describe it."""
    term = word.term
    if term is None or _key(word.text) in MEASURES:
        return False
    if term.kind in _NAMING:
        return True
    if term.quantity is not None:
        is_bare = term.quantity.unit == "count" and not term.quantity.noun
        return is_bare and word.follows_noun and term.text.isdigit()
    if term.region not in _ABOUT and term.key.startswith("ordinal "):  # "the first of the month"
        return False
    is_about = term.region in _ABOUT or word.is_led
    return (_is_noun(term) and is_about) or (term.kind == "word" and word.text[0].isupper())


def _share_kind(mine: Sequence[str], theirs: Sequence[str]) -> bool:
    """Return whether two names are of one kind from which a text chooses: two databases."""
    return not kinds_of(mine[-1]).isdisjoint(kinds_of(theirs[-1]))


def _are_opposed(mine: Sequence[str], theirs: Sequence[str]) -> bool:
    """Return whether a word of one side excludes one of the other: "on" and "off"."""
    return any(not opposites_of(key).isdisjoint(theirs) for key in mine)


def _have_other_subjects(a: str, b: str, *, is_one_frame: bool) -> bool:
    """Return whether two claims have different subjects: "tank of Etna", "order 7712".

    Between differently worded subjects only names count; a common word may be a synonym.
    """
    one, other = read_cached(a).claims, read_cached(b).claims
    if len(one) != 1 or len(other) != 1:
        return False
    case = build_case(one[0], other[0])
    if is_agent_slot(case):
        return False
    if any(_are_two_labels(pair) for pair in case.found.clashes):
        return True
    is_one_frame = is_one_frame or _is_one_frame(case)
    kinds = {*_NAMING, "word"} if is_one_frame else {"name"}
    mine, theirs = (
        [term for term in left if term.region in _ABOUT and term.kind in kinds]
        for left in (case.left_a, case.left_b)
    )
    left, right = ([term.key for term in terms] for terms in (mine, theirs))
    if not (mine and theirs) or _share_kind(left, right) or _are_opposed(left, right):
        return False
    return any(_is_of_subject(pair) for pair in case.found.same) or (
        is_one_frame and _gives_a_value(one[0]) and _gives_a_value(other[0])
    )


def _is_one_frame(case: Case) -> bool:
    """Return whether two claims are equal except for subject and value."""
    left = case.left_a + case.left_b
    return case.a.verb == case.b.verb and all(term.region in _ABOUT for term in left)


def _are_two_labels(pair: TermPair) -> bool:
    """Return whether two members of a kind are the subjects of the claims: "room 101"."""
    return pair.a.kind == pair.b.kind == "label" and {pair.a.region, pair.b.region} <= _ABOUT


def _is_of_subject(pair: TermPair) -> bool:
    return {pair.a.region, pair.b.region} <= _ABOUT and pair.a.weight == 1


def _gives_a_value(claim: Claim) -> bool:
    """Return whether a claim gives a thing a value, rather than reporting what the thing does.

    Nothing is known of "Ana writes the report": whether it is about Ana or about the report.
    """
    return any(term.region == "predicate" and _is_value(term, claim) for term in claim.terms)


def _is_value(term: Term, claim: Claim) -> bool:
    is_agent = bool(claim.agent_prep) and term.prep == claim.agent_prep
    is_given = bool(term.prep) or any(map(str.isdigit, term.text))  # not "the weekly report"
    return (term.kind in VALUE_KINDS and is_given) or is_agent or bool(kinds_of(term.key))


def _is_led_to_a_value(a: str, slot: Slot) -> bool:
    """Return whether the texts name a thing differently before they give the same value.

    "We fill the tank at Etna to 10 litres", and the one at Ural. What stands behind the value may
    be the answer: "We meet at 9:00 in the green room".
    """
    named = {*slot.mine, *slot.theirs}
    if not _is_name(slot) or any(word.term and word.term.region in _ABOUT for word in named):
        return False
    words = _words_of(a)
    places = [i for i, word in enumerate(words) if word in named]
    values = [
        i for i, word in enumerate(words) if word.term and word.term.kind in VALUE_KINDS - _NAMING
    ]
    return bool(places and values) and places[-1] < values[0]


def _is_of_an_item(slot: Slot) -> bool:
    """Return whether both texts name a numbered item: "the tank of room 101"."""
    terms = [word.term for word in (*slot.mine, *slot.theirs)]
    return all(term and term.kind == "label" and term.prep in ("of", "for") for term in terms)
