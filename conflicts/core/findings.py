"""From what the rules found to what a person is asked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from conflicts.core.ambiguities import Clash
from conflicts.core.comparisons import Comparisons
from conflicts.core.facts import Finding
from conflicts.core.questions import ask_ambiguity, ask_reversal, ask_stale, ask_state
from conflicts.core.reversals import Arc
from conflicts.core.severity import severity_of
from conflicts.core.stale import Ending
from conflicts.core.states import State
from conflicts.core.subjects import Note, group_by_subject
from conflicts.core.timeline import Timeline

STATE_CONFIDENCE: Final = 0.9
MAX_CONFIDENCE: Final = 0.95
SAME_SIDE_COSINE: Final = 0.70


def of_state(
    timeline: Timeline, arc: Sequence[tuple[int, State]], newest: State, between: State
) -> Finding:
    """Put the history of a state into a finding; ``arc`` is oldest first."""
    positions = [i for i, _ in arc]
    values = " → ".join(state.written for _, state in arc)
    return Finding(
        kind="reversal",
        fact_ids=_ids(timeline, positions),
        yes_keeps=_ids(timeline, (i for i, state in arc if state.value == newest.value)),
        question=ask_state(newest.subject, newest.attribute, newest.written, between.written),
        reasoning=f"The {newest.attribute} of {newest.subject} went {values} and no memory says "
        "that it was set back.",
        severity=severity_of([timeline.facts[i] for i in positions]),
        confidence=STATE_CONFIDENCE,
        suggestion=None,
    )


def of_arc(timeline: Timeline, arc: Arc) -> Finding:
    """Put an unannounced return into a finding; yes keeps both statements of the old value."""
    members = (arc.earlier, arc.change, arc.restated)
    turn, new = timeline.facts[arc.change], timeline.facts[arc.restated]
    return Finding(
        kind="reversal",
        fact_ids=_ids(timeline, members),
        yes_keeps=_ids(timeline, (arc.earlier, arc.restated)),
        question=ask_reversal(new.content, turn.content),
        reasoning=f"A change was noted on {turn.observed_at:%d %B %Y}, yet the earlier claim is "
        f"stated as current again on {new.observed_at:%d %B %Y} without a word about going back.",
        severity=severity_of([timeline.facts[i] for i in members]),
        confidence=round(min(MAX_CONFIDENCE, 0.4 + 0.4 * arc.strength), 3),
        suggestion=None,
    )


def of_ending(timeline: Timeline, ending: Ending) -> Finding:
    """Put a claim that leans on something gone into a finding; yes keeps the claim."""
    old, gone = timeline.facts[ending.leaning], timeline.facts[ending.end]
    return Finding(
        kind="stale",
        fact_ids=(old.id, gone.id),
        yes_keeps=(old.id,),
        question=ask_stale(old.content, gone.content),
        reasoning=f"The claim of {old.observed_at:%d %B %Y} leans on something that is reported "
        f"gone on {gone.observed_at:%d %B %Y}, and no memory says what took its place.",
        severity=severity_of([old, gone]),
        confidence=round(ending.strength, 3),
        suggestion="no",
    )


def of_clashes(timeline: Timeline, clashes: Sequence[Clash]) -> Finding:
    """Put disagreeing claims into one finding; yes keeps the newest and what sides with it."""
    members = sorted({i for clash in clashes for i in (clash.older, clash.newer)})
    named = members[-1]
    against = [clash for clash in clashes if clash.newer == named]
    best = max(against, key=lambda clash: (clash.strength, clash.older))
    opposed = {clash.older for clash in against}
    sides = [
        i
        for i in members
        if i not in opposed and (i == named or timeline.cosine(i, named) >= SAME_SIDE_COSINE)
    ]
    reasons = dict.fromkeys(reason for clash in clashes for reason in clash.reasons)
    return Finding(
        kind="ambiguity",
        fact_ids=_ids(timeline, members),
        yes_keeps=_ids(timeline, sides),
        question=ask_ambiguity(timeline.facts[named].content, timeline.facts[best.older].content),
        reasoning=f"These memories disagree ({'; '.join(list(reasons)[:2])}) and no later memory "
        "settles which one holds.",
        severity=severity_of([timeline.facts[i] for i in members]),
        confidence=round(best.strength, 3),
        suggestion=None,
    )


def _ids(timeline: Timeline, positions: Iterable[int]) -> tuple[str, ...]:
    return tuple(timeline.facts[i].id for i in sorted(positions))


def split_by_subject(
    finding: Finding, notes: Mapping[str, Note], known: Comparisons
) -> list[Finding]:
    """Return a finding as one a subject; a subject on which nothing disagrees is left out.

    ``notes`` hold what each fact says. A finding about one thing is returned as it is; the parts
    of another ask anew, because its question may quote what belongs to another part.
    """
    groups = group_by_subject(
        finding.fact_ids, notes.__getitem__, is_other=known.are_of_other_subjects
    )
    if len(groups) < 2:
        return [finding]
    return [part for group in groups if (part := _part(finding, group, notes, known))]


def _part(
    finding: Finding, group: Sequence[str], notes: Mapping[str, Note], known: Comparisons
) -> Finding | None:
    """Ask about some facts of a finding, oldest first; yes keeps the newest that yes kept."""
    named = next((i for i in reversed(group) if i in finding.yes_keeps), group[-1])
    claim = notes[named].content
    makes_it = known.making(claim, [notes[i].content for i in group])
    for_yes = tuple(i for i, is_so in zip(group, makes_it, strict=True) if is_so)
    against = [i for i in group if i not in for_yes]
    if not against:
        return None
    return replace(
        finding,
        kind="ambiguity",
        fact_ids=tuple(group),
        yes_keeps=for_yes,
        question=ask_ambiguity(claim, notes[against[-1]].content),
        suggestion=None,
    )
