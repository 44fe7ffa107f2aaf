"""Ambiguities: two claims that look current disagree, and nothing settles it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from conflicts.core.cues import Cue
from conflicts.core.rules import is_comparable, is_real
from conflicts.core.timeline import Timeline
from memories.core import claims

MIN_CONFIDENCE: Final = 0.5
MIN_COSINE: Final = 0.45


@dataclass(frozen=True, slots=True)
class Clash:
    """Positions of two disagreeing facts and why they disagree."""

    older: int
    newer: int
    reasons: tuple[str, ...]
    strength: float


def find_clash(timeline: Timeline, older: int, newer: int) -> Clash | None:
    """Judge whether two facts disagree about the same thing with nothing to settle it."""
    a, b = timeline.statements[older], timeline.statements[newer]
    if not is_comparable(a, b, timeline.settings) or b.has(
        Cue.SWITCH, Cue.RETURN, Cue.AGAIN, Cue.SETTLE
    ):
        return None
    if a.has(Cue.TEMPORARY, Cue.PAST) or b.has(Cue.TEMPORARY, Cue.PAST):
        return None
    if timeline.cosine(older, newer) < MIN_COSINE:
        return None
    verdict = claims.compare(a.reading, b.reading)
    if verdict.relation != "contradicts" or verdict.confidence < MIN_CONFIDENCE:
        return None
    if _is_settled(timeline, older, newer):
        return None
    return Clash(older, newer, verdict.reasons, min(0.95, verdict.confidence))


def _is_settled(timeline: Timeline, older: int, newer: int) -> bool:
    """Whether a later fact on the matter decides, corrects or announces a change."""
    for i in sorted({*timeline.neighbours(older), *timeline.neighbours(newer)}):
        if i in (older, newer) or i < older:
            continue
        near = max(timeline.cosine(i, older), timeline.cosine(i, newer)) >= MIN_COSINE
        other = timeline.statements[i]
        if near and is_real(other) and other.has(Cue.SETTLE, Cue.SWITCH, Cue.RETURN, Cue.AGAIN):
            return True
    return False
