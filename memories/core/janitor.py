"""What the janitor would do with a memory that nobody needs: the rules, and nothing else.

A memory that was never recalled, never matched by a prompt and never used loses weight, one step
at a time: its provenance weight × 0.9 and its confidence factor × 0.8, neither below 0.2. What a
user said, what is pinned and what is a constraint is only reported. One recall, and the memory is
left alone from then on; what it lost it keeps until somebody undoes it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

WEIGHT_STEP: Final = 0.9
CONFIDENCE_STEP: Final = 0.8
FLOOR: Final = 0.2
PAUSE: Final = timedelta(days=7)
DEMOTIONS_BEFORE_CULL: Final = 3
_DIGITS: Final = 6


class Deed(StrEnum):
    """What is done about a memory."""

    DEMOTE = "demote"
    CULL = "cull"
    REPORT = "report"


class Reason(StrEnum):
    """Why."""

    UNUSED = "unused"
    DEMOTED_OFTEN = "demoted_often"
    USER_STATED = "user_stated"
    PINNED = "pinned"
    CONSTRAINT = "constraint"
    DISPUTED = "disputed"
    AT_FLOOR = "at_floor"


@dataclass(frozen=True, slots=True)
class Rules:
    """How old an unused memory must be, by its class, and whether it may be hidden.

    Parameters
    ----------
    assistant_days, summary_days
        Days for `assistant_derived` and `episode_summary`. What a user said is reported after the
        longer of the two.
    may_cull
        Whether a memory that was demoted three times may be hidden.
    logging_since
        When the recall log began: before it, nobody can say that a memory was not recalled.
    """

    assistant_days: int
    summary_days: int
    may_cull: bool
    logging_since: datetime

    def days(self, provenance: str) -> int:
        """Return how many days a memory of the class must have been of no use."""
        known = {"assistant_derived": self.assistant_days, "episode_summary": self.summary_days}
        return known.get(provenance, max(known.values()))

    def is_due(self, provenance: str, since: datetime, now: datetime) -> bool:
        """Tell whether a memory that could be recalled since `since` was of no use too long."""
        return now - max(since, self.logging_since) >= timedelta(days=self.days(provenance))


@dataclass(frozen=True, slots=True)
class Subject:
    """What the rules look at.

    Attributes
    ----------
    since
        When it was created, or a later moment when somebody took a demotion of it back.
    uses
        Recalls, prompt hits and uses together; being put into a session alone is no use.
    weight_factor, confidence_factor
        What earlier demotions left, in (0, 1].
    """

    provenance: str
    since: datetime
    uses: int
    is_pinned: bool
    is_constraint: bool
    is_disputed: bool
    weight_factor: float
    confidence_factor: float
    demotion_count: int
    demoted_at: datetime | None


@dataclass(frozen=True, slots=True)
class JanitorVerdict:
    """What is done about one memory and why, with the factors afterwards."""

    deed: Deed
    reason: Reason
    weight_factor: float
    confidence_factor: float


def judge(subject: Subject, rules: Rules, now: datetime) -> JanitorVerdict | None:
    """Return what is done about a live memory; None when there is nothing to say of it."""
    if subject.uses > 0 or not rules.is_due(subject.provenance, subject.since, now):
        return None
    if spared := _spared(subject):
        return _unchanged(subject, Deed.REPORT, spared)
    if subject.demoted_at is not None and now - subject.demoted_at < PAUSE:
        return None
    return _next_step(subject, rules)


def _next_step(subject: Subject, rules: Rules) -> JanitorVerdict:
    """Return the demotion that is due, or the cull after enough of them."""
    if rules.may_cull and subject.demotion_count >= DEMOTIONS_BEFORE_CULL:
        if subject.is_disputed:  # hiding it would take the question away from who answers it
            return _unchanged(subject, Deed.REPORT, Reason.DISPUTED)
        return _unchanged(subject, Deed.CULL, Reason.DEMOTED_OFTEN)
    weight = _lowered(subject.weight_factor, WEIGHT_STEP)
    confidence = _lowered(subject.confidence_factor, CONFIDENCE_STEP)
    if (weight, confidence) == (subject.weight_factor, subject.confidence_factor):
        return _unchanged(subject, Deed.REPORT, Reason.AT_FLOOR)
    return JanitorVerdict(Deed.DEMOTE, Reason.UNUSED, weight, confidence)


def _spared(subject: Subject) -> Reason | None:
    """Return why age alone never touches a memory."""
    if subject.is_pinned:
        return Reason.PINNED
    if subject.is_constraint:
        return Reason.CONSTRAINT
    return Reason.USER_STATED if subject.provenance == "user_stated" else None


def _unchanged(subject: Subject, deed: Deed, reason: Reason) -> JanitorVerdict:
    return JanitorVerdict(deed, reason, subject.weight_factor, subject.confidence_factor)


def _lowered(factor: float, step: float) -> float:
    """Return the factor one step lower, never below the floor and never higher than it was."""
    return min(factor, max(FLOOR, round(factor * step, _DIGITS)))
