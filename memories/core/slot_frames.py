"""Sentence forms that name a thing, an attribute and a value.

A definite description ("the capital of X is Y", "Y is the capital of X"), a possessive ("X's
capital"), a past participle with its agent ("X was founded by Y"), and verbs with one complement at
a time ("X lives in Y", "X plays the position of Y").
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from memories.core.function_words import ADDITIVES, NEGATORS, PREPOSITIONS, words_of
from memories.core.slot_descriptions import any_thing_of, describe
from memories.core.slot_labels import frames_of_label
from memories.core.slot_leads import find_lead
from memories.core.slot_nouns import BY, ONCE, attribute_of, base_of
from memories.core.slot_types import PLACE, Frame, Thing
from memories.core.slot_verbs import MAX_ROLE, PLACED, frames_of_class, frames_of_verb
from memories.core.slot_words import (
    ARTICLES,
    NAME,
    POSSESSIVE,
    bare_thing_of,
    is_time,
    thing_of,
)
from memories.core.tokeniser import stem, stems

_COPULAS: Final = {"is": "now", "are": "now", "was": "then", "were": "then"}
_PAST_FORMS: Final = words_of("was were had")
_EVENTS: Final = frozenset(
    map(attribute_of, (["founding", "year"], ["opening", "year"], ["birth"], ["grave"]))
)
# Whom somebody has one of: "Ana is Ben's boss".
_ONE_EACH: Final = words_of(
    "boss manager wife husband spouse owner captain head leader doctor landlord employer mother"
    " father"
)
_OF_PLACES: Final = frozenset({PLACE, "headquarters"})
_TITLE_WORD: Final = re.compile(r"[A-Z][a-z'’-]+")
_RECURRING: Final = words_of(
    "audit budget certification course exam festival inspection inventory report review season"
    " survey training"
)
_ONCE_FOR_ALL: Final = stems("founded established built invented discovered created")
_HELD_OF: Final = words_of("citizen native speaker subsidiary")  # "X is a citizen of Y"
_OF_MANY: Final = words_of("a an one among some part member two three several many")


def frames_of(words: Sequence[str]) -> Iterator[Frame]:
    """Yield the readings of a sentence, the likeliest first."""
    if not (NEGATORS | ADDITIVES).isdisjoint(word.lower() for word in words):
        return
    if lead := find_lead(words):
        attribute, end, value, stop = lead
        if _is_title(words[:end]) or not describe(words[:end]):
            tense = "now" if _PAST_FORMS.isdisjoint(words[end:value]) else "then"
            when = "" if attribute in _EVENTS else tense
            yield Frame(attribute, any_thing_of(words[:end]), words[value:stop], when)
    copulas = [at for at, word in enumerate(words) if word in _COPULAS]
    for at in reversed(copulas):
        if 0 < at < len(words) - 1:
            yield from _of_copula(words[:at], words[at + 1 :], _COPULAS[words[at]])
    if not copulas:
        yield from frames_of_verb(words)


def _of_copula(left: Sequence[str], right: Sequence[str], when: str) -> Iterator[Frame]:
    """Read "the capital of X is Y", "Y is the capital of X", "X was founded by Y"."""
    # "The film Midnight at Lock Nine was directed by X"
    if len(right) > 2 and (right[1] == "by" or stem(right[0]) in ONCE):
        yield from _of_participle(any_thing_of(left), right[0], right[1], right[2:])
    described = None if _is_title(left) and describe(right) else describe(left)
    if described:
        value = _without_place(right)
        # "The guide of the depot is in French" gives no attribute.
        if described[1].is_named or len(value) == len(right):
            yield _frame(described, value, when)
        return
    is_definite = right[0].lower() == "the" or (
        right[-1] in _ONE_EACH and any(map(POSSESSIVE.search, right))
    )
    if is_definite and (described := describe(right)):
        yield _frame(described, _uncapitalised(left), when)
    elif right[0] == "in":
        yield Frame(PLACE, any_thing_of(left), right[1:], when)
    elif len(right) > 3 and right[0] in ("a", "an") and "of" in right[2:-1]:
        of = right.index("of", 2)
        if right[of - 1] in _HELD_OF:
            yield Frame(attribute_of(right[1:of]), thing_of(left), right[of + 1 :], when)
    elif _is_role(right) and (described := describe(["the", *right])):
        yield _frame(described, left, when)
    elif len(right) > 2:
        yield from frames_of_label(any_thing_of(left), right)
        yield from _of_participle(any_thing_of(left), right[0], right[1], right[2:])
        yield from frames_of_class(bare_thing_of(left), right)


def _is_title(words: Sequence[str]) -> bool:
    """Return whether a definite phrase with "of" is a name: "the House of Averne"."""
    of = words.index("of") if "of" in words else 0
    return of > 1 and all(map(_TITLE_WORD.fullmatch, words[1:of]))


def _without_place(words: Sequence[str]) -> Sequence[str]:
    """Return a value without what leads to a place: "located in", "at"."""
    if words[0] in PLACED and PLACED[words[0]][1] in _OF_PLACES and words[1:2] == ["in"]:
        return words[2:]
    return words[1:] if words[0] in ("in", "at", "on") else words


def _uncapitalised(words: Sequence[str]) -> Sequence[str]:
    """Return words from the start of a sentence: "Dark green" is no name, "Dark Harbour" is."""
    is_plain = (
        len(words) > 1
        and not words[0].isupper()
        and all(word.islower() and word.isalpha() for word in words[1:])
    )
    return [words[0].lower(), *words[1:]] if is_plain else words


def _frame(described: tuple[str, Thing], value: Sequence[str], when: str) -> Frame:
    attribute, thing = described
    return Frame(attribute, thing, value, when)


def _is_role(words: Sequence[str]) -> bool:
    """Return whether words begin with a role that one person has: "head coach of the Rovers"."""
    role = words[: words.index("of")] if "of" in words else []
    return (
        0 < len(role) <= MAX_ROLE
        and all(word.isalpha() and word.islower() for word in role)
        and role[0] not in PREPOSITIONS
        and _OF_MANY.isdisjoint(role)
        and not role[-1].endswith(("ed", "s"))
    )


def _of_participle(
    thing: Thing, participle: str, preposition: str, rest: Sequence[str]
) -> Iterator[Frame]:
    placed, said = PLACED.get(participle, ("", ""))
    if preposition == "by" and stem(participle) in BY:
        role, name = _role_before_name(rest)
        yield Frame(role or f"by {base_of(participle)}", thing, name)
    elif placed == preposition:
        yield Frame(said, thing, rest)
    elif preposition in ("in", "on") and stem(participle) in ONCE and is_time(rest):
        is_one = thing.is_named and thing.noun not in _RECURRING
        if is_one or stem(participle) in _ONCE_FOR_ALL:  # a budget is passed every year
            yield Frame(stem(participle), thing, rest)
    else:
        yield from frames_of_class(thing, [participle, preposition, *rest])


def _role_before_name(words: Sequence[str]) -> tuple[str, Sequence[str]]:
    """Return the role and the name in "led by principal Ana Kolb"; "" where no role is named."""
    names = [at for at, word in enumerate(words) if NAME.fullmatch(word)]
    if len(names) > 1 and words[names[0]].isupper() and len(words[names[0]]) > 2:  # "CEO Ana Kolb"
        names = names[1:]
    start = names[0] if names else 0
    role = [word for word in words[:start] if word.lower() not in ARTICLES]
    return (attribute_of(role), words[start:]) if role and len(role) <= 2 else ("", words)
