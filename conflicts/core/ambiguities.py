"""Ambiguities: two claims that look current disagree, and nothing settles it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from conflicts.core import disagreements
from conflicts.core.absence import absent_stems
from conflicts.core.conditions import are_day_parts, are_parted
from conflicts.core.cues import Cue
from conflicts.core.rules import is_comparable, is_less_trusted, is_real
from conflicts.core.statements import Statement
from conflicts.core.timeline import Timeline
from conflicts.core.topic_words import named_stems
from memories.core import claims
from memories.core.exclusions import find_exclusion
from memories.core.frames import other_filler, other_name, people
from memories.core.precedence import other_winner

MIN_CONFIDENCE: Final = 0.5
PLAIN_CONFIDENCE: Final = 0.6
PLAIN_COSINE: Final = 0.60
MIN_COSINE: Final = 0.45
VALUE_STRENGTH: Final = 0.70
OPPOSITE_STRENGTH: Final = 0.65
DENIAL_STRENGTH: Final = 0.60
# Few words in common want close vectors, and the other way round.
WEIGHT_FOR_COSINE: Final = 0.08
MAX_WEIGHED: Final = 8.0
MIN_NEARNESS: Final = 0.80
MIN_WAYS_WEIGHT: Final = 2.9
MIN_SLOT_FRAME_WEIGHT: Final = 1.9
MIN_SLOT_NEARNESS: Final = 0.76
MIN_ACROSS_WEIGHT: Final = 2.5
MIN_COMPARED_WEIGHT: Final = 3.0
SURE_COSINE: Final = 0.70
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


_OTHER_SUBJECT: Final = "other subject"  # how a reason of claim comparison begins
_NEGATED: Final = "one side is negated"  # a reason of claim comparison
_DENIED: Final = "one side denies "  # how another begins


@dataclass(frozen=True, slots=True)
class Clash:
    """Positions of two disagreeing facts and why they disagree."""

    older: int
    newer: int
    reasons: tuple[str, ...]
    strength: float


def find_clash(timeline: Timeline, older: int, newer: int) -> Clash | None:
    """Judge whether two facts disagree about the same thing with nothing to settle it.

    A change that is announced settles the matter, unless whoever announces it is less trusted than
    the older fact: then a person is asked whether it holds, if claim comparison contradicts.
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
    if disagreements.are_apart(a, b) or disagreements.is_about_other(a, b):
        return None
    verdict = claims.compare(a.reading, b.reading)
    clash = _compared(timeline, older, newer, verdict)
    # What makes one claim in other words holds no opposite: "excludes" and "does not include".
    if clash is None and not announces and verdict.relation != "same":
        clash = _disagreeing(timeline, older, newer, of_other_subject=_of_other_subject(verdict))
    if clash is None or _is_settled(timeline, older, newer):
        return None
    return clash


def _compared(
    timeline: Timeline, older: int, newer: int, verdict: claims.Comparison
) -> Clash | None:
    """Weigh what claim comparison says, which reads both texts as statements of one frame."""
    a, b = timeline.statements[older], timeline.statements[newer]
    if verdict.relation != "contradicts" or verdict.confidence < MIN_CONFIDENCE:
        return None
    if _NEGATED in verdict.reasons and are_parted(a, b):
        return None
    if verdict.reasons[0].startswith(_DENIED) and absent_stems(a) & absent_stems(b):
        return None  # the other denies it, too: "excludes VAT" and "is without VAT"
    clash = Clash(older, newer, verdict.reasons, min(0.95, verdict.confidence))
    is_near = timeline.cosine(older, newer) >= PLAIN_COSINE
    if is_near and verdict.confidence >= PLAIN_CONFIDENCE and _is_plain(a) and _is_plain(b):
        return clash
    shared = timeline.overlap(a.stems & b.stems)
    if shared < MIN_COMPARED_WEIGHT and timeline.cosine(older, newer) < SURE_COSINE:
        return None
    return clash


def _is_plain(statement: Statement) -> bool:
    """Whether a text says one thing and denies no word in passing, so that nothing else counts."""
    found = statement.reading.claims
    return len(found) == 1 and not any(term.is_denied for term in found[0].terms)


def _of_other_subject(verdict: claims.Comparison) -> bool:
    """Whether claim comparison found one sentence of two subjects: "Kafka is…", "Redis is…"."""
    return verdict.reasons[0].startswith(_OTHER_SUBJECT)


