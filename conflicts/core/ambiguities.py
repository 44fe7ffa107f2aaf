"""Ambiguities: two claims that look current disagree, and nothing settles it."""

from __future__ import annotations

from typing import Final

from conflicts.core import apart
from conflicts.core.comparable import (
    is_less_trusted,
    is_real,
    may_be_of_one_thing,
    scope_words,
)
from conflicts.core.conditions import are_under_conditions
from conflicts.core.cues import PASSING, SETTLES, Cue
from conflicts.core.rules import one_sentence
from conflicts.core.rules.other_things import are_of_other_things
from conflicts.core.rules.pair import Clash, FactPair
from conflicts.core.rules.registry import NAMES_DIFFER, OTHER_WORDS
from conflicts.core.settled import is_settled
from conflicts.core.statements import Statement
from conflicts.core.timeline import Timeline
from memories.core import claims
from memories.core.partial import is_of_part
from memories.core.slots import slot_of
from memories.core.topics import other_names

MIN_COSINE: Final = 0.45
MIN_ACROSS_WEIGHT: Final = 2.5
NAMED_WEIGHT: Final = 1.5  # of what the scope of one text and the words of the other name
SURE_COSINE: Final = 0.70
MIN_SURE_NEARNESS: Final = 0.65  # below the cosine, for what claim comparison is sure of
SURE_CONFIDENCE: Final = 0.85
_NO_STANDING_CLAIM: Final = (*PASSING, Cue.PAST, Cue.SWITCH)
_CHANGES: Final = frozenset(SETTLES) | {Cue.END}
_MOVES_ON: Final = (*SETTLES, *PASSING, Cue.PAST)


def find_clash(timeline: Timeline, older: int, newer: int) -> Clash | None:
    """Return the contradiction of two facts about the same thing that no text settles.

    An announced change settles it, unless its author is less trusted than the older fact: then it
    is a contradiction if claim comparison says so.
    """
    a, b = timeline.statements[older], timeline.statements[newer]
    is_near = timeline.cosine(older, newer) >= MIN_COSINE
    # Two names for one role make up much of a short sentence: the vectors may be far apart.
    shares_much = is_near or timeline.nearness(older, newer) >= MIN_SURE_NEARNESS
    if not shares_much or not _may_clash(timeline, a, b):
        return None
    announces = timeline.has_cue(newer, *_MOVES_ON)
    is_doubtful = timeline.has_cue(newer, *SETTLES) and is_less_trusted(b, a)
    is_standing = is_real(a) and is_real(b) and not a.has(*_NO_STANDING_CLAIM)
    if not is_standing or (announces and not is_doubtful):
        if not _is_sure(timeline, older, newer):
            return None
        announces = False
    pair = FactPair(timeline, older, newer, claims.compare(a.reading, b.reading))
    if not is_near and pair.comparison.confidence < SURE_CONFIDENCE:
        return None
    clash = one_sentence.find(pair)
    # What makes one claim in other words holds no opposite: "excludes" and "does not include".
    if clash is None and is_near and not announces and pair.comparison.relation != "same":
        clash = _in_other_words(pair)
    if clash is None or is_settled(timeline, older, newer):
        return None
    return clash


def _may_clash(timeline: Timeline, a: Statement, b: Statement) -> bool:
    """Return whether two statements may be about one thing in one case.

    Two scopes have to name what they have in common: "open on Sunday" may be said of any shop. What
    a scope names and the other text says, they have in common.
    """
    if not may_be_of_one_thing(a, b) or apart.are_apart(a, b) or apart.is_about_other(a, b):
        return False
    named = (scope_words(a.fact) & b.stems) | (scope_words(b.fact) & a.stems)
    shared = timeline.overlap((a.stems & b.stems) | named) + (NAMED_WEIGHT if named else 0)
    return a.fact.scope == b.fact.scope or shared >= MIN_ACROSS_WEIGHT


def _is_sure(timeline: Timeline, older: int, newer: int) -> bool:
    """Return whether two facts fill one sentence with values that exclude each other.

    A word that both of them use announces nothing, and neither does the mood of a statement
    ("Draft invoices are kept for 30 days"); only a change that the newer one alone tells does, and
    an interim that one of them is.
    """
    a, b = timeline.statements[older], timeline.statements[newer]
    is_told = (b.cues - a.cues) & _CHANGES or Cue.TEMPORARY in a.cues ^ b.cues
    if timeline.cosine(older, newer) < SURE_COSINE or is_told:
        return False
    if not (a.states_fact and b.states_fact):
        return False
    has_moved = a.has(*SETTLES, Cue.EVENT) or b.has(Cue.EVENT)
    if has_moved and not _give_one_attribute(a, b):
        return False
    found = claims.compare(a.reading, b.reading)
    return found.relation == "contradicts" and found.confidence >= SURE_CONFIDENCE


def _give_one_attribute(a: Statement, b: Statement) -> bool:
    """Return whether both give an attribute of a thing, with the same cues: "effective date"."""
    left, right = slot_of(a.fact.content), slot_of(b.fact.content)
    if left is None or right is None or a.cues != b.cues:
        return False
    return (left.thing, left.attribute) == (right.thing, right.attribute)


def _in_other_words(pair: FactPair) -> Clash | None:
    """Ask the rules for other words in their order; the first that finds something decides."""
    a, b = pair.a, pair.b
    if a.has(Cue.ADJUST, Cue.END) or b.has(Cue.END) or any(map(is_of_part, pair.texts)):
        return None
    if pair.is_of_other_thing or apart.is_other_activity(a, b) or are_under_conditions(a, b):
        return None
    if apart.is_other_part(a, b) or apart.is_narrowed(a, b) or apart.is_other_name(a, b):
        return None
    are_named_apart = other_names(a.reading, b.reading) or are_of_other_things(pair)
    rules = NAMES_DIFFER if are_named_apart else OTHER_WORDS
    return next((clash for find in rules if (clash := find(pair))), None)
