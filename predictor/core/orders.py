"""Average what a judge says of notes in two orders; ratings that lie far apart are unknown.

Models rate a note by its place in the list, too. The second order is the reverse of the first: the
two places of a note add up to the same for all, so what grows or falls evenly along the list is
the same for each note and no longer moves one above another. What both ends of a list have in
common, against its middle, stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Final, TypeVar

import numpy as np

from predictor.core.judging import JudgeScores

T = TypeVar("T")

SCALE: Final = (0.0, 0.1, 0.4, 0.7, 1.0)  # the values that the judge's instructions describe
FAR_STEPS: Final = 2.0  # of the scale: such as "of no use" and "same matter, of little use"
_SLACK: Final = 1e-9  # of floats


def reverse(values: Sequence[T]) -> tuple[T, ...]:
    """Return values in the second order; the reverse of that is the first order again."""
    return tuple(values[::-1])


def steps_between(one: float, other: float) -> float:
    """Return how many steps of the scale lie between two ratings in [0, 1], parts of steps too."""
    places = np.interp([one, other], SCALE, range(len(SCALE)))
    return float(abs(places[0] - places[1]))


def average(first: JudgeScores, second: JudgeScores) -> JudgeScores:
    """Return the mean of the answers to the notes in one order and in its reverse.

    Relevance is in the order of `first`; None where the two are `FAR_STEPS` or more apart. Topics
    are taken in turn, each once.
    """
    pairs = list(zip(first.relevance, reverse(second.relevance), strict=True))
    topics = zip_longest(first.missing_topics, second.missing_topics)
    told = dict.fromkeys(topic for both in topics for topic in both if topic is not None)
    return replace(
        first,
        overall=(first.overall + second.overall) / 2,
        confidence=(first.confidence + second.confidence) / 2,
        relevance=tuple(_mean(one, other) for one, other in pairs),
        missing_topics=tuple(told),
        novel_context_count=round((first.novel_context_count + second.novel_context_count) / 2),
        reasoning="\n\n".join(filter(None, dict.fromkeys((first.reasoning, second.reasoning)))),
    )


def _mean(one: float | None, other: float | None) -> float | None:
    if one is None or other is None:
        return None
    return None if steps_between(one, other) >= FAR_STEPS - _SLACK else (one + other) / 2
