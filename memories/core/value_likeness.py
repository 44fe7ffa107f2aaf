"""Two values of one attribute that may both hold: "IBM" and its long name, "Lyon" and "France"."""

from __future__ import annotations

import re
from typing import Final

from memories.core import dates
from memories.core.answer_forms import compare_forms
from memories.core.country_names import COUNTRIES
from memories.core.function_words import words_of
from memories.core.lexicon import KINDS, concept_of, is_product
from memories.core.slot_types import PLACE, Slot

_TITLES: Final = words_of("mr mrs ms miss dr prof professor sir st saint captain judge sister")
# What holds things, and may itself stand in a room.
_CONTAINERS: Final = words_of(
    "cabinet cupboard drawer box chest shelf tin safe rack locker fridge freezer case bag folder"
    " bin basket hook tray jar wardrobe trunk"
)
_MATERIALS: Final = {  # what may be called by the first word
    "wood": words_of("oak pine beech walnut birch ash maple cedar teak larch boxwood bamboo"),
    "metal": words_of("steel iron copper brass bronze aluminium aluminum silver gold zinc tin"),
    "plastic": words_of("pvc nylon polycarbonate acrylic polyamide"),
    "stone": words_of("granite marble slate sandstone limestone soapstone"),
    "wool": words_of("merino cashmere"),
}
_PLACES: Final = frozenset({PLACE, "headquarters", "residence", "birth", "death", "grave"})
_PARTS: Final = re.compile(r"[\s-]+")
_INITIAL: Final = re.compile(r"[a-z]\.")
_MIN_SPELLED: Final = 7  # letters of words of which one may be another spelling


def may_both_hold(left: Slot, right: Slot) -> bool:
    """Return whether two values may be one in other words, or one may lie within the other."""
    if left.value <= right.value or right.value <= left.value:  # "Priya", "Priya Nair"
        return True
    if left.kind == "name" and right.kind == "name":
        return may_be_one_name(left.written, right.written, is_place=left.attribute in _PLACES)
    if left.kind == right.kind == "date":
        return dates.agree(next(iter(left.value)), next(iter(right.value)))
    if left.kind == right.kind == "code":
        return _may_be_one_code(left.written, right.written)
    return _may_be_one_noun(left, right)


def may_be_one_name(one: str, other: str, *, is_place: bool) -> bool:
    """Return whether two names may be of one: with a title, abbreviated, or of a place within."""
    mine, theirs = _words_of(one), _words_of(other)
    if mine and theirs and (mine <= theirs or theirs <= mine):
        return True
    if is_place and (one.lower() in COUNTRIES) != (other.lower() in COUNTRIES):
        return True
    if _are_initials(one, other) or _are_initials(other, one):
        return True
    if _abbreviates(one, other) or _abbreviates(other, one) or _are_spellings(one, other):
        return True
    return compare_forms(one, other) == "same"


def _words_of(name: str) -> frozenset[str]:
    """Return the words of a name without titles."""
    return frozenset(word.strip(".") for word in name.lower().split()) - _TITLES


def _are_initials(short: str, long: str) -> bool:
    """Return whether a name has initials for first names of the other: "J. Ferro"."""
    mine, theirs = short.lower().split(), long.lower().split()
    if min(len(mine), len(theirs)) < 2 or mine[-1] != theirs[-1]:
        return False
    return all(map(_INITIAL.fullmatch, mine[:-1])) and mine[0][0] == theirs[0][0]


def _abbreviates(short: str, long: str) -> bool:
    """Return whether letters are the first ones of the words of a name, in their order."""
    letters = short.replace(".", "").lower()
    if not short.isupper() or not 1 < len(letters) <= 6:
        return False
    initials = [word[0].lower() for word in _PARTS.split(long) if word]
    rest = iter(initials)
    return len(initials) > 1 and (
        all(letter in rest for letter in letters) or letters.startswith("".join(initials))
    )


def _are_spellings(one: str, other: str) -> bool:
    """Return whether two words differ by a letter: "aluminum", "aluminium"."""
    short, long = sorted((one.lower(), other.lower()), key=len)
    if len(short) < _MIN_SPELLED or len(long) - len(short) != 1:
        return False
    at = next((i for i, (x, y) in enumerate(zip(short, long, strict=False)) if x != y), len(short))
    return short[at:] == long[at + 1 :]


def _may_be_one_code(one: str, other: str) -> bool:
    if one.isdecimal() and other.isdecimal():
        return int(one) == int(other)
    short, long = sorted((one, other), key=len)
    return long.startswith(short) and long[len(short) :].isalpha()  # platforms 4 and 4B


def _may_be_one_noun(left: Slot, right: Slot) -> bool:
    heads = (left.written.split()[-1].lower(), right.written.split()[-1].lower())
    if left.attribute == PLACE:
        return (heads[0] in _CONTAINERS) != (heads[1] in _CONTAINERS)
    if left.attribute == "material":
        one, other = heads
        is_kind = other in _MATERIALS.get(one, ()) or one in _MATERIALS.get(other, ())
        return is_kind or _are_spellings(one, other)
    return _are_spellings(*heads)


def are_of_other_kinds(left: Slot, right: Slot) -> bool:
    """Return whether places are no two places: "in Lyon" and "in Postgres", "in French"."""
    if left.attribute != PLACE:
        return False
    return _is_software(left) != _is_software(right) or _is_of_kind(left) != _is_of_kind(right)


def _is_software(slot: Slot) -> bool:
    return any(is_product(concept_of(word)) for word in slot.value)


def _is_of_kind(slot: Slot) -> bool:
    return any(concept_of(word) in KINDS for word in slot.value)
