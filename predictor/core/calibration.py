"""Compare the judge's relevance with people's labels, and draw stratified samples for labelling.

Samples are stratified, so that rare answers of the judge are checked as often as common ones. The
figures therefore weigh every stratum alike; they are not those of an average answer.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from predictor.core.metrics import Interval, wilson

Id = TypeVar("Id", bound=Hashable)

FLAG_ERROR = 0.2  # mean absolute error above which the judge is flagged
RELEVANT = 0.5
Z95 = 1.959964
STEPS = 4  # of the scale from 1 to 5 that people rate by
SURE = 0.8  # the least confidence of the judge that counts as sure
BANDS = ((1 / 3, "low"), (2 / 3, "middle"), (2.0, "high"))


@dataclass(frozen=True, slots=True)
class RatedMemory:
    """One memory that a person and the judge both rated in [0, 1]; `unit` is its session."""

    unit: Hashable
    person: float
    judge: float


@dataclass(frozen=True, slots=True)
class CalibrationReport:
    """Differences between judge and people over ``n`` labels; without labels the figures are None.

    `mae` is the mean absolute difference and `bias` the mean of judge minus person. Their intervals
    are over sessions, because errors within one session are correlated. `agreement` is the share of
    labels where both agree on relevant (at least 0.5) or not, with its Wilson interval.
    """

    n: int
    mae: float | None
    interval: Interval
    bias: float | None
    bias_interval: Interval
    agreement: float | None
    agreement_interval: Interval

    @property
    def is_flagged(self) -> bool:
        """Return whether the mean absolute difference exceeds 0.2."""
        return self.mae is not None and self.mae > FLAG_ERROR + 1e-9

    @property
    def is_certain(self) -> bool:
        """Return whether the whole interval of that difference exceeds 0.2."""
        return self.mae is not None and self.interval.low > FLAG_ERROR


@dataclass(frozen=True, slots=True)
class CalibrationCandidate(Generic[Id]):
    """One judged memory that may be drawn for labelling."""

    id: Id
    unit: Hashable
    stratum: str


def compare_labels(pairs: Sequence[RatedMemory]) -> CalibrationReport:
    """Compare the judge with people."""
    n = len(pairs)
    agreed = sum((pair.person >= RELEVANT) == (pair.judge >= RELEVANT) for pair in pairs)
    same = wilson(agreed, n)
    if not n:
        unknown, either = Interval(0.0, 0.0, 1.0, 0), Interval(0.0, -1.0, 1.0, 0)
        return CalibrationReport(0, None, unknown, None, either, None, same)
    gaps: dict[Hashable, list[float]] = defaultdict(list)
    for pair in pairs:
        gaps[pair.unit].append(pair.judge - pair.person)
    error = _mean([[abs(gap) for gap in own] for own in gaps.values()], least=0.0)
    bias = _mean(list(gaps.values()), least=-1.0)
    return CalibrationReport(n, error.mean, error, bias.mean, bias, same.mean, same)


def _mean(groups: Sequence[Sequence[float]], *, least: float) -> Interval:
    """Return the mean of grouped values in [``least``, 1] with a 95 % interval.

    The interval is that of a ratio estimator over groups (Cochran 1977, 6.4); with a single group
    it is the whole range.
    """
    n, units = sum(map(len, groups)), len(groups)
    mean = math.fsum(math.fsum(own) for own in groups) / n
    if units == 1:
        return Interval(mean, least, 1.0, n)
    off = [math.fsum(own) - mean * len(own) for own in groups]
    half = Z95 / n * math.sqrt(units / (units - 1) * math.fsum(x * x for x in off))
    return Interval(mean, max(least, mean - half), min(1.0, mean + half), n)


def on_scale(relevance: float) -> float:
    """Return a relevance in [0, 1] on the scale that people rate by, from 1 (no use) to 5."""
    return 1 + STEPS * relevance


def of_five(relevance: float) -> str:
    """Return a relevance in [0, 1] on the scale of people's ratings in words, such as `2.6/5`."""
    return f"{on_scale(relevance):.1f}".removesuffix(".0") + "/5"


def stratum_of(relevance: float, confidence: float) -> str:
    """Return the name of the stratum: the band of the relevance, and whether the judge was sure."""
    band = next(name for edge, name in BANDS if relevance < edge)
    return f"{band}, {'sure' if confidence >= SURE else 'unsure'}"


def draw_stratified(
    items: Sequence[CalibrationCandidate[Id]], size: int, rng: np.random.Generator
) -> list[Id]:
    """Draw up to ``size`` ids, from each stratum in turn, in an order independent of the judge.

    Sessions come in random order; memories of one session stay together, so that people read a
    transcript once.
    """
    strata: dict[str, list[CalibrationCandidate[Id]]] = defaultdict(list)
    for index in rng.permutation(len(items)):
        strata[items[index].stratum].append(items[index])
    waiting = [strata[name] for name in sorted(strata)]
    drawn: list[CalibrationCandidate[Id]] = []
    while len(drawn) < size and any(waiting):
        for stratum in waiting:
            if stratum and len(drawn) < size:
                drawn.append(stratum.pop())
    sessions: dict[Hashable, list[Id]] = defaultdict(list)
    for index in rng.permutation(len(drawn)):
        sessions[drawn[index].unit].append(drawn[index].id)
    return [one for ids in sessions.values() for one in ids]
