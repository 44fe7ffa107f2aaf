"""The deterministic detective: reads a workspace's facts and finds where a newcomer would stumble.

Pure and repeatable: the same facts give the same findings in any order of input. Cost grows with
the triggers and their neighbourhoods, not with all pairs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Final

from conflicts.core.ambiguities import Clash, find_clash
from conflicts.core.facts import DetectiveSettings, Fact, Finding
from conflicts.core.questions import ask_ambiguity, ask_reversal, ask_stale, ask_state
from conflicts.core.reversals import Arc, find_arcs, is_change
from conflicts.core.stale import Ending, find_ending
from conflicts.core.states import State, returning_arcs, state_of
from conflicts.core.timeline import Timeline, Vectors

__all__ = ["DetectiveSettings", "Fact", "Finding", "detect"]

_DEFAULTS: Final = DetectiveSettings()


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
        When the story is read; facts observed later are left out.
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
    seen = [i for i, fact in enumerate(facts) if fact.observed_at <= now]
    timeline = Timeline([facts[i] for i in seen], vectors[seen], settings)
    states = {i: s for i, fact in enumerate(timeline.facts) if (s := state_of(fact.content))}
    if triggers is None:
        fresh = set(range(len(timeline)))
    else:
        fresh = {timeline.position[t] for t in triggers if t in timeline.position}
    found = _state_findings(timeline, states, fresh)
    free = {i for i in fresh if i not in states}
    timeline.prepare(free)
    taken: set[frozenset[int]] = set()
    found += _reversal_findings(timeline, free, states, taken)
    found += _pair_findings(timeline, free, states, taken)
    return sorted(
        (f for f in found if f.confidence >= settings.min_confidence),
        key=lambda f: tuple(timeline.position[i] for i in (f.fact_ids[0], f.fact_ids[-1])),
    )


def _ids(timeline: Timeline, positions: Iterable[int]) -> tuple[str, ...]:
    return tuple(timeline.facts[i].id for i in sorted(positions))


def _state_findings(timeline: Timeline, states: dict[int, State], fresh: set[int]) -> list[Finding]:
    histories: dict[tuple[str, ...], list[tuple[int, State]]] = defaultdict(list)
    for i in sorted(states):
        fact = timeline.facts[i]
        histories[(*states[i].key, fact.project)].append((i, states[i]))
    findings = []
    for history in histories.values():
        if fresh.isdisjoint(i for i, _ in history):
            continue
        for positions, newest, between in returning_arcs(history):
            if fresh.isdisjoint(positions):
                continue
            values = " → ".join(states[i].written for i in positions)
            findings.append(
                Finding(
                    kind="reversal",
                    fact_ids=_ids(timeline, positions),
                    yes_keeps=_ids(timeline, positions[-1:]),
                    question=ask_state(
                        newest.subject, newest.attribute, newest.written, between.written
                    ),
                    reasoning=f"The {newest.attribute} of {newest.subject} went {values} and no "
                    "memory says that it was set back.",
                    severity="medium",
                    confidence=0.9,
                    suggestion=None,
                )
            )
    return findings


def _reversal_findings(
    timeline: Timeline, fresh: set[int], states: dict[int, State], taken: set[frozenset[int]]
) -> list[Finding]:
    """Arcs grouped by their change: all that claim the old value are one finding."""
    near = {j for i in fresh for j in (i, *timeline.neighbours(i))} - states.keys()
    changes = [i for i in sorted(near) if is_change(timeline, i)]
    timeline.prepare(changes)
    groups: list[tuple[int, list[Arc]]] = []
    for change in changes:
        arcs = [
            arc
            for arc in find_arcs(timeline, change)
            if states.keys().isdisjoint((arc.earlier, arc.restated))
            and not fresh.isdisjoint((arc.earlier, change, arc.restated))
        ]
        if arcs:
            groups.append((change, arcs))
    findings = []
    for change, arcs in groups:
        best = max(arcs, key=lambda a: (a.strength, -a.earlier, -a.restated))
        if any({best.earlier, best.restated} <= pair for pair in taken):
            continue
        members = {best.earlier, change, best.restated}
        taken.add(frozenset(members))
        turn, new = timeline.facts[change], timeline.facts[best.restated]
        findings.append(
            Finding(
                kind="reversal",
                fact_ids=_ids(timeline, members),
                yes_keeps=_ids(timeline, [best.restated]),
                question=ask_reversal(new.content, turn.content),
                reasoning=f"A change was noted on {turn.observed_at:%d %B %Y}, yet the earlier "
                f"claim is stated as current again on {new.observed_at:%d %B %Y} without a word "
                "about going back.",
                severity="medium",
                confidence=round(min(0.95, 0.4 + 0.4 * best.strength), 3),
                suggestion=None,
            )
        )
    return findings


def _pair_findings(
    timeline: Timeline, fresh: set[int], states: dict[int, State], taken: set[frozenset[int]]
) -> list[Finding]:
    """Ambiguities and stale claims among the pairs that hold a trigger."""
    pairs = sorted(
        {(min(i, j), max(i, j)) for i in fresh for j in timeline.neighbours(i) if j not in states}
    )
    findings: list[Finding] = []
    clashes: list[Clash] = []
    for older, newer in pairs:
        if any({older, newer} <= members for members in taken):
            continue
        ending = find_ending(timeline, older, newer)
        if ending:
            findings.append(_stale_finding(timeline, ending))
            continue
        clash = find_clash(timeline, older, newer)
        if clash:
            clashes.append(clash)
    return findings + _ambiguity_findings(timeline, clashes)


def _stale_finding(timeline: Timeline, ending: Ending) -> Finding:
    old, gone = (timeline.facts[i] for i in (ending.leaning, ending.end))
    return Finding(
        kind="stale",
        fact_ids=(old.id, gone.id),
        yes_keeps=(old.id,),
        question=ask_stale(old.content, gone.content),
        reasoning=f"The claim of {old.observed_at:%d %B %Y} leans on something that is reported "
        f"gone on {gone.observed_at:%d %B %Y}, and no memory says what took its place.",
        severity="medium",
        confidence=round(ending.strength, 3),
        suggestion="no",
    )


def _ambiguity_findings(timeline: Timeline, clashes: list[Clash]) -> list[Finding]:
    """Join clashes that share a fact: N disagreeing values are one finding."""
    groups: list[list[Clash]] = []
    for clash in clashes:
        touching = [
            g for g in groups if any({c.older, c.newer} & {clash.older, clash.newer} for c in g)
        ]
        merged = [clash, *(c for group in touching for c in group)]
        groups = [g for g in groups if g not in touching] + [merged]
    findings = []
    for group in groups:
        members = sorted({i for c in group for i in (c.older, c.newer)})
        best = max(group, key=lambda c: (c.strength, c.newer, -c.older))
        named, other = members[-1], best.older if best.older != members[-1] else best.newer
        new, old = timeline.facts[named], timeline.facts[other]
        reasons = tuple(dict.fromkeys(reason for clash in group for reason in clash.reasons))
        findings.append(
            Finding(
                kind="ambiguity",
                fact_ids=_ids(timeline, members),
                yes_keeps=(new.id,),
                question=ask_ambiguity(new.content, old.content),
                reasoning=f"These memories disagree ({'; '.join(reasons[:2])}) and no later memory "
                "settles which one holds.",
                severity="medium",
                confidence=round(best.strength, 3),
                suggestion=None,
            )
        )
    return findings
