"""Tell which of the answers to one question hold, which were left, and since when."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from conflicts.core.answers.history import Histories
from conflicts.core.answers.index import AnswerIndex, StatedAnswer
from conflicts.core.timeline import Timeline
from memories.core.answer_values import compare_values
from memories.core.spelling import same_letters

AnswerState = Literal["holds", "left", "passing"]


@dataclass(frozen=True, slots=True)
class Standing:
    """The answers to one question, oldest first, each with its state.

    `passing` are answers of an interim or of the past. `current` is the newest that holds (without
    any, the newest), `since` when it was first given since the last change, `also` are the other
    answers that hold, newest first. `changed_by` has for each answer that was left the one that
    says so.
    """

    stated: tuple[tuple[StatedAnswer, AnswerState], ...]
    current: StatedAnswer
    since: datetime
    also: tuple[StatedAnswer, ...]
    changed_by: Mapping[StatedAnswer, StatedAnswer]


def read_standing(
    timeline: Timeline, index: AnswerIndex, stated: Sequence[StatedAnswer]
) -> Standing:
    """Read the answers to one question, oldest first and at least one."""
    history = Histories(timeline, index).read(stated)
    left = {old: new for old, _, new in history.left if old}
    holding = history.holding
    current = holding[-1] if holding else stated[-1]
    saying_it = [one for one in holding if _is_same(one, current)]
    also = [one for one in reversed(holding) if one not in saying_it]
    return Standing(
        stated=tuple(
            (one, "holds" if one in holding else "left" if one in left else "passing")
            for one in stated
        ),
        current=current,
        since=timeline.facts[(saying_it or [current])[0].position].observed_at,
        also=tuple(_without_repetitions(also)),
        changed_by=left,
    )


def _is_same(one: StatedAnswer, other: StatedAnswer) -> bool:
    a, b = one.answer.answer, other.answer.answer
    return same_letters(a, b) or compare_values(a, b) == "same"


def _without_repetitions(stated: Sequence[StatedAnswer]) -> list[StatedAnswer]:
    kept: list[StatedAnswer] = []
    for one in stated:
        if not any(_is_same(one, other) for other in kept):
            kept.append(one)
    return kept
