"""An old claim names a version; a newer text speaks of the migration to another: is it stale?"""

from __future__ import annotations

import re
from typing import Final

from conflicts.core.comparable import is_comparable
from conflicts.core.cues import NO_STANDING_CLAIM
from conflicts.core.facts import Finding
from conflicts.core.rules.rule import DATE_FORMAT, Rule
from conflicts.core.stale import make_stale
from conflicts.core.statements import Statement
from conflicts.core.timeline import Timeline
from memories.core.calendar_words import MONTHS, WEEKDAYS

RULE: Final = Rule(
    id="stale.version-left",
    meaning="An old statement names a version, and a later one speaks of the migration to another "
    "version without saying which one is in use.",
    module=__name__,
    example=(
        "We run Postgres 14.",
        "The migration to Postgres 17 took the weekend.",
    ),
)
CONFIDENCE: Final = 0.6
MIN_COSINE: Final = 0.35
# The noun takes the change for granted; "we migrated to 17" announces it, and settles the matter.
_MIGRATION: Final = re.compile(
    r"\b(?:migration|upgrade|move|switch|cut-?over|transition|update)\s"
    r"(?:(?!to\b)\w{1,20}\s){0,3}to\s(?:\w{1,20}\s){0,2}v?\d"
    # Not of another system: "the Postgres 17 migration of the archive".
    r"|^(?:(?:during|after|since|thanks\sto)\s)?(?:the|our)\s(?:\w{1,20}\s){1,2}"
    r"v?\d{1,4}(?:\.\d{1,4}){0,3}\s(?:migration|upgrade|cut-?over|transition)\b"
    r"(?!\s(?:of|for|on|in|at)\b)",
    re.IGNORECASE,
)
_AHEAD: Final = re.compile(
    r"\b(?:plan\w{0,4}|schedul\w{0,3}|will|next|future|roadmap|consider\w{0,3}|pending|block\w{0,3}|"
    r"postpon\w{1,3}|estimat\w{1,3}|propos\w{1,3}|need(?:s|ed)?|requires?|not|no|before|until|if|"
    r"should|could|would|may|might|fail\w{0,3}|half|rolled|cancel\w{0,5}|hold|asks?|guide|prepar\w{1,6}|start\w{0,3}|begin\w{0,4}|test\w{0,3})\b",
    re.IGNORECASE,
)
_DONE: Final = re.compile(
    r"\b(?:took|done|finished|completed?|went|since|after|ended|succeeded|closed|(?<!took\s)over|landed|during|"
    r"thanks\sto)\b",
    re.IGNORECASE,
)
_OF_SYSTEM: Final = re.compile(r"\b(?:of|for|on|in)\s(?:the\s|our\s)?([A-Za-z]{3,20})\b")
_WHEN: Final = frozenset(
    (*MONTHS, *WEEKDAYS, "weekend", "week", "month", "time", "schedule", "end", "production", "all")
)
_NUMBER: Final = re.compile(r"\d{1,6}")
_VERSION: Final = "version"


def find(timeline: Timeline, older: int, newer: int) -> Finding | None:
    """Return a finding when the newer fact speaks of the migration to another version."""
    text = timeline.facts[newer].content
    if not _MIGRATION.search(text) or _AHEAD.search(text) or not _DONE.search(text):
        return None
    old, new = timeline.statements[older], timeline.statements[newer]
    if timeline.cosine(older, newer) < MIN_COSINE or not is_comparable(old, new):
        return None
    if old.has(*NO_STANDING_CLAIM):
        return None
    mine, theirs = _versions(old), _versions(new)
    if _is_of_other_system(text, old.fact.content):
        return None
    for product in mine.keys() & theirs.keys():
        is_other = mine[product].isdisjoint(theirs[product])
        is_newer = max(map(_parts, theirs[product])) > max(map(_parts, mine[product]))
        if is_other and is_newer and not _is_stated(timeline, newer, new):
            return _finding_of(timeline, older, newer)
    return None


def _versions(statement: Statement) -> dict[str, set[str]]:
    """Return the versions of each product that a text names."""
    found: dict[str, set[str]] = {}
    for kind, value in statement.values:
        product, _, number = value.rpartition(" ")
        if kind == _VERSION and product:
            found.setdefault(product, set()).add(number)
    return found


def _parts(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in _NUMBER.findall(version))


def _is_of_other_system(text: str, old: str) -> bool:
    """Return whether a migration is "of the archive", "on staging", which the old text has not."""
    told = _OF_SYSTEM.findall(text)
    return any(word.lower() not in old.lower() for word in told if word.lower() not in _WHEN)


def _is_stated(timeline: Timeline, newer: int, new: Statement) -> bool:
    """Return whether another fact names the new version as the one in use."""
    versions = {value for value in new.values if value[0] == _VERSION}
    return any(
        i != newer and timeline.statements[i].values & versions for i in timeline.neighbours(newer)
    )


def _finding_of(timeline: Timeline, older: int, newer: int) -> Finding:
    old, new = timeline.facts[older], timeline.facts[newer]
    return make_stale(
        old,
        new,
        reasoning=f"The claim of {old.observed_at:{DATE_FORMAT}} names a version, and the memory "
        f"of {new.observed_at:{DATE_FORMAT}} speaks of the migration to another one.",
        confidence=CONFIDENCE,
        rule_id=RULE.id,
    )
