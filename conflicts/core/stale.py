"""Stale claims: an old claim leans on something that a newer fact says is gone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from conflicts.core.cues import Cue
from conflicts.core.rules import is_comparable, scope_words
from conflicts.core.timeline import Timeline

MIN_THING_WEIGHT: Final = 0.8


@dataclass(frozen=True, slots=True)
class Ending:
    """Positions of the leaning claim and of the end; ``thing`` names what is gone."""

    leaning: int
    end: int
    thing: frozenset[str]
    strength: float


def find_ending(timeline: Timeline, leaning: int, end: int) -> Ending | None:
    """Judge whether fact ``end`` takes away what the older fact ``leaning`` builds on."""
    old, gone = timeline.statements[leaning], timeline.statements[end]
    if not is_comparable(old, gone, timeline.settings):
        return None
    if not gone.has(Cue.END) or gone.has(Cue.TEMPORARY, Cue.RETURN, Cue.AGAIN):
        return None
    if old.has(Cue.SWITCH, Cue.END, Cue.RETURN, Cue.AGAIN, Cue.TEMPORARY):
        return None
    ended = frozenset[str]().union(*(s.stems for s in gone.sentences if Cue.END in s.cues))
    thing = (old.stems & ended) - scope_words(old.fact) - frozenset(old.order[:1])
    named = thing & (old.names | gone.names)
    weight = timeline.overlap(thing)
    if not named and len(thing) < 2:
        return None
    if weight < MIN_THING_WEIGHT or _is_replaced(timeline, leaning, end, thing):
        return None
    strength = 0.5 + 0.1 * len(thing) + 0.2 * bool(named)
    return Ending(leaning, end, thing, min(0.95, strength))


def _is_replaced(timeline: Timeline, leaning: int, end: int, thing: frozenset[str]) -> bool:
    """Whether another fact says what takes the place of the leaning claim."""
    old = timeline.statements[leaning]
    purpose = old.stems - thing
    for i in timeline.neighbours(leaning):
        if i <= leaning or i == end:
            continue
        other = timeline.statements[i]
        about = timeline.overlap(other.stems & purpose) >= 1.5 or timeline.cosine(i, leaning) >= 0.5
        if about and (i > end or other.has(Cue.SWITCH, Cue.SETTLE, Cue.RETURN, Cue.AGAIN)):
            return True
    return False
