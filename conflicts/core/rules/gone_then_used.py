"""An old claim relies on something that a newer fact says is gone: the claim may be stale."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from conflicts.core.absence import absent_stems
from conflicts.core.comparable import is_comparable, scope_words
from conflicts.core.cues import PASSING, REPLACES, Cue, enclosed_by
from conflicts.core.facts import Finding
from conflicts.core.numbered_things import are_of_other_numbers
from conflicts.core.reversals import DEATH
from conflicts.core.rules.rule import DATE_FORMAT, Rule
from conflicts.core.stale import make_stale
from conflicts.core.statements import Statement
from conflicts.core.timeline import Timeline
from memories.core.slot_nouns import ONCE
from memories.core.slots import slot_of
from memories.core.topic_words import stems

RULE: Final = Rule(
    id="stale.gone-then-used",
    meaning="An old statement builds on something that a later one says is gone, and nothing "
    "says what took its place.",
    module=__name__,
    example=(
        "Nightly reports are read from replica orion-2.",
        "Terraform destroyed orion-2 and its volume.",
    ),
)
MIN_THING_WEIGHT: Final = 0.8
MIN_COSINE: Final = 0.25
MIN_NAMED_COSINE: Final = 0.15  # where both name the thing, and hardly anybody else does
SURE_WEIGHT: Final = 3.0  # of what is gone, by two rare words at least
MOST_NEARER: Final = 5  # so many facts nearer to one of the two are too many
_NO_STANDING_CLAIM: Final = (*PASSING, Cue.SWITCH, Cue.ADJUST)
# What somebody was to others stays so, as do what somebody made and is known for.
_KNOWN_FOR: Final = re.compile(
    r"\b(?:child|son|daughter|mother|father|parent|brother|sister|famous|remembered|namesake|"
    r"named\safter)\b",
    re.IGNORECASE,
)
_LASTING: Final = frozenset(f"by {verb}" for verb in ONCE) | {"birth", "by write", "by build"}
_WORD: Final = re.compile(r"\w[\w-]*")
_WHERE: Final = frozenset({"in", "to", "into", "at"})
_MOVED: Final = re.compile(
    r"\b(?:moved?|migrated|switched|shifted|transferred|replaced|swapped)\b[^.;]{0,120}\b(?:from|to|by|with)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Ending:
    """Positions of the leaning claim and of the end; ``thing`` names what is gone."""

    leaning: int
    end: int
    thing: frozenset[str]
    strength: float


def find(timeline: Timeline, leaning: int, end: int) -> Ending | None:
    """Judge whether fact ``end`` takes away what the older fact ``leaning`` builds on."""
    is_told = timeline.has_cue(end, Cue.END) and not timeline.has_cue(leaning, *_NO_STANDING_CLAIM)
    cosine = timeline.cosine(leaning, end)
    if not is_told or cosine < MIN_NAMED_COSINE:
        return None
    old, gone = timeline.statements[leaning], timeline.statements[end]
    if gone.has(Cue.TEMPORARY, Cue.SETTLE, Cue.SUCCESSOR) or _comes_back(gone):
        return None
    if not is_comparable(old, gone) or _stands(old, gone):
        return None
    thing = (
        (old.stems & gone.stems_with_cue(Cue.END))
        - scope_words(old.fact)
        - frozenset(old.order[:1])
        - _places(gone)
    )
    named = thing & (old.names | gone.names)
    weight = timeline.overlap(thing)
    if thing & absent_stems(old) or not _is_thing(timeline, gone, thing, named, cosine):
        return None
    are_near = weight >= SURE_WEIGHT or timeline.are_among_nearest(leaning, end, MOST_NEARER)
    if weight < MIN_THING_WEIGHT or not are_near or is_replaced(timeline, leaning, end, thing):
        return None
    strength = 0.5 + 0.1 * len(thing) + 0.2 * bool(named)
    return Ending(leaning, end, thing, min(0.95, strength))


def finding_of(timeline: Timeline, ending: Ending) -> Finding:
    """Return a finding of a claim that relies on something gone; yes keeps the claim."""
    old, gone = timeline.facts[ending.leaning], timeline.facts[ending.end]
    return make_stale(
        old,
        gone,
        reasoning=f"The claim of {old.observed_at:{DATE_FORMAT}} leans on something that is "
        f"reported gone on {gone.observed_at:{DATE_FORMAT}}, and no memory says what took "
        "its place.",
        confidence=round(ending.strength, 3),
        rule_id=RULE.id,
    )


def _stands(old: Statement, gone: Statement) -> bool:
    """Return whether the old text is of another thing, or holds though this one is gone."""
    is_of_other = _is_other_number(old, gone) or _is_topic(old, gone)
    return is_of_other or _outlasts_death(old, gone)


def _is_topic(old: Statement, gone: Statement) -> bool:
    """Return whether the old text speaks of what is gone as such: "deleted rows"."""
    ended = frozenset(stems(enclosed_by(Cue.END, gone.fact.content)))
    return bool(ended) and ended <= old.stems


def _outlasts_death(old: Statement, gone: Statement) -> bool:
    """Return whether somebody died of whom the old text says what stays so: who wrote a book."""
    slot, held = slot_of(gone.fact.content), slot_of(old.fact.content)
    if slot is None or slot.attribute != DEATH:
        return False
    is_lasting = held is not None and held.attribute in _LASTING
    if not (is_lasting or _KNOWN_FOR.search(old.fact.content)):
        return False
    return slot.thing <= frozenset(_WORD.findall(old.fact.content.lower()))


def _is_thing(
    timeline: Timeline, gone: Statement, thing: frozenset[str], named: frozenset[str], cosine: float
) -> bool:
    """Return whether the shared words name one thing that is gone, though the cosine may be low.

    One common word does not name a thing, unless it is the whole subject of the end
    ("marvin is gone").
    """
    if cosine < MIN_COSINE and not any(map(timeline.is_shared_by_two, named)):
        return False
    is_subject = any(
        first in thing and timeline.is_shared_by_two(first) for first in gone.order[:1]
    )
    return bool(named) or len(thing) >= 2 or is_subject or _is_object(timeline, gone, thing)


def _is_object(timeline: Timeline, gone: Statement, thing: frozenset[str]) -> bool:
    """Return whether the verb of the end encloses the thing: "took the shuttle out of service"."""
    enclosed = stems(enclosed_by(Cue.END, gone.fact.content))
    return any(stem in enclosed and timeline.is_shared_by_two(stem) for stem in thing)


def _places(gone: Statement) -> frozenset[str]:
    """Return the words for where something ended or went: "died in Berlin", "moved to Berlin"."""
    terms = [term for claim in gone.reading.claims for term in claim.terms]
    stay = {term.key for term in terms if term.prep not in _WHERE}
    where = frozenset(term.key for term in terms if term.prep in _WHERE) - stay
    slot = slot_of(gone.fact.content)  # "The place where Ana died is Berlin"
    return where | frozenset(stems(slot.written)) if slot else where


def _is_other_number(old: Statement, gone: Statement) -> bool:
    """Return whether the texts number a thing differently: line 14 and line 41."""
    return are_of_other_numbers(_map_numbers(old), _map_numbers(gone))


def _map_numbers(statement: Statement) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for noun, number in pairwise(statement.order):
        if number.isdigit() and not noun.isdigit():
            found.setdefault(noun, set()).add(number)
    return found


def _comes_back(gone: Statement) -> bool:
    """Return whether another clause than the end says that something is back."""
    return any(
        Cue.END not in clause.cues and not clause.cues.isdisjoint({Cue.RETURN, Cue.AGAIN})
        for clause in gone.clauses
    )


def is_replaced(timeline: Timeline, leaning: int, end: int, thing: frozenset[str]) -> bool:
    """Return whether another fact names a replacement for the leaning claim."""
    old = timeline.statements[leaning]
    purpose = old.stems - thing - scope_words(old.fact)
    gone = timeline.statements[end]
    rest = (clause.stems for clause in gone.clauses if Cue.END not in clause.cues)
    named = purpose.intersection(frozenset[str]().union(*rest)) - old.figures
    if len(named) >= 2 and timeline.overlap(named) >= 2.5:
        return True
    is_mover = not thing.isdisjoint(gone.order[:1])  # who has left the place, which serves on
    if (
        not is_mover
        and _MOVED.search(gone.fact.content)
        and timeline.overlap(gone.stems & purpose) >= 1.3
    ):
        return True
    for i in timeline.neighbours(leaning):
        if i <= leaning or i == end:
            continue
        other = timeline.statements[i]
        common, cosine = other.stems & purpose, timeline.cosine(i, leaning)
        shared = timeline.overlap(common)
        words, near = shared >= 1.3, cosine >= 0.5
        is_about = cosine >= 0.6 or shared >= 3.0 or (words and len(common) > 1 and cosine >= 0.35)
        if is_about and other.has(*REPLACES):
            return True
        if i > end and near and words:
            return True
    return False
