"""Compare what two statements say of a thing: of one thing or two, and whether values exclude."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import product
from typing import Final

from memories.core.function_words import words_of
from memories.core.measures import Quantity, conflict
from memories.core.slot_nouns import attribute_of
from memories.core.slot_types import Slot, Thing
from memories.core.units import unit_of
from memories.core.value_likeness import are_of_other_kinds, may_both_hold

_OF_PEOPLE: Final = frozenset(
    map(attribute_of, (["birth"], ["death"], ["residence"], ["spouse"], ["grave"], ["citizenship"],
                       ["native", "language"], ["employer"], ["mother"], ["father"]))
)  # fmt: skip
# "Seats 12" is of people.
_OF_PEOPLE_COUNTED: Final = words_of("people persons guests seats pupils students passengers")
_DECIMAL: Final = re.compile(r"\d{1,15}(?:\.\d{1,15})?")
_MUTUAL: Final = "spouse"


def are_other_slots(left: Slot, right: Slot) -> bool:
    """Return whether two slots are of two things, or of two attributes of one thing.

    Things without a name may be one in other words.
    """
    if not (left.named.is_named and right.named.is_named):
        return False
    if are_other_things(left, right):
        return True
    return left.thing == right.thing and left.attribute != right.attribute


def are_other_things(left: Slot, right: Slot) -> bool:
    """Return whether two names are of two things: "room 12", "room 14"; "Quarrel", "Quarrel CLI".

    Of a person the short name may be meant: "Priya", "Priya Nair".
    """
    if left.thing == right.thing:
        return _nouns_differ(left, right)
    is_part = left.thing <= right.thing or right.thing <= left.thing
    return not is_part or left.attribute not in _OF_PEOPLE


def _nouns_differ(left: Slot, right: Slot) -> bool:
    """Return whether things of one name are classed by two nouns: "the Tol tower", "Tol bridge"."""
    nouns = {left.named.noun, right.named.noun} - {""}
    return len(nouns) > 1


def are_exclusive(left: Slot, right: Slot) -> bool:
    """Return whether two slots give one attribute of one thing different values."""
    if left.thing != right.thing or left.attribute != right.attribute:
        return False
    if _nouns_differ(left, right) or not _are_comparable(left, right):
        return False
    return not (may_both_hold(left, right) or _may_be_one_amount(left, right))


def why_both_hold(left: Slot, right: Slot) -> str:
    """Return why two values of one attribute of a thing may both hold, "" where nothing says so."""
    if left.thing != right.thing or left.attribute != right.attribute:
        return ""
    if left.value <= right.value or right.value <= left.value:
        return ""  # one may be more exact
    if {left.when, right.when} == {"now", "then"}:
        return "one says what was"
    if _units_differ(left, right) or are_of_other_kinds(left, right):
        return "values of other kinds"
    is_like = _are_comparable(left, right) and may_both_hold(left, right)
    return "two words that may mean one value" if is_like else ""


def _are_comparable(left: Slot, right: Slot) -> bool:
    """Return whether two values are of one kind, time, sort and unit."""
    kinds = {left.kind, right.kind}
    are_classed = bool(left.sort) and left.sort == right.sort  # "the sport of tennis"
    is_nouns = kinds == {"name", "plain"} and are_classed
    if len(kinds) > 1 and kinds != {"number", "code"} and not is_nouns:
        return False
    if {left.when, right.when} == {"now", "then"} or len({left.sort, right.sort} - {""}) > 1:
        return False
    return not _units_differ(left, right) and not are_of_other_kinds(left, right)


def _units_differ(left: Slot, right: Slot) -> bool:
    units = {"" if unit in _OF_PEOPLE_COUNTED else unit for unit in (left.unit, right.unit)}
    if len(units) == 1:
        return False
    one, other = _quantity_of(left), _quantity_of(right)
    return one is None or other is None or one.unit != other.unit


def _may_be_one_amount(left: Slot, right: Slot) -> bool:
    """Return whether two amounts are one in other units: "150 EUR", "150 euros"."""
    one, other = _quantity_of(left), _quantity_of(right)
    return bool(one and other and not conflict(one, other))


def _quantity_of(slot: Slot) -> Quantity | None:
    """Return the amount that a value is, None without a known unit."""
    found = unit_of(slot.unit) if slot.unit else None
    number = next(iter(slot.value), "")
    if found is None or not _DECIMAL.fullmatch(number):
        return None
    return Quantity(float(number) * found[1], found[0], slot.written)


def align(left: Slot, right: Slot) -> tuple[Slot, Slot]:
    """Return two slots as said of one thing, where what they say holds both ways.

    "Ana is married to Ben" says of Ben what "Ben is married to Cleo" says.
    """
    if left.thing == right.thing:
        return left, right
    pairs = product((left, _turn(left)), (right, _turn(right)))
    return next((pair for pair in pairs if pair[0].thing == pair[1].thing), (left, right))


def _turn(slot: Slot) -> Slot:
    if slot.attribute != _MUTUAL or slot.kind != "name":
        return slot
    thing = Thing(slot.value, written=slot.written)
    return replace(slot, named=thing, value=slot.thing, written=slot.named.written)
