"""Decide whether a later fact settles which of two contradicting facts holds."""

from __future__ import annotations

from typing import Final

from conflicts.core.comparable import is_less_trusted, is_real
from conflicts.core.cues import SETTLES
from conflicts.core.statements import Statement
from conflicts.core.timeline import Timeline
from memories.core.answer_values import compare_values, mentions
from memories.core.slot_comparison import are_other_slots
from memories.core.slots import slot_of
from memories.core.topic_words import named_stems

MIN_COSINE: Final = 0.45
SETTLING_COSINE: Final = 0.60
MIN_SLOT_WEIGHT: Final = 1.5


def _names_predecessor(timeline: Timeline, older: int, newer: int) -> bool:
    """Return whether an answer of the newer fact replaces what the older fact states.

    Each text makes one claim. The older one has the answer that it was, the newer one the answer
    now, and neither has both. The word of a writer who is less trusted replaces nothing.
    """
    a, b = timeline.statements[older], timeline.statements[newer]
    old, new = a.fact, b.fact
    if is_less_trusted(b, a) or len(a.reading.claims) != 1 or len(b.reading.claims) != 1:
        return False
    return any(
        one.was is not None
        and named_stems(one.question) <= b.stems
        and compare_values(one.was, one.answer) != "same"
        and mentions(old.content, one.was)
        and mentions(new.content, one.answer)
        and not mentions(old.content, one.answer)
        and not mentions(new.content, one.was)
        for one in new.answers
    )


def _is_of_other_thing(one: Statement, other: Statement) -> bool:
    """Return whether both give an attribute of a thing with a name, and the things differ."""
    left, right = slot_of(one.fact.content), slot_of(other.fact.content)
    return bool(left and right and are_other_slots(left, right))


def is_settled(timeline: Timeline, older: int, newer: int) -> bool:
    """Return whether a later fact on the same subject decides, corrects or announces a change.

    So does what the newer fact answers, where its writer says what it was before.
    """
    if _names_predecessor(timeline, older, newer):
        return True
    a, b = timeline.statements[older], timeline.statements[newer]
    slot = a.stems & b.stems
    attribute = slot - named_stems(a.fact.content) - named_stems(b.fact.content)
    for i in sorted({*timeline.neighbours(older), *timeline.neighbours(newer)}):
        if i <= older or i == newer or not timeline.has_cue(i, *SETTLES):
            continue
        other = timeline.statements[i]
        if is_less_trusted(other, a) or _is_of_other_thing(a, other):
            continue
        cosine = max(timeline.cosine(i, older), timeline.cosine(i, newer))
        # A change of the same thing settles nothing unless it is of the matter in dispute.
        is_of_it = not attribute or bool(
            other.stems & attribute or other.values & (a.values | b.values)
        )
        is_about = timeline.overlap(other.stems & slot) >= MIN_SLOT_WEIGHT
        is_near = cosine >= SETTLING_COSINE or (cosine >= MIN_COSINE and is_about)
        if is_near and is_of_it and is_real(other):
            return True
    return False
