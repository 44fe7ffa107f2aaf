"""A fact denies what a later answer takes for granted: no fees, then "What is the fee?"."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from conflicts.core.answers.history import stands
from conflicts.core.answers.index import AnswerIndex, StatedAnswer
from conflicts.core.answers.pairs import announces_change, are_comparable
from conflicts.core.answers.unaware import is_unaware
from conflicts.core.facts import Finding
from conflicts.core.questions import ANSWER_CHARS, ask_ambiguity, quote
from conflicts.core.rules.rule import Rule
from conflicts.core.settled import is_settled
from conflicts.core.severity import severity_of
from conflicts.core.timeline import Timeline
from memories.core.answer_values import denies_all, is_yes_or_no
from memories.core.answers import Answer

RULE: Final = Rule(
    id="ambiguity.answer-denied",
    meaning="A statement answers a question with no, and a later one answers what could only be "
    "asked if it were yes.",
    module=__name__,
    example=(
        "Nothing more is due for a sledge that comes back late.",
        "Late sledges: take three euros an hour at the desk.",
    ),
    answers=(
        (Answer("Is a fine charged for late sledges?", "no"),),
        (Answer("How high is the fine charged for late sledges?", "three euros an hour"),),
    ),
)
CONFIDENCE: Final = 0.75
MIN_COSINE: Final = 0.80  # of the two questions


def find(timeline: Timeline, index: AnswerIndex, fresh: Collection[int]) -> list[Finding]:
    """Return the pairs of a denial and a later answer that relies on the opposite, one fresh."""
    found: dict[tuple[int, int], Finding] = {}
    # Where both are fresh, each of them leads to the other.
    for denial, relying in dict.fromkeys(index.denied_pairs(fresh, least=MIN_COSINE)):
        if _contradict(timeline, index, denial, relying):
            pair = denial.position, relying.position
            found.setdefault(pair, _make_finding(timeline, denial, relying))
    return [found[pair] for pair in sorted(found)]


def _contradict(
    timeline: Timeline, index: AnswerIndex, denial: StatedAnswer, relying: StatedAnswer
) -> bool:
    return (
        denies_all(denial.answer.answer)
        and not is_yes_or_no(relying.answer.answer)
        and stands(timeline, denial)
        and stands(timeline, relying)
        and are_comparable(timeline, denial, relying)
        and not announces_change(timeline, relying)
        and is_unaware(timeline, index, denial, relying)
        and not is_settled(timeline, denial.position, relying.position)
    )


def _make_finding(timeline: Timeline, denial: StatedAnswer, relying: StatedAnswer) -> Finding:
    old, new = timeline.facts[denial.position], timeline.facts[relying.position]
    asked, other, value = (
        quote(text, ANSWER_CHARS)
        for text in (denial.answer.question, relying.answer.question, relying.answer.answer)
    )
    return Finding(
        kind="ambiguity",
        fact_ids=(old.id, new.id),
        yes_keeps=(new.id,),
        question=ask_ambiguity(new.content, old.content),
        reasoning=f"Asked {asked}, the older memory answers no; the newer one answers {other} with "
        f"{value}, and no later memory settles which one holds.",
        severity=severity_of([old, new]),
        confidence=CONFIDENCE,
        suggestion=None,
        rules=(RULE.id,),
    )
