"""Why judged sessions say nothing about the rankings, and what to do about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from memories.models import Session
from predictor.core import comparison
from predictor.models import JudgeStatus
from predictor.services.judging.due import NO_MEMORIES, TOO_SHORT
from predictor.services.serving.rank_session import NO_MODEL

SESSIONS = 100  # the newest that have ended
FAILED = "judging failed"
NOT_QUEUED = "not judged"

# What each reason means, and what to do about it.
REASONS: Final[Mapping[str, tuple[str, str]]] = {
    TOO_SHORT: (
        "there was no transcript, or too short a one",
        "Let agents send the transcript when a session ends, or say what they used (`used`).",
    ),
    NO_MEMORIES: (
        "there was no memory to offer",
        "Commit memories first; then sessions have candidates.",
    ),
    NOT_QUEUED: (
        "it ended while the predictor was off, or its judgement was dropped with that switch",
        "Sessions that end while it learns only or is switched on are judged.",
    ),
    FAILED: (
        "judging failed for good",
        "The errors of the stage `judge`, and the judgement's own page, say more.",
    ),
    comparison.NOTHING_JUDGED: (
        "nothing that was offered could be judged",
        "It was erased or forgotten meanwhile: nothing is to be done.",
    ),
    comparison.LOW_CONFIDENCE: (
        "the judge was unsure",
        "Longer transcripts help, and agents that say what they used (`used`); so does a language"
        " model as the judge.",
    ),
    comparison.NO_POSITIVE: (
        "no memory was of any use",
        "The store lacks what these sessions were about: see Questions, Missing.",
    ),
    comparison.FLAT: (
        "the judge rated all memories alike",
        "Let agents name what they used (`used`) and give a context at the start.",
    ),
    comparison.ALIKE: (
        "every memory that was rated got the same rating, so no order can be learned from it",
        "Let agents say also what was not needed (`used`: 0), not only what they used.",
    ),
    comparison.NO_SCORES: (
        "the learned ranking gave no scores",
        "The errors of the stage `predictor` say more; a context at the start of a session helps.",
    ),
    comparison.NOT_TRAINED: (
        "nothing was learned yet",
        "The judgement is learned from; comparisons begin after the first training.",
    ),
    comparison.SHOWN_ONLY: (
        "only the agent judged it, and only what it was shown",
        "It is learned from; with a transcript the whole pool is judged and compared.",
    ),
}
UNKNOWN = "it is void for another reason", "The session's own page says more."


def void_words(reason: str) -> str:
    """Return why a session says nothing of the rankings, in words."""
    return REASONS[reason][0] if reason in REASONS else reason


@dataclass(frozen=True, slots=True)
class UnusedReason:
    """A reason with the number of sessions, its meaning and what to do."""

    reason: str
    sessions: int
    means: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Usage:
    """Of the newest ended sessions: how many were compared, how many wait, and why others not."""

    sessions: int
    compared: int
    waiting: int
    reasons: tuple[UnusedReason, ...]  # the most frequent first

    @property
    def unused(self) -> int:
        """Return the number of sessions that say nothing about the rankings."""
        return sum(reason.sessions for reason in self.reasons)


def usage_of_sessions(*, sessions: int = SESSIONS) -> Usage:
    """Return what became of the newest sessions, by one query; called inside the workspace."""
    ended = Session.objects.filter(ended_at__isnull=False).order_by("-ended_at", "-id")
    rows = list(
        ended.values_list(
            "judgement__status",
            "judgement__void_reason",
            "comparison__outcome",
            "comparison__void_reason",
            "no_opinion_reason",
        )[:sessions]
    )
    counts = Counter(_reason(*row) for row in rows)
    compared, waiting = counts.pop("", 0), counts.pop(None, 0)
    reasons = tuple(
        UnusedReason(str(reason), number, *REASONS.get(str(reason), UNKNOWN))
        for reason, number in counts.most_common()
    )
    return Usage(len(rows), compared, waiting, reasons)


def tell_untrained(void_reason: str, no_opinion: str) -> str:
    """Return why a comparison is void; without scores because there was no model: that."""
    is_untrained = void_reason == comparison.NO_SCORES and no_opinion == NO_MODEL
    return comparison.NOT_TRAINED if is_untrained else void_reason


def _reason(
    status: str | None,
    judged_void: str | None,
    outcome: str | None,
    compared_void: str | None,
    no_opinion: str,
) -> str | None:
    """Return why a session was not compared, "" if it was, None while it waits for the judge."""
    if outcome == "void" and judged_void == comparison.ALIKE:
        return judged_void  # why nothing is learned says more than why nothing is compared
    if outcome is not None:
        return tell_untrained(compared_void or "", no_opinion) or (
            "" if outcome != "void" else "void"
        )
    if status == JudgeStatus.DUE:
        return None
    if status == JudgeStatus.FAILED:
        return FAILED
    return judged_void or NOT_QUEUED
