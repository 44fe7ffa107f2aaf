"""Decide what the janitor does with an unused memory: pure rules.

A memory that was never recalled, matched by a prompt or used is demoted one step at a time: its
provenance weight × 0.9 and its confidence factor × 0.8, neither below 0.2. Memories that a user
stated, pins and constraints are only reported. After one recall a memory is not demoted again;
its factors stay lowered until somebody undoes the demotion.
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


class ActionKind(StrEnum):
    """An action of the janitor on a memory."""

    DEMOTE = "demote"
    CULL = "cull"
    REPORT = "report"


class Reason(StrEnum):
    """The reason for an action."""

    UNUSED = "unused"
    DEMOTED_OFTEN = "demoted_often"
    USER_STATED = "user_stated"
    PINNED = "pinned"
    CONSTRAINT = "constraint"
    DISPUTED = "disputed"
    AT_FLOOR = "at_floor"


@dataclass(frozen=True, slots=True)
class JanitorRules:
    """The age at which unused memories are due, by class, and whether they may be hidden.

    Parameters
    ----------
    assistant_days, summary_days
        Days for `assistant_derived` and `episode_summary`. `user_stated` memories are reported
        after the longer of the two.
    may_cull
        Whether a memory that was demoted three times may be hidden.
    logging_since
        Start of the recall log: recalls before it are unknown.
    """

    assistant_days: int
    summary_days: int
    may_cull: bool
    logging_since: datetime

    def days(self, provenance: str) -> int:
        """Return after how many days without use a memory of the class is due."""
        known = {"assistant_derived": self.assistant_days, "episode_summary": self.summary_days}
        return known.get(provenance, max(known.values()))

    def is_due(self, provenance: str, since: datetime, now: datetime) -> bool:
        """Return whether an unused memory that was recallable since `since` is due."""
        return now - max(since, self.logging_since) >= timedelta(days=self.days(provenance))


@dataclass(frozen=True, slots=True)
class Subject:
    """The facts about a memory that the rules use.

    Attributes
    ----------
    since
        When it was created, or when a demotion of it was last undone.
    uses
        Recalls, prompt hits and uses together; an injection into a session is no use.
    weight_factor, confidence_factor
        The factors after earlier demotions, in (0, 1].
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
    """The action on one memory, its reason, and the factors after it."""

    action: ActionKind
    reason: Reason
    weight_factor: float
    confidence_factor: float


def judge(subject: Subject, rules: JanitorRules, now: datetime) -> JanitorVerdict | None:
    """Return the action on a live memory; None when there is none."""
    if subject.uses > 0 or not rules.is_due(subject.provenance, subject.since, now):
        return None
    if spared := _find_exemption(subject):
        return _leave_unchanged(subject, ActionKind.REPORT, spared)
    if subject.demoted_at is not None and now - subject.demoted_at < PAUSE:
        return None
    return _next_step(subject, rules)


def _next_step(subject: Subject, rules: JanitorRules) -> JanitorVerdict:
    """Return the next demotion, or the cull after enough demotions."""
    if rules.may_cull and subject.demotion_count >= DEMOTIONS_BEFORE_CULL:
        if subject.is_disputed:  # hiding it would close the open question about it
            return _leave_unchanged(subject, ActionKind.REPORT, Reason.DISPUTED)
        return _leave_unchanged(subject, ActionKind.CULL, Reason.DEMOTED_OFTEN)
    weight = _lower(subject.weight_factor, WEIGHT_STEP)
    confidence = _lower(subject.confidence_factor, CONFIDENCE_STEP)
    if (weight, confidence) == (subject.weight_factor, subject.confidence_factor):
        return _leave_unchanged(subject, ActionKind.REPORT, Reason.AT_FLOOR)
    return JanitorVerdict(ActionKind.DEMOTE, Reason.UNUSED, weight, confidence)


def _find_exemption(subject: Subject) -> Reason | None:
    """Return why a memory is never demoted, None when it may be."""
    if subject.is_pinned:
        return Reason.PINNED
    if subject.is_constraint:
        return Reason.CONSTRAINT
    return Reason.USER_STATED if subject.provenance == "user_stated" else None


def _leave_unchanged(subject: Subject, action: ActionKind, reason: Reason) -> JanitorVerdict:
    return JanitorVerdict(action, reason, subject.weight_factor, subject.confidence_factor)


def _lower(factor: float, step: float) -> float:
    """Return the factor one step lower, never below the floor and never higher than it was."""
    return min(factor, max(FLOOR, round(factor * step, _DIGITS)))
