"""Find contradictions among what facts answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from conflicts.core.answers.alike import without_repetitions
from conflicts.core.answers.history import Histories
from conflicts.core.answers.index import AnswerIndex, QuestionVectors, StatedAnswer
from conflicts.core.facts import Finding
from conflicts.core.rules import answer_denied, answer_gone, answer_returns, two_answers
from conflicts.core.timeline import Timeline


def join_reversals(findings: Sequence[Finding]) -> list[Finding]:
    """Return findings in which a rule and a writer's answer tell of one return once.

    The writer names the change: the finding has that, and the older statements of both.
    """
    told = [f for f in findings if f.rules[0] == answer_returns.RULE.id]
    joined = []
    for finding in findings:
        if finding.rules[0] == answer_returns.RULE.id:
            continue
        at = _position_of_same(told, finding) if finding.kind == "reversal" else None
        if at is None:
            joined.append(finding)
        else:
            told[at] = _with_earlier(told[at], finding)
    return joined + told


def _position_of_same(told: Sequence[Finding], by_rule: Finding) -> int | None:
    """Return the position of the return that a rule found too.

    Of several that one statement ends, it is the one with another statement in common.
    """
    ends = [i for i, one in enumerate(told) if one.fact_ids[-1] == by_rule.fact_ids[-1]]
    if len(ends) == 1:
        return ends[0]
    known = set(by_rule.fact_ids[:-1])
    return next((i for i in ends if not known.isdisjoint(told[i].fact_ids)), None)


def _with_earlier(by_answer: Finding, by_rule: Finding) -> Finding:
    """Return a return told by an answer, with what a rule found of the time before the change."""
    earlier = [i for i in by_rule.yes_keeps if i not in by_answer.fact_ids]
    return replace(
        by_answer,
        fact_ids=(*earlier, *by_answer.fact_ids),
        yes_keeps=(*earlier, *by_answer.yes_keeps),
        confidence=max(by_answer.confidence, by_rule.confidence),
        rules=tuple(dict.fromkeys((*by_answer.rules, *by_rule.rules))),
    )


class AnswerFinder:
    """Finds contradictions among what facts answer, one fact after the other."""

    def __init__(self, timeline: Timeline, vectors: QuestionVectors) -> None:
        self._timeline, self._index = timeline, AnswerIndex(timeline, vectors)
        self._histories = Histories(timeline, self._index)
        self._found: dict[int, list[Finding]] = {}

    def read(self, position: int) -> None:
        """Read what was answered to the questions of a fact."""
        self._found[position] = [
            finding
            for asked, stated in self._index.about([position])
            for finding in _find_of_question(self._histories, stated, asked)
        ]

    def findings(self) -> list[Finding]:
        """Return the findings that hold one of the facts read, at most one for the same facts."""
        timeline, index, fresh = self._timeline, self._index, self._found.keys()
        if not index:
            return []
        found: dict[frozenset[str], Finding] = {}
        for position in sorted(fresh):
            for finding in self._found[position]:
                found.setdefault(frozenset(finding.fact_ids), finding)
        named = [f for f in answer_returns.find_named(timeline, index, fresh) if _is_new(f, found)]
        denied = [f for f in answer_denied.find(timeline, index, fresh) if _is_new(f, found)]
        for finding in (*named, *denied, *answer_gone.find(self._histories, fresh)):
            found.setdefault(frozenset(finding.fact_ids), finding)
        return list(found.values())


def _find_of_question(
    histories: Histories, stated: Sequence[StatedAnswer], asked: StatedAnswer
) -> list[Finding]:
    """Return the findings of one series of answers; all are read if some of the equal do not do."""
    for series in (without_repetitions(histories.timeline, stated, asked), stated):
        history = histories.read(series, asked)
        found = [
            *answer_returns.find(histories.timeline, history),
            *two_answers.find(histories, history, asked),
        ]
        if found:
            return found
    return []


def _is_new(finding: Finding, found: Mapping[frozenset[str], Finding]) -> bool:
    """Return whether no other finding has all facts of this one."""
    return not any(frozenset(finding.fact_ids) <= known for known in found)
