"""Follow the answers to one question over time: which holds, which contradict, which return."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Final

from conflicts.core.answers.index import AnswerIndex, StatedAnswer
from conflicts.core.answers.pairs import (
    announces_change,
    are_comparable,
    exclude_each_other,
    says_it_was,
    tells_return,
)
from conflicts.core.answers.unaware import is_unaware
from conflicts.core.comparable import is_less_trusted
from conflicts.core.cues import SETTLES, Cue, cues, lengths_of_spans
from conflicts.core.settled import is_settled
from conflicts.core.timeline import Timeline
from memories.core.answer_values import compare_values, is_measured, is_name, mentions
from memories.core.spelling import collapse
from memories.core.topic_words import stems

SLACK: Final = 0.10  # of the cosine of two questions, of which a change is told
SLACK_OF_NAMES: Final = 0.24  # the same where the name that a change had left is given again
FOLLOWED_KEPT: Final = 32  # series of answers, up to some thousand pairs each
_DURING: Final = re.compile(r"(?:during|while|over|as\slong\sas)\s", re.IGNORECASE)
_OF_THE_PAST: Final = (Cue.PAST, Cue.PROGRESS)


AnswersOfTwo = tuple[StatedAnswer, StatedAnswer]  # older first


@dataclass(frozen=True, slots=True)
class Return:
    """An answer that was left, what changed it, and where it is given again.

    ``earlier`` is None where only the change says what the answer was before.
    """

    earlier: StatedAnswer | None
    change: StatedAnswer
    restated: StatedAnswer


@dataclass(slots=True)
class History:
    """What is open about one question at its end.

    `holding` are the answers given since the last announced change, oldest first; `clashes` those
    pairs of them that exclude each other, older first, which the answer asked about is in;
    `returns` answers that a change had left; `left` answers with what changed them.
    """

    holding: list[StatedAnswer] = field(default_factory=list)
    clashes: list[AnswersOfTwo] = field(default_factory=list)
    returns: list[Return] = field(default_factory=list)
    left: list[tuple[StatedAnswer | None, str, StatedAnswer]] = field(default_factory=list)


class Histories:
    """The histories of the questions of a timeline, for one run.

    Many facts may answer one question: whoever asks, a series of answers is followed once, and two
    answers are compared once.
    """

    def __init__(self, timeline: Timeline, index: AnswerIndex) -> None:
        self.timeline, self.index = timeline, index
        self._follow = lru_cache(maxsize=FOLLOWED_KEPT)(self._follow_series)
        self._exclusive: dict[AnswersOfTwo, bool] = {}
        self._clashing: dict[AnswersOfTwo, bool] = {}

    def read(self, stated: Sequence[StatedAnswer], asked: StatedAnswer | None = None) -> History:
        """Read the answers to one question, oldest first.

        Only contradictions that ``asked`` takes part in are returned: answers are matched with its
        question, and two others may be answers to two questions that are each near to it.
        """
        whole = self._follow(tuple(stated))
        return replace(
            whole,
            clashes=[p for p in whole.clashes if asked in p and self._are_in_dispute(*p)],
            returns=[r for r in whole.returns if asked in (r.earlier, r.change, r.restated)],
        )

    def are_exclusive(self, old: StatedAnswer, new: StatedAnswer) -> bool:
        """Return whether two answers exclude each other."""
        known = self._exclusive.get((old, new))
        if known is None:
            known = self._exclusive[old, new] = exclude_each_other(self.timeline, old, new)
        return known

    def _follow_series(self, stated: tuple[StatedAnswer, ...]) -> History:
        """Return the history with all pairs that may clash and all returns, whoever asks."""
        history = History()
        for one in stated:
            if stands(self.timeline, one):
                self._add(history, one)
        return history

    def _add(self, history: History, new: StatedAnswer) -> None:
        slack = SLACK_OF_NAMES if _is_named_again(history, new) else SLACK
        against = [
            old
            for old in history.holding
            if self.are_exclusive(old, new)
            and (self.index.are_one(old, new, slack=slack) or says_it_was(new, old.answer.answer))
        ]
        ended = against + [
            old for old in history.holding if self._is_ended(old, new) and old not in against
        ]
        returned = _find_return(self.timeline, history, new) if against else None
        if returned:
            history.returns.append(returned)
            history.holding.append(new)
            return
        if ended and self._is_change(ended, new):
            history.left += [(old, old.answer.answer, new) for old in ended]
            history.holding = [old for old in history.holding if old not in ended] + [new]
            history.clashes = [pair for pair in history.clashes if not _touches(pair, ended)]
            history.returns = []
            return
        history.clashes += [(old, new) for old in against]
        history.holding.append(new)
        if new.answer.was and not against:
            history.left.append((None, new.answer.was, new))

    def _is_ended(self, old: StatedAnswer, new: StatedAnswer) -> bool:
        """Return whether an answer names another as its predecessor, which might also hold.

        "Ana" and "the sous-chef" may be one person, unless the newer answer says who it was.
        """
        if not says_it_was(new, old.answer.answer):
            return False
        is_same = compare_values(old.answer.answer, new.answer.answer) == "same"
        return not is_same and self.index.are_one(old, new, slack=SLACK)

    def _is_change(self, against: Sequence[StatedAnswer], new: StatedAnswer) -> bool:
        """Return whether an answer tells of a change, by a writer not less trusted than before."""
        return announces_change(self.timeline, new) and not _is_doubtful(
            self.timeline, against, new
        )

    def _are_in_dispute(self, old: StatedAnswer, new: StatedAnswer) -> bool:
        """Return whether two exclusive answers are to one question, unaware and never settled."""
        timeline, known = self.timeline, self._clashing.get((old, new))
        if known is None:
            known = self._clashing[old, new] = (
                self.index.are_one(old, new)
                and is_unaware(timeline, self.index, old, new)
                and not is_settled(timeline, old.position, new.position)
                and not _is_told(timeline, old, new)
            )
        return known


def stands(timeline: Timeline, one: StatedAnswer) -> bool:
    """Return whether an answer holds from then on: none of an interim, or of the past alone."""
    if timeline.has_cue(one.position, Cue.TEMPORARY) and not _is_the_duration(timeline, one):
        return False
    return one.answer.was is not None or not timeline.has_cue(one.position, *_OF_THE_PAST)


def _is_the_duration(timeline: Timeline, one: StatedAnswer) -> bool:
    """Return whether the span of time in a text is the answer: "logs are there for 90 days".

    It may have another unit there: "films go home for a week" where the answer is 7 days. What
    holds "during the festival" is of an interim all the same.
    """
    text, answer = timeline.facts[one.position].content, one.answer.answer
    if _DURING.match(text):
        return False
    spans = [span for span in lengths_of_spans(text) if compare_values(span, answer) == "same"]
    for said in (answer, *spans):
        text = text.replace(said, " ")
    is_length = bool(spans) or is_measured(answer)
    return is_length and Cue.TEMPORARY not in cues(collapse(text))


def _is_told(timeline: Timeline, old: StatedAnswer, new: StatedAnswer) -> bool:
    """Return whether another fact since the older answer tells of a change to the newer one."""
    for i in sorted({*timeline.neighbours(old.position), *timeline.neighbours(new.position)}):
        text = timeline.facts[i].content
        if i <= old.position or i == new.position or not mentions(text, new.answer.answer):
            continue
        if timeline.has_cue(i, *SETTLES):
            return True
        if i > new.position and mentions(text, old.answer.answer):
            return True
    return False


def _is_named_again(history: History, new: StatedAnswer) -> bool:
    """Return whether an answer names what a change had left: hardly anything else has the name."""
    words = frozenset(stems(new.answer.answer))
    return any(
        not words.isdisjoint(stems(value))
        and compare_values(value, new.answer.answer) == "same"
        and is_name(value)
        for _, value, _ in history.left
    )


def _touches(pair: AnswersOfTwo, stated: Sequence[StatedAnswer]) -> bool:
    return any(one in stated for one in pair)


def _is_doubtful(timeline: Timeline, against: Sequence[StatedAnswer], new: StatedAnswer) -> bool:
    b = timeline.statements[new.position]
    return any(is_less_trusted(b, timeline.statements[old.position]) for old in against)


def _find_return(timeline: Timeline, history: History, new: StatedAnswer) -> Return | None:
    """Return the newest answer that a change had left and that is given again, unannounced."""
    if tells_return(timeline, new):
        return None
    for earlier, value, change in reversed(history.left):
        is_it = compare_values(value, new.answer.answer) == "same"
        if is_it and are_comparable(timeline, change, new):
            return Return(earlier, change, new)
    return None