def _disagreeing(
    timeline: Timeline, older: int, newer: int, *, of_other_subject: bool
) -> Clash | None:
    """Set values, opposite words and denials of two near texts against each other.

    Of two subjects, other names and kinds exclude nothing: they are what the subjects are called.
    """
    a, b = timeline.statements[older], timeline.statements[newer]
    if a.has(Cue.ADJUST, Cue.END) or b.has(Cue.END):
        return None
    if disagreements.is_other_part(a, b) or disagreements.is_narrowed(a, b):
        return None
    if disagreements.is_other_name(a, b):
        return None
    value = disagreements.differing_value(a, b, timeline.cosine(older, newer))
    if value:
        return Clash(older, newer, (f"other value: {value}",), VALUE_STRENGTH)
    names_exclude = not of_other_subject
    return _filled_otherwise(timeline, older, newer, names_exclude=names_exclude) or _excluding(
        timeline, older, newer, kinds_exclude=names_exclude
    )


def _filled_otherwise(
    timeline: Timeline, older: int, newer: int, *, names_exclude: bool
) -> Clash | None:
    """Look for one slot that the texts fill with other people or names: who approves what."""
    a, b = timeline.statements[older], timeline.statements[newer]
    shared = timeline.overlap(a.stems & b.stems)
    nearness = timeline.cosine(older, newer) + WEIGHT_FOR_COSINE * min(shared, MAX_WEIGHED)
    if nearness < MIN_SLOT_NEARNESS or shared < MIN_SLOT_FRAME_WEIGHT:
        return None
    texts = (a.fact.content, b.fact.content)
    filled = other_filler(*texts) or other_winner(*texts)
    if not filled and names_exclude and not disagreements.is_other_head(a, b):
        filled = other_name(*texts)
    return Clash(older, newer, (filled,), OPPOSITE_STRENGTH) if filled else None


def _excluding(timeline: Timeline, older: int, newer: int, *, kinds_exclude: bool) -> Clash | None:
    """Look for excluding ways, choices and words where two texts share enough."""
    a, b = timeline.statements[older], timeline.statements[newer]
    shared = timeline.overlap(a.stems & b.stems)
    nearness = timeline.cosine(older, newer) + WEIGHT_FOR_COSINE * min(shared, MAX_WEIGHED)
    if _is_other_case(a, b):
        return None
    if nearness < MIN_NEARNESS or shared < MIN_WAYS_WEIGHT:
        return None
    ways = "" if a.values & b.values else find_exclusion(a.fact.content, b.fact.content)
    if ways:
        return Clash(older, newer, (ways,), OPPOSITE_STRENGTH)
    kinds = disagreements.other_kinds(a, b) if kinds_exclude else ""
    if kinds:
        return Clash(older, newer, (f"other choice: {kinds}",), OPPOSITE_STRENGTH)
    return _opposite(timeline, older, newer)


def _is_other_case(a: Statement, b: Statement) -> bool:
    """Whether the texts speak of two days or parts of the day, or under two conditions."""
    return disagreements.is_other_day(a, b) or are_day_parts(a, b) or are_parted(a, b)


def _opposite(timeline: Timeline, older: int, newer: int) -> Clash | None:
    """Look for opposite words and denials where two texts share much."""
    a, b = timeline.statements[older], timeline.statements[newer]
    if timeline.overlap(a.stems & b.stems) < disagreements.MIN_SHARED_WEIGHT:
        return None
    words = disagreements.opposite_words(a, b)
    if words and not a.values & b.values:  # kept for 14 days is deleted after 14 days
        return Clash(older, newer, (f"opposite words: {words}",), OPPOSITE_STRENGTH)
    mine, theirs = people(a.fact.content), people(b.fact.content)
    if mine and theirs and mine.isdisjoint(theirs):
        return None  # what one may not do another may
    if absent_stems(a) & absent_stems(b):
        return None
    denied = disagreements.denied_words(a, b)
    if timeline.overlap(denied) >= disagreements.MIN_DENIED_WEIGHT:
        return Clash(older, newer, ("one affirms what the other denies",), DENIAL_STRENGTH)
    return None


def _is_settled(timeline: Timeline, older: int, newer: int) -> bool:
    """Whether a later fact on the matter decides, corrects or announces a change."""
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
