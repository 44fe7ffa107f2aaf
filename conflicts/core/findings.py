"""Build findings, with their questions, from the results of the rules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from conflicts.core.comparisons import Comparisons
from conflicts.core.facts import Finding
from conflicts.core.parts import MAX_MEMBERS
from conflicts.core.questions import OF_SOME, ask_ambiguity
from conflicts.core.rules.pair import Clash
from conflicts.core.severity import severity_of
from conflicts.core.subjects import LocatedText, group_by_subject
from conflicts.core.timeline import Timeline
from memories.core.answer_values import compare_values
from memories.core.reasons import distinct

SAME_SIDE_COSINE: Final = 0.70


def of_clashes(timeline: Timeline, clashes: Sequence[Clash]) -> Finding:
    """Return one finding of several clashes; yes keeps the newest and those that agree with it.

    Of many members it lists the two that the question names, and the newest others.
    """
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
    others = [i for i in members if i not in (named, best.older)]
    listed = sorted({named, best.older, *others[2 - MAX_MEMBERS :]})
    reasons = distinct(reason for clash in clashes for reason in clash.reasons)
    rules = dict.fromkeys(clash.rule.id for clash in (best, *clashes))
    return Finding(
        kind="ambiguity",
        fact_ids=_ids(timeline, listed),
        yes_keeps=_ids(timeline, set(sides).intersection(listed)),
        question=ask_ambiguity(timeline.facts[named].content, timeline.facts[best.older].content),
        reasoning=f"These memories disagree ({'; '.join(reasons[:2])}) and no later memory "
        "settles which one holds.",
        severity=severity_of([timeline.facts[i] for i in members]),
        confidence=round(best.strength, 3),
        suggestion=None,
        rules=tuple(rules),
        unlisted=_ids(timeline, set(members).difference(listed)),
    )


def _ids(timeline: Timeline, positions: Iterable[int]) -> tuple[str, ...]:
    return tuple(timeline.facts[i].id for i in sorted(positions))


def split_by_subject(
    finding: Finding, notes: Mapping[str, LocatedText], known: Comparisons
) -> list[Finding]:
    """Split a finding into one per subject; subjects without a contradiction are dropped.

    ``notes`` are the facts' texts and scopes. A finding with one subject is returned unchanged;
    parts of another get a new question, because the old one may quote another part. Where facts
    answer a question, only those with other answers are compared, and without the answers' words.
    """
    notes = {**notes, **{i: replace(notes[i], answer=told) for i, told in finding.answers}}
    groups = group_by_subject(
        finding.fact_ids, notes.__getitem__, is_other=known.are_of_other_subjects
    )
    if len(groups) < 2:
        return [finding]
    return [part for group in groups if (part := _part(finding, group, notes, known))]


def _part(
    finding: Finding, group: Sequence[str], notes: Mapping[str, LocatedText], known: Comparisons
) -> Finding | None:
    """Ask about some facts of a finding, oldest first; yes keeps the newest that yes kept."""
    named = next((i for i in reversed(group) if i in finding.yes_keeps), group[-1])
    claim = notes[named].content
    told = {i: compare_values(notes[i].answer, notes[named].answer) for i in group}
    if all(notes[i].answer for i in group):
        for_yes = tuple(i for i in group if i == named or told[i] == "same")
        against = [i for i in group if told[i] == "other"]
    else:
        makes_it = known.match_claim(claim, [notes[i].content for i in group])
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
        reasoning=OF_SOME,
        suggestion=None,
        unlisted=finding.unlisted if finding.fact_ids[-1] in group else (),
    )
