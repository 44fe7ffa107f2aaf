"""Deterministic detection: find contradictions among a workspace's facts by rules.

Pure: the same facts give the same findings in any input order. The cost grows with the new facts
and their neighbourhoods, not with all pairs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Final

from conflicts.core.ambiguities import find_clash
from conflicts.core.answered import find_in_answers, join_reversals
from conflicts.core.answers.index import QuestionVectors
from conflicts.core.clash_groups import join_clashes
from conflicts.core.facts import DetectiveSettings, Fact, Finding
from conflicts.core.findings import of_clashes
from conflicts.core.rules import gone_then_used, state_returns, value_returns, version_left
from conflicts.core.rules.pair import Clash
from conflicts.core.states import state_of
from conflicts.core.subjects import are_of_one_subject
from conflicts.core.timeline import Timeline, Vectors
from memories.core.claims import why_too_long

__all__ = ["DetectiveSettings", "Fact", "Finding", "detect", "left_unread"]

_DEFAULTS: Final = DetectiveSettings()
_NO_QUESTIONS: Final[QuestionVectors] = {}


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
    if vectors.shape[0] != len(facts):
        raise ValueError(f"{len(facts)} facts but {vectors.shape[0]} vectors")
    unread = left_unread(facts)
    seen = [i for i, fact in enumerate(facts) if fact.observed_at <= now and fact.id not in unread]
    timeline = Timeline([facts[i] for i in seen], vectors[seen], settings)
    states = {i: s for i, fact in enumerate(timeline.facts) if (s := state_of(fact.content))}
    if triggers is None:
        fresh = set(range(len(timeline)))
    else:
        fresh = {timeline.position[t] for t in triggers if t in timeline.position}
    timeline.prepare(i for i in fresh if i not in states)
    muted = settings.muted_rules
    returns = _unmuted(value_returns.find(timeline, fresh, states.keys()), muted)
    taken = [{timeline.position[i] for i in finding.fact_ids} for finding in returns]
    found = [
        *_unmuted(state_returns.find(timeline, fresh, states), muted),
        *returns,
        *_pair_findings(timeline, fresh, states.keys(), taken),
        *_unmuted(find_in_answers(timeline, fresh, questions), muted),
    ]
    return sorted(
        (
            finding
            for finding in join_reversals(found)
            if finding.confidence >= settings.min_confidence
        ),
        key=lambda f: tuple(timeline.position[i] for i in (f.fact_ids[0], f.fact_ids[-1])),
    )


def _unmuted(findings: Iterable[Finding], muted: Collection[str]) -> list[Finding]:
    return [finding for finding in findings if finding.rules[0] not in muted]


def left_unread(facts: Iterable[Fact]) -> frozenset[str]:
    """Return the ids of facts that are longer than rules read; `detect` leaves them out."""
    return frozenset(fact.id for fact in facts if why_too_long(fact.content))


def _find_stale(timeline: Timeline, older: int, newer: int) -> Finding | None:
    """Return what makes the older fact stale, by the rules that are not muted."""
    muted = timeline.settings.muted_rules
    if gone_then_used.RULE.id not in muted and (
        ending := gone_then_used.find(timeline, older, newer)
    ):
        return gone_then_used.finding_of(timeline, ending)
    return None if version_left.RULE.id in muted else version_left.find(timeline, older, newer)


def _pair_findings(
    timeline: Timeline, fresh: set[int], states: Collection[int], taken: Sequence[set[int]]
) -> list[Finding]:
    """Stale claims and ambiguities among the pairs that hold a trigger."""
    past = {i for i, fact in enumerate(timeline.facts) if fact.is_past}
    free = fresh.difference(states)
    pairs = {(min(i, j), max(i, j)) for i in free for j in timeline.neighbours(i)}
    findings: list[Finding] = []
    clashes: list[Clash] = []
    muted = timeline.settings.muted_rules
    for older, newer in sorted(pairs):
        if older in states or newer in states or any({older, newer} <= f for f in taken):
            continue
        if older in past or newer in past:
            continue
        stale = _find_stale(timeline, older, newer)
        clash = None if stale else find_clash(timeline, older, newer)
        if clash and clash.rule.id in muted:
            clash = None
        facts = (timeline.facts[older], timeline.facts[newer])
        if not (stale or clash) or not are_of_one_subject(facts):
            continue
        if stale:
            findings.append(stale)
        if clash:
            clashes.append(clash)
    return findings + [of_clashes(timeline, group) for group in join_clashes(timeline, clashes)]
