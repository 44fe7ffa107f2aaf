"""Deterministic detection: find contradictions among a workspace's facts by rules.

Pure: the same facts give the same findings in any input order. The cost grows with the new facts
and their neighbourhoods, not with all pairs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Final

from conflicts.core.ambiguities import find_clash
from conflicts.core.facts import DetectiveSettings, Fact, Finding
from conflicts.core.findings import of_clashes
from conflicts.core.rules import gone_then_used, state_returns, value_returns
from conflicts.core.rules.pair import Clash
from conflicts.core.states import state_of
from conflicts.core.subjects import are_of_one_subject
from conflicts.core.timeline import Timeline, Vectors
from memories.core.claims import why_too_long

__all__ = ["DetectiveSettings", "Fact", "Finding", "detect", "left_unread"]

_DEFAULTS: Final = DetectiveSettings()
SAME_MATTER_COSINE: Final = 0.70


def detect(
    facts: Sequence[Fact],
    vectors: Vectors,
    *,
    now: datetime,
    triggers: Collection[str] | None = None,
    settings: DetectiveSettings = _DEFAULTS,
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
    returns = value_returns.find(timeline, fresh, states.keys())
    taken = [{timeline.position[i] for i in finding.fact_ids} for finding in returns]
    found = [
        *state_returns.find(timeline, fresh, states),
        *returns,
        *_pair_findings(timeline, fresh, states.keys(), taken),
    ]
    return sorted(
        (finding for finding in found if finding.confidence >= settings.min_confidence),
        key=lambda f: tuple(timeline.position[i] for i in (f.fact_ids[0], f.fact_ids[-1])),
    )


def left_unread(facts: Iterable[Fact]) -> frozenset[str]:
    """Return the ids of facts that are longer than rules read; `detect` leaves them out."""
    return frozenset(fact.id for fact in facts if why_too_long(fact.content))


def _pair_findings(
    timeline: Timeline, fresh: set[int], states: Collection[int], taken: Sequence[set[int]]
) -> list[Finding]:
    """Stale claims and ambiguities among the pairs that hold a trigger."""
    free = fresh.difference(states)
    pairs = {(min(i, j), max(i, j)) for i in free for j in timeline.neighbours(i)}
    findings: list[Finding] = []
    clashes: list[Clash] = []
    for older, newer in sorted(pairs):
        if older in states or newer in states or any({older, newer} <= f for f in taken):
            continue
        ending = gone_then_used.find(timeline, older, newer)
        clash = None if ending else find_clash(timeline, older, newer)
        facts = (timeline.facts[older], timeline.facts[newer])
        if not (ending or clash) or not are_of_one_subject(facts):
            continue
        if ending:
            findings.append(gone_then_used.finding_of(timeline, ending))
        if clash:
            clashes.append(clash)
    return findings + [of_clashes(timeline, group) for group in _join_clashes(timeline, clashes)]


def _is_one_matter(timeline: Timeline, older: int, newer: int) -> bool:
    """Return whether two facts of one subject are near in meaning or disagree."""
    if not are_of_one_subject(timeline.facts[i] for i in (older, newer)):
        return False
    is_near = timeline.cosine(older, newer) >= SAME_MATTER_COSINE
    return is_near or find_clash(timeline, older, newer) is not None


def _join_clashes(timeline: Timeline, clashes: Sequence[Clash]) -> list[list[Clash]]:
    """Join clashes about one matter, so that N disagreeing values are one finding.

    A clash joins a group that it shares a fact with when its other fact disagrees with, or is
    very near to, every member: a chain of different matters stays apart.
    """
    pairs = {frozenset((clash.older, clash.newer)) for clash in clashes}
    groups: list[list[Clash]] = []
    for clash in clashes:
        both = {clash.older, clash.newer}
        for group in groups:
            members = {i for c in group for i in (c.older, c.newer)}
            others = [(i, j) for i in both - members for j in members - both]
            if both & members and all(
                frozenset(pair) in pairs or _is_one_matter(timeline, *sorted(pair))
                for pair in others
            ):
                group.append(clash)
                break
        else:
            groups.append([clash])
    return groups
