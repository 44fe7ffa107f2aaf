"""Both sides give a value to an attribute of a thing, whichever of them stands first."""

from __future__ import annotations

from itertools import product

from memories.core import states
from memories.core.cases import CaseReading, Contradiction, contradicts, different
from memories.core.claim_types import Claim
from memories.core.kept_spans import one_span_is_endless
from memories.core.slot_comparison import (
    align,
    are_exclusive,
    are_other_slots,
    are_other_things,
    why_both_hold,
)
from memories.core.slot_nouns import COUNT_OF, base_of
from memories.core.slot_types import Slot
from memories.core.slots import slot_of
from memories.core.time_zones import one_is_universal

_SURE = 0.85
# Who answers for a thing now, beside who made it.
_OF_OWNERS = frozenset(f"by {base_of(verb)}" for verb in ("own", "approve", "lead", "manage"))
_OF_NOUNS = 0.65  # two plain nouns may be two words for one value


def find(a: Claim, b: Claim) -> CaseReading | None:
    """Compare "The capital of X is Y" with "Z is the capital of X" by thing, then by value."""
    if not a.modality == b.modality == "fact":
        return None
    if one_span_is_endless(a.text, b.text):
        return contradicts("number", "kept for a span vs kept for ever", confidence=_SURE)
    if not (a.polarity and b.polarity):
        return None
    if one_is_universal(a.text, b.text):
        return contradicts("choice", "another time zone", confidence=_SURE)
    return _of_named(a.text, b.text) or _of_common(a.text, b.text)


def _of_named(a: str, b: str) -> CaseReading | None:
    """Compare what is said of named things."""
    left, right = slot_of(a), slot_of(b)
    if left is None or right is None:
        return None
    left, right = align(left, right)
    if are_other_slots(left, right):
        is_other_thing = are_other_things(left, right)
        reason = f"other subject: {_thing(left)} vs {_thing(right)}"
        return different(reason if is_other_thing else "another attribute", confidence=0.7)
    if reason := why_both_hold(left, right):
        return different(reason, confidence=0.5)
    if not are_exclusive(left, right):
        return None
    is_amount = left.kind == right.kind == "number" or left.attribute.startswith(COUNT_OF)
    what = "number differs" if is_amount else "one value at a time"
    reason = f"{what}: {left.written} vs {right.written}"
    confidence = _OF_NOUNS if left.kind == "plain" else _SURE
    return contradicts(_way_of(left), reason, confidence=confidence)


def _way_of(slot: Slot) -> Contradiction:
    if slot.attribute == "version":
        return "version"
    if slot.kind in ("number", "code"):
        return "label" if slot.sort else "number"
    return "owner" if slot.attribute in _OF_OWNERS else "one-at-a-time"


def _of_common(a: str, b: str) -> CaseReading | None:
    """Compare what is said of things without names."""
    for left, right in product(states.states_of(a), states.states_of(b)):
        if states.are_exclusive(left, right):
            reason = f"one value at a time: {left.written} vs {right.written}"
            way: Contradiction = "owner" if left.is_of_person else "one-at-a-time"
            return contradicts(way, reason, confidence=_SURE)
    return None


def _thing(slot: Slot) -> str:
    return " ".join(sorted(slot.thing))
