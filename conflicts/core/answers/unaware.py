"""Decide whether two writers answered one question without knowing each other's answer."""

from __future__ import annotations

import re
from typing import Final

from conflicts.core.answers.additions import may_both_be_true
from conflicts.core.answers.index import AnswerIndex, StatedAnswer
from conflicts.core.answers.several import (
    asks_of_past_events,
    has_several_answers,
    leaves_no_room,
)
from conflicts.core.comparable import is_real
from conflicts.core.timeline import Timeline
from memories.core.answer_values import compare_values, is_measured, is_yes, is_yes_or_no, mentions
from memories.core.one_more import is_one_more

NEAR_QUESTION: Final = 0.70
# What comes to an end changes from no to yes by itself.
_COMPLETION: Final = re.compile(
    r"^(?:has|have|had|did|was|were)\b|^(?:is|are)\b.*\b(?:done|closed|completed?|finished|fixed|ready|resolved|"
    r"live|merged|signed|approved|delivered|arrived|booked|paid|ordered|installed|started|begun)\b",
    re.IGNORECASE,
)
# What something costs is a price that was set; what it did cost was paid once.
_MEASURED: Final = re.compile(
    r"\b(?:how\s(?:long|much\stime|many\s(?:minutes|hours|days|weeks))\b[^?]{0,80}\s(?:take|takes|took)|"
    r"weigh|weighs|score|scores|coming|registered|signed\sup|"
    r"(?:did|has|have|had)\s[^?]{1,80}\scost)\b",
    re.IGNORECASE,
)


def is_unaware(
    timeline: Timeline, index: AnswerIndex, old: StatedAnswer, new: StatedAnswer
) -> bool:
    """Return whether both state facts, and neither writer knew the other answer.

    An answer that is added, measured anew, or follows by itself ("not yet", "done") does not count.
    """
    if not all(is_real(timeline.statements[one.position]) for one in (old, new)):
        return False
    asked = new.answer.question
    if _COMPLETION.search(asked) and is_yes(new.answer.answer):
        return False
    texts = (timeline.facts[one.position].content for one in (old, new))
    if _MEASURED.search(asked) or is_one_more(*texts):
        return False
    if _knows(timeline, index, old, new) or _knows(timeline, index, new, old):
        return False
    return not _may_both_be_true(timeline, index, old, new)


def _may_both_be_true(
    timeline: Timeline, index: AnswerIndex, old: StatedAnswer, new: StatedAnswer
) -> bool:
    """Return whether the newer answer may add to the older one: lists, habits, repeated events.

    A yes or no has nothing added. Where vectors are missing, the form of either question decides.
    """
    if any(is_yes_or_no(one.answer.answer) for one in (old, new)):
        return False
    if (pair := index.pair_of(old, new)) is not None:
        return may_both_be_true(pair)
    asked = old.answer.question, new.answer.question
    if any(map(asks_of_past_events, asked)):
        return True
    if is_measured(new.answer.answer) or not any(map(has_several_answers, asked)):
        return False
    return not any(
        leaves_no_room(f"{one.answer.answer} {timeline.facts[one.position].content}")
        for one in (old, new)
    )


def _knows(timeline: Timeline, index: AnswerIndex, one: StatedAnswer, other: StatedAnswer) -> bool:
    """Return whether a fact gives the other's value to another near question, or its number."""
    fact, value = timeline.facts[one.position], other.answer.answer
    if is_yes_or_no(value):
        return False
    gives_it = any(
        own is not one.answer
        and compare_values(own.answer, value) == "same"
        and index.cosine(own, other.answer) >= NEAR_QUESTION
        for own in fact.answers
    )
    return gives_it or (is_measured(value) and mentions(fact.content, value))
