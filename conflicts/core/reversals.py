"""Reversals: a claim, an announced change, and then the old claim again as if nothing happened."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from conflicts.core.cues import Cue
from conflicts.core.rules import is_comparable, scope_words
from conflicts.core.timeline import Timeline

MIN_OLD_WEIGHT: Final = 1.2
MIN_TOPIC_WEIGHT: Final = 0.8


@dataclass(frozen=True, slots=True)
class Arc:
    """Positions of the earlier claim, the change and the restatement; ``strength`` in [0, 1]."""

    earlier: int
    change: int
    restated: int
    strength: float
    evidence: frozenset[str]


def find_arcs(timeline: Timeline, change: int) -> Iterator[Arc]:
    """Yield the arcs around one announced change, strongest evidence not chosen yet."""
    turn = timeline.statements[change]
    if not turn.has(Cue.SWITCH, Cue.END) or turn.has(Cue.TEMPORARY, Cue.RETURN):
        return
    near = timeline.neighbours(change)
    for earlier in (i for i in near if i < change and _is_changed(timeline, i, change)):
        later = {*near, *timeline.neighbours(earlier)}
        for restated in sorted(k for k in later if k > change):
            arc = _arc(timeline, earlier, change, restated)
            if arc:
                yield arc


def _is_changed(timeline: Timeline, earlier: int, change: int) -> bool:
    """Whether the announced change is about the earlier claim."""
    old, turn = timeline.statements[earlier], timeline.statements[change]
    if not is_comparable(old, turn, timeline.settings):
        return False
    shared = (old.stems & turn.stems) - scope_words(old.fact)
    cosine = timeline.cosine(earlier, change)
    return cosine >= 0.4 or timeline.overlap(shared) >= 2 * MIN_TOPIC_WEIGHT


def _arc(timeline: Timeline, earlier: int, change: int, restated: int) -> Arc | None:
    old, turn, new = (timeline.statements[i] for i in (earlier, change, restated))
    settings = timeline.settings
    if not is_comparable(old, new, settings) or not is_comparable(turn, new, settings):
        return None
    if new.has(Cue.RETURN, Cue.AGAIN, Cue.SETTLE, Cue.PAST, Cue.END):
        return None
    topic = scope_words(old.fact) | frozenset(old.order[:1])
    fresh = turn.stems - old.stems
    returned = (old.stems & new.stems) - topic - fresh
    outside = returned - turn.stems
    weight = timeline.overlap(outside) + 0.7 * timeline.overlap(returned & turn.stems)
    adopted = timeline.overlap(fresh & new.stems)
    cosine = timeline.cosine(earlier, restated)
    if weight < MIN_OLD_WEIGHT or adopted > 0.5 * weight or cosine < settings.restated_cosine:
        return None
    if _is_taken_back(timeline, old.stems - topic, change, restated):
        return None
    return Arc(earlier, change, restated, min(1.0, cosine + 0.1 * weight), returned)


def _is_taken_back(timeline: Timeline, old: frozenset[str], change: int, restated: int) -> bool:
    """Whether a fact after the change tells of the return, or one after all of it settles."""
    for i in sorted({*timeline.neighbours(change), *timeline.neighbours(restated)}):
        if i <= change or i == restated:
            continue
        statement = timeline.statements[i]
        about = timeline.overlap(statement.stems & old) >= MIN_OLD_WEIGHT
        near = timeline.cosine(i, restated) >= 0.45 or timeline.cosine(i, change) >= 0.45
        if (about or near) and statement.has(Cue.RETURN, Cue.AGAIN, Cue.SETTLE):
            return True
        if i > restated and near and about and statement.has(Cue.SWITCH):
            return True
    return False
