"""Deterministic detection: find contradictions among a workspace's facts by rules.

Pure: the same facts give the same findings in any input order. The cost grows with the new facts
and their neighbourhoods, not with all pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from conflicts.core.answered import AnswerFinder, join_reversals
from conflicts.core.answers.index import QuestionVectors
from conflicts.core.facts import DetectiveSettings, Fact, Finding
from conflicts.core.pair_finder import PairFinder
from conflicts.core.rules import state_returns, value_returns
from conflicts.core.states import state_of
from conflicts.core.timeline import Timeline, Vectors
from memories.core.claims import why_too_long

__all__ = [
    "DetectiveSettings",
    "Fact",
    "Finding",
    "Found",
    "detect",
    "detect_in_turn",
    "left_unread",
]

_DEFAULTS: Final = DetectiveSettings()
_NO_QUESTIONS: Final[QuestionVectors] = {}


@dataclass(frozen=True, slots=True)
class Found:
    """The findings of a turn, and the ids of the triggers for which there was no time."""

    findings: list[Finding]
    left: frozenset[str] = frozenset()


def detect(
    facts: Sequence[Fact],
    vectors: Vectors,
    *,
    now: datetime,
    triggers: Collection[str] | None = None,
    settings: DetectiveSettings = _DEFAULTS,
    questions: QuestionVectors = _NO_QUESTIONS,
) -> list[Finding]:
    """Find reversals, ambiguities and stale claims among live facts.

    Parameters
    ----------
    facts
        Live facts of one workspace, any order.
    vectors
        ``(len(facts), dimension)`` float32 unit vectors; a row of zeros or NaN means "not
        embedded", then shared words must lead to its neighbours.
    now
        When the story is read; facts observed later are left out, and those that are `left_unread`.
    triggers
        Ids of facts not read before: only findings with one of them are returned, and only their
        neighbourhoods are read. None reads everything.
    settings
        Thresholds.
    questions
        Unit vector (dimension,) of each question that the facts answer; a question without one
        is the same as another only in the same words.

    Returns
    -------
    list of Finding
        Ordered by their oldest, then their newest fact.

    Raises
    ------
    ValueError
        When there are not as many vectors as facts.
    """
    order = [fact.id for fact in facts] if triggers is None else list(triggers)
    return detect_in_turn(
        facts, vectors, now=now, triggers=order, settings=settings, questions=questions,
        is_over=lambda: False,
    ).findings  # fmt: skip


def detect_in_turn(
    facts: Sequence[Fact],
    vectors: Vectors,
    *,
    now: datetime,
    triggers: Sequence[str],
    settings: DetectiveSettings,
    questions: QuestionVectors,
    is_over: Callable[[], bool],
) -> Found:
    """Read triggers as `detect` does, in their order, until the time `is_over`; at least one.

    What is found is what `detect` finds for the triggers that were read; a return that needs a
    trigger that was left may be among it.
    """
    if vectors.shape[0] != len(facts):
        raise ValueError(f"{len(facts)} facts but {vectors.shape[0]} vectors")
    unread = left_unread(facts)
    seen = [i for i, fact in enumerate(facts) if fact.observed_at <= now and fact.id not in unread]
    timeline = Timeline([facts[i] for i in seen], vectors[seen], settings)
    states = {i: s for i, fact in enumerate(timeline.facts) if (s := state_of(fact.content))}
    fresh = dict.fromkeys(timeline.position[t] for t in triggers if t in timeline.position)
    timeline.prepare(i for i in fresh if i not in states)
    muted = settings.muted_rules
    returns = _unmuted(value_returns.find(timeline, fresh, states.keys()), muted)
    taken = [{timeline.position[i] for i in finding.fact_ids} for finding in returns]
    pairs = PairFinder(timeline, states.keys(), taken)
    answers = AnswerFinder(timeline, questions)
    left = set(fresh)
    for i in fresh:
        pairs.read(i)
        answers.read(i)
        left.remove(i)
        if is_over():
            break
    found = [
        *_unmuted(state_returns.find(timeline, fresh, states), muted),
        *returns,
        *pairs.findings(),
        *_unmuted(answers.findings(), muted),
    ]
    chosen = [f for f in join_reversals(found) if f.confidence >= settings.min_confidence]
    chosen.sort(key=lambda f: tuple(timeline.position[i] for i in (f.fact_ids[0], f.fact_ids[-1])))
    return Found(chosen, frozenset(timeline.facts[i].id for i in left))


def _unmuted(findings: Iterable[Finding], muted: Collection[str]) -> list[Finding]:
    return [finding for finding in findings if finding.rules[0] not in muted]


def left_unread(facts: Iterable[Fact]) -> frozenset[str]:
    """Return the ids of facts that are longer than rules read; `detect` leaves them out."""
    return frozenset(fact.id for fact in facts if why_too_long(fact.content))
