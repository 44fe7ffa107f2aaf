"""Ambiguities: two claims that look current disagree, and nothing settles it."""

from __future__ import annotations

from typing import Final

from conflicts.core import apart
from conflicts.core.comparable import is_comparable, is_less_trusted, is_real
from conflicts.core.cues import Cue
from conflicts.core.rules import one_sentence
from conflicts.core.rules.pair import Clash, FactPair
from conflicts.core.rules.registry import OTHER_WORDS
from conflicts.core.timeline import Timeline
from conflicts.core.topic_words import named_stems
from memories.core import claims

MIN_COSINE: Final = 0.45
MIN_ACROSS_WEIGHT: Final = 2.5
SETTLING_COSINE: Final = 0.60
MIN_SLOT_WEIGHT: Final = 1.5
_NO_STANDING_CLAIM: Final = (Cue.TEMPORARY, Cue.PAST, Cue.EVENT, Cue.PROGRESS, Cue.SWITCH)
_SETTLES: Final = (Cue.SETTLE, Cue.SWITCH, Cue.ADJUST, Cue.RETURN, Cue.AGAIN)
_MOVES_ON: Final = (
    Cue.SWITCH,
    Cue.ADJUST,
    Cue.RETURN,
    Cue.AGAIN,
    Cue.SETTLE,
    Cue.EVENT,
    Cue.PROGRESS,
    Cue.TEMPORARY,
    Cue.PAST,
)


def find_clash(timeline: Timeline, older: int, newer: int) -> Clash | None:
    """Return the contradiction of two facts about the same thing that no text settles.

    An announced change settles it, unless its author is less trusted than the older fact: then it
    is a contradiction if claim comparison says so.
    """
    if timeline.cosine(older, newer) < MIN_COSINE:
        return None
    a, b = timeline.statements[older], timeline.statements[newer]
    announces = timeline.has_cue(newer, *_MOVES_ON)
    is_doubtful = timeline.has_cue(newer, *_SETTLES) and is_less_trusted(b, a)
    if (announces and not is_doubtful) or a.has(*_NO_STANDING_CLAIM) or not is_comparable(a, b):
        return None
    # Two scopes have to name what they have in common: "open on Sunday" may be said of any shop.
    shared = timeline.overlap(a.stems & b.stems)
    if a.fact.scope != b.fact.scope and shared < MIN_ACROSS_WEIGHT:
        return None
    if apart.are_apart(a, b) or apart.is_about_other(a, b):
        return None
    pair = FactPair(timeline, older, newer, claims.compare(a.reading, b.reading))
    clash = one_sentence.find(pair)
    # What makes one claim in other words holds no opposite: "excludes" and "does not include".
    if clash is None and not announces and pair.comparison.relation != "same":
        clash = _in_other_words(pair)
    if clash is None or _is_settled(timeline, older, newer):
        return None
    return clash


def _in_other_words(pair: FactPair) -> Clash | None:
    """Ask the rules for other words in their order; the first that finds something decides."""
    a, b = pair.a, pair.b
    if a.has(Cue.ADJUST, Cue.END) or b.has(Cue.END):
        return None
    if apart.is_other_part(a, b) or apart.is_narrowed(a, b) or apart.is_other_name(a, b):
        return None
    return next((clash for find in OTHER_WORDS if (clash := find(pair))), None)


def _is_settled(timeline: Timeline, older: int, newer: int) -> bool:
    """Return whether a later fact on the same subject decides, corrects or announces a change."""
    a, b = timeline.statements[older], timeline.statements[newer]
    slot = a.stems & b.stems
    attribute = slot - named_stems(a.fact.content) - named_stems(b.fact.content)
    for i in sorted({*timeline.neighbours(older), *timeline.neighbours(newer)}):
        if i <= older or i == newer or not timeline.has_cue(i, *_SETTLES):
            continue
        other = timeline.statements[i]
        if is_less_trusted(other, a):
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
