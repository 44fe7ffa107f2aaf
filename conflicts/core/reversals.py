"""Reversals: a claim, an announced change, and then the old claim again as if nothing happened.

The two statements of the old value are near each other and share words which the announcement of
the change does not introduce; the restatement takes over nothing that the change brought.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from conflicts.core.comparable import is_comparable, scope_words
from conflicts.core.cues import GOES_BACK, PASSING, Cue, enclosed_by
from conflicts.core.opposites import denied_words
from conflicts.core.statements import Statement
from conflicts.core.timeline import Timeline
from memories.core import claims
from memories.core.alignment import kinds_of
from memories.core.lexicon import opposites_of
from memories.core.reading import without_user
from memories.core.relations import OF_TWO_THINGS
from memories.core.slots import slot_of
from memories.core.topic_words import MEASURES, stems

MIN_OLD_WEIGHT: Final = 1.7
MIN_TOPIC_WEIGHT: Final = 1.4
MIN_MEASURED_WEIGHT: Final = 1.0
MIN_FAR_COSINE: Final = 0.25
MIN_NAMED_WEIGHT: Final = 1.6
MIN_CHANGE_COSINE: Final = 0.37
MIN_RESTATED: Final = 0.60
MIN_SLOT_COSINE: Final = 0.45
NAMED_IN_CHANGE: Final = 0.7  # what the change names may be the value that it left
SAME_VALUE_WEIGHT: Final = 2.0
EXPLICIT_OLD_WEIGHT: Final = 1.5
MAX_ADOPTED: Final = 3.0
MOST_NEARER_TO_CHANGE: Final = 4  # than the claim that it changes
MOST_NEARER: Final = 5  # than the change to the restatement, or the other way round
MIN_COMMON_WEIGHT: Final = 1.0
MIN_ELSEWHERE_WEIGHT: Final = 3.0
MIN_ELSEWHERE_COSINE: Final = 0.50
DEATH: Final = "death"  # the attribute of "Ana died in Remol"
_OPEN_KINDS: Final = frozenset({"status"})
FROM_TO: Final = re.compile(r"\bfrom\s((?:\S+\s){1,4}?)to\b", re.IGNORECASE)
_ABSENT: Final = re.compile(r"\bthere\sis\sno\b", re.IGNORECASE)
_CHANGES: Final = (Cue.SWITCH, Cue.ADJUST, Cue.END)
ANNOUNCES: Final = frozenset(
    {
        Cue.RETURN,
        Cue.AGAIN,
        Cue.SETTLE,
        Cue.PAST,
        Cue.END,
        Cue.TEMPORARY,
        Cue.SWITCH,
        Cue.ADJUST,
        Cue.PROGRESS,
    }
)


@dataclass(frozen=True, slots=True)
class Reversal:
    """Positions of the earlier claim, the change and the restatement; ``strength`` from 0 up."""

    earlier: int
    change: int
    restated: int
    strength: float


def is_change(timeline: Timeline, i: int) -> bool:
    """Return whether a fact announces a lasting change that is no return.

    Where or when somebody died changes no other claim, and that "there is no field" for something
    tells of no change.
    """
    content = timeline.facts[i].content
    slot = slot_of(content)
    if slot is not None and slot.attribute == DEATH:
        return False
    is_set = timeline.has_cue(i, Cue.SWITCH, Cue.ADJUST)
    if not is_set and not _ABSENT.sub("", enclosed_by(Cue.END, without_user(content))).strip():
        return False
    return timeline.has_cue(i, *_CHANGES) and not timeline.has_cue(i, Cue.TEMPORARY, Cue.RETURN)


def find_reversals(timeline: Timeline, change: int) -> Iterator[Reversal]:
    """Yield the reversals around a fact for which `is_change` holds."""
    near = timeline.neighbours(change)
    for earlier in (i for i in near if i < change and _is_changed(timeline, i, change)):
        later = {*near, *timeline.neighbours(earlier)}
        for restated in sorted(k for k in later if k > change):
            found = _reversal(timeline, earlier, change, restated)
            if found:
                yield found


def _is_changed(timeline: Timeline, earlier: int, change: int) -> bool:
    """Return whether the announced change is about the earlier claim and leaves its value."""
    old, turn = timeline.statements[earlier], timeline.statements[change]
    if not is_comparable(old, turn) or old.values & turn.values:
        return False
    if old.has(*PASSING):
        return False
    if _keeps_figures(old, turn) or _leaves_other_value(old, turn):
        return False
    cosine = timeline.cosine(earlier, change)
    changed_stems = turn.stems_with_cue(*_CHANGES) - MEASURES
    shared = timeline.weigh(old.stems & changed_stems, old, turn)
    if _dimensions(old) & _dimensions(turn) and cosine >= MIN_CHANGE_COSINE:
        return shared >= MIN_MEASURED_WEIGHT
    return cosine >= MIN_FAR_COSINE and shared >= MIN_TOPIC_WEIGHT


def _dimensions(statement: Statement) -> set[str]:
    return {dimension for dimension, _ in statement.values}


def _keeps_figures(old: Statement, turn: Statement) -> bool:
    """Return whether a change has all figures of the earlier claim and no other."""
    return bool(old.figures) and old.figures == turn.figures


def _leaves_other_value(old: Statement, turn: Statement) -> bool:
    """Return whether a change "from X to Y" has an X that the earlier claim does not have."""
    for match in FROM_TO.finditer(turn.fact.content):
        start = frozenset(stems(match[1]))
        if start and start.isdisjoint(old.stems):
            return True
    return False


def _reversal(timeline: Timeline, earlier: int, change: int, restated: int) -> Reversal | None:
    old, turn, new = (timeline.statements[i] for i in (earlier, change, restated))
    if not is_comparable(old, new) or not is_comparable(turn, new):
        return None
    is_one_slot = _may_restate(old, turn, new) and _is_one_slot(timeline, old, turn, new)
    if not is_one_slot or not _is_in_place(timeline, old, turn, new):
        return None
    topic = scope_words(old.fact) | frozenset(old.order[:1])
    fresh = turn.stems - old.stems
    returned = (old.stems & new.stems) - topic - fresh - denied_words(old, new)
    weight = (
        timeline.weigh(returned - turn.stems, old, new)
        + NAMED_IN_CHANGE * timeline.weigh(returned & turn.stems, old, new)
        + SAME_VALUE_WEIGHT * bool(old.values & new.values)
        + EXPLICIT_OLD_WEIGHT
        * bool(_find_abandoned(turn) & old.stems & new.stems or leaves_kind(old, turn, new))
    )
    adopted = timeline.weigh(fresh & new.stems - scope_words(turn.fact), turn, new)
    brought = turn.names & fresh
    limit = 1.0 if brought and brought.isdisjoint(new.stems) else 0.6
    strength = timeline.cosine(earlier, restated) + 0.08 * min(weight, 8.0)
    strength -= 0.1 * new.has(Cue.EVENT)
    is_weak = weight < MIN_OLD_WEIGHT or strength < MIN_RESTATED
    if is_weak or adopted > min(limit * weight, MAX_ADOPTED):
        return None
    is_one_story = _is_one_story(timeline, earlier, change, restated)
    if not is_one_story or _says_other(old, new):
        return None
    if is_taken_back(timeline, old.stems - topic, change, restated):
        return None
    return Reversal(earlier, change, restated, strength)


def _says_other(old: Statement, new: Statement) -> bool:
    """Return whether a later text gives the thing of the old claim another value."""
    found = claims.compare(old.reading, new.reading)
    return found.relation == "contradicts" or found.reasons[0].startswith(OF_TWO_THINGS)


def _is_one_story(timeline: Timeline, earlier: int, change: int, restated: int) -> bool:
    """Return whether hardly any fact is nearer to a change than both claims are."""
    return timeline.is_among_nearest(change, earlier, MOST_NEARER_TO_CHANGE) and (
        timeline.is_among_nearest(change, restated, MOST_NEARER)
        or timeline.is_among_nearest(restated, change, MOST_NEARER)
    )


def _is_in_place(timeline: Timeline, old: Statement, turn: Statement, new: Statement) -> bool:
    """Return whether a change shares rare words with both claims, more of them in another scope."""
    common = old.stems & turn.stems & new.stems
    if timeline.weigh(common, old, new) < MIN_COMMON_WEIGHT and not leaves_kind(old, turn, new):
        return False
    if turn.fact.scope in (old.fact.scope, new.fact.scope):
        return True
    positions = (timeline.position[statement.fact.id] for statement in (old, turn))
    return (
        timeline.weigh(common, old, new) >= MIN_ELSEWHERE_WEIGHT
        or timeline.cosine(*positions) >= MIN_ELSEWHERE_COSINE
    )


def _find_abandoned(turn: Statement) -> frozenset[str]:
    """Return the words that a change gives up, and the names that it says are gone."""
    gone = (
        turn.stems_with_cue(Cue.END) & turn.names if turn.has(Cue.SUCCESSOR) else frozenset[str]()
    )
    return turn.left_words | gone


def leaves_kind(old: Statement, turn: Statement, new: Statement) -> bool:
    """Return whether a change names another member of a kind than both claims: npm for pnpm."""
    kept, brought = old.stems & new.stems, turn.stems - old.stems - new.stems
    return not _kinds(kept).isdisjoint(_kinds(brought))


def _kinds(named: frozenset[str]) -> frozenset[str | int]:
    """Kinds that stems are members of: databases; for dock C and F the length of such a name."""
    lengths = {len(stem) for stem in named if stem[0] == "="}
    kinds = {kind for stem in named if stem[0] != "=" for kind in kinds_of(stem)}
    return frozenset(kinds - _OPEN_KINDS) | lengths


def _may_restate(old: Statement, turn: Statement, new: Statement) -> bool:
    """Return whether a later text may repeat the old claim and ignore the change.

    It announces nothing itself, gives a value where the change did, and no third one, and takes no
    side of the change.
    """
    changed = _dimensions(old) & _dimensions(turn)
    if changed and changed.isdisjoint(_dimensions(new)):
        return False
    barred = ANNOUNCES - {Cue.SWITCH} if old.values & new.values else ANNOUNCES
    if not (new.cues - old.cues).isdisjoint(barred):
        return False
    if any(claim.transition and claim.transition.old for claim in new.reading.claims):
        return False
    if takes_third_value(old, new) or new.values & (turn.values - old.values):
        return False
    adopted = (turn.stems - old.stems) & new.stems
    return all(opposites_of(word).isdisjoint(adopted) for word in old.stems)


def _is_one_slot(timeline: Timeline, old: Statement, turn: Statement, new: Statement) -> bool:
    """Return whether change and restatement are about the same thing of the earlier claim."""
    changed, restated = old.names & turn.stems, old.names & new.stems
    if changed and restated and changed.isdisjoint(restated):
        return False
    changed_stems = turn.stems_with_cue(*_CHANGES) - scope_words(old.fact)
    named = timeline.weigh(old.stems & new.stems & changed_stems, old, new) >= MIN_NAMED_WEIGHT
    names_old = named or bool(_dimensions(old) & _dimensions(turn))
    if not turn.has(Cue.SWITCH) and not names_old:
        return False
    if leaves_kind(old, turn, new):
        return True
    is_measured = bool(turn.figures or turn.values)
    if old.figures & new.figures and not is_measured and not turn.names - old.stems:
        return False
    slot = (old.stems & turn.stems) - scope_words(old.fact)
    change, restatement = timeline.position[turn.fact.id], timeline.position[new.fact.id]
    return bool(slot & new.stems) or timeline.cosine(change, restatement) >= MIN_SLOT_COSINE


def takes_third_value(a: Statement, b: Statement) -> bool:
    """Return whether two texts give different values of one dimension and share none of it."""
    mine, theirs = {d for d, _ in a.values}, {d for d, _ in b.values}
    shared = {dimension for dimension, _ in a.values & b.values}
    return bool((mine & theirs) - shared)


def is_taken_back(timeline: Timeline, old: frozenset[str], change: int, restated: int) -> bool:
    """Return whether a fact after the change reports the return, or a later one settles it."""
    for i in sorted({*timeline.neighbours(change), *timeline.neighbours(restated)}):
        if i <= change or i == restated:
            continue
        statement = timeline.statements[i]
        shared = timeline.overlap(statement.stems & old)
        cosine = max(timeline.cosine(i, restated), timeline.cosine(i, change))
        is_about = cosine >= 0.6 or shared >= 3.0 or (shared >= 1.3 and cosine >= 0.4)
        if is_about and statement.has(*GOES_BACK):
            return True
        if i > restated and shared >= 1.3 and cosine >= 0.45 and statement.has(Cue.SWITCH):
            return True
    return False
