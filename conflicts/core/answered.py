"""Find contradictions among what facts answer."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from conflicts.core.answers.history import read_history
from conflicts.core.answers.index import AnswerIndex, QuestionVectors
from conflicts.core.facts import Finding
from conflicts.core.rules import answer_gone, answer_returns, two_answers
from conflicts.core.timeline import Timeline


def join_reversals(findings: Sequence[Finding]) -> list[Finding]:
    """Return findings in which no two reversals end with one statement.

    Where a rule and a writer's answer tell of one return, the writer names the change: the finding
    has that, and the older statements of both.
    """
    told = {f.fact_ids[-1]: f for f in findings if f.rules[0] == answer_returns.RULE.id}
    joined = []
    for finding in findings:
        by_answer = told.get(finding.fact_ids[-1]) if finding.kind == "reversal" else None
        if by_answer is None:
            joined.append(finding)
        elif finding.rules[0] != answer_returns.RULE.id:
            told[finding.fact_ids[-1]] = _with_earlier(by_answer, finding)
    return joined + list(told.values())


def _with_earlier(by_answer: Finding, by_rule: Finding) -> Finding:
    """Return a return told by an answer, with what a rule found of the time before the change."""
    earlier = [i for i in by_rule.yes_keeps if i not in by_answer.fact_ids]
    return replace(
        by_answer,
        fact_ids=(*earlier, *by_answer.fact_ids),
        yes_keeps=(*earlier, *by_answer.yes_keeps),
        confidence=max(by_answer.confidence, by_rule.confidence),
        rules=(*by_answer.rules, *by_rule.rules),
    )


def find_in_answers(
    timeline: Timeline, fresh: Collection[int], vectors: QuestionVectors
) -> list[Finding]:
    """Return the findings that hold one of the ``fresh`` facts, at most one for the same facts."""
    index = AnswerIndex(timeline, vectors)
    if not index:
        return []
    found: dict[frozenset[str], Finding] = {}
    for asked, stated in index.about(fresh):
        history = read_history(timeline, index, stated, asked)
        for finding in (
            *answer_returns.find(timeline, history),
            *two_answers.find(timeline, history),
        ):
            found.setdefault(frozenset(finding.fact_ids), finding)
    named = [f for f in answer_returns.find_named(timeline, index, fresh) if _is_new(f, found)]
    for finding in (*named, *answer_gone.find(timeline, index, fresh)):
        found.setdefault(frozenset(finding.fact_ids), finding)
    return list(found.values())


def _is_new(finding: Finding, found: Mapping[frozenset[str], Finding]) -> bool:
    """Return whether no other finding has all facts of this one."""
    return not any(frozenset(finding.fact_ids) <= known for known in found)
