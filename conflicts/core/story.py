"""The story that a workspace tells: what is read of it, and in which batches.

Forgetting is a device for the budget alone: a story that fits is read whole. Keep rates are from
the product's source document.
"""

from __future__ import annotations

import math
import random
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from conflicts.core.facts import Fact

BUDGET_TOKENS: Final = 6000
CHARS_PER_TOKEN: Final = 4
MIN_SURVIVORS: Final = 2
OVERLAP_SHARE: Final = 0.25
_RATES: Final = ((timedelta(hours=24), 0.30), (timedelta(days=7), 0.15))
_OLD_RATE: Final = 0.07


@dataclass(frozen=True, slots=True)
class Story:
    """Facts oldest first that are read, and those that were left out of this reading."""

    kept: tuple[Fact, ...]
    forgotten: tuple[Fact, ...]


def count_tokens(text: str) -> int:
    """Return a cheap upper-side estimate of a text's tokens, at least 1."""
    return max(1, math.ceil(len(text) / CHARS_PER_TOKEN))


def keep_rate(age: timedelta, conflicts: int = 0) -> float:
    """Return the probability in [0, 1] to keep a fact of this age.

    0.30 younger than a day, 0.15 up to seven days, 0.07 older; doubled for each previous conflict
    (``conflicts`` ≥ 0), at most 1.
    """
    rate = next((rate for limit, rate in _RATES if age < limit), _OLD_RATE)
    return min(1.0, rate * 2.0 ** min(conflicts, 16))


def tell(
    facts: Sequence[Fact],
    *,
    now: datetime,
    rng: random.Random,
    always: Collection[str] = (),
    conflicts: Mapping[str, int] | None = None,
    budget_tokens: int = BUDGET_TOKENS,
) -> Story:
    """Choose what is read.

    Parameters
    ----------
    facts
        Live facts, any order.
    now
        Time of reading, for their age.
    rng
        Source of chance; the same seed and facts give the same story.
    always
        Ids that always stay: triggers, their nearest neighbours, members of open conflicts.
    conflicts
        Number of previous conflicts per fact id.
    budget_tokens
        Nothing is forgotten while the whole story fits.

    Returns
    -------
    Story
        At least two facts (or all) are kept; when chance leaves fewer, the newest join them.
    """
    ordered = sorted(facts, key=lambda fact: (fact.observed_at, fact.id))
    if sum(count_tokens(fact.content) for fact in ordered) <= budget_tokens:
        return Story(tuple(ordered), ())
    counts = conflicts or {}
    stays = {
        fact.id
        for fact in ordered
        # Chance is drawn for every fact, so that a new trigger does not shift the others' luck.
        if rng.random() < keep_rate(now - fact.observed_at, counts.get(fact.id, 0))
        or fact.id in always
    }
    for fact in reversed(ordered):
        if len(stays) >= min(MIN_SURVIVORS, len(ordered)):
            break
        stays.add(fact.id)
    kept = tuple(fact for fact in ordered if fact.id in stays)
    return Story(kept, tuple(fact for fact in ordered if fact.id not in stays))


def batches(
    facts: Sequence[Fact],
    *,
    budget_tokens: int = BUDGET_TOKENS,
    overlap_share: float = OVERLAP_SHARE,
) -> list[tuple[Fact, ...]]:
    """Cut a story, oldest first, into overlapping batches.

    Each batch holds at most ``budget_tokens`` (a single longer fact is a batch's worth of its
    own) and begins with the last facts of the one before, about ``overlap_share`` in [0, 1) of
    the budget and at least one fact where that leaves room, so that an arc across a boundary is
    seen.

    Raises
    ------
    ValueError
        When the budget is not positive or the share is outside [0, 1).
    """
    if budget_tokens < 1 or not 0.0 <= overlap_share < 1.0:
        raise ValueError("budget_tokens must be positive and overlap_share in [0, 1)")
    sizes = [count_tokens(fact.content) for fact in facts]
    cut: list[tuple[Fact, ...]] = []
    start = 0
    while start < len(facts):
        end, room = start + 1, budget_tokens - sizes[start]
        while end < len(facts) and sizes[end] <= room:
            room -= sizes[end]
            end += 1
        cut.append(tuple(facts[start:end]))
        if end == len(facts):
            break
        start = _overlap_start(sizes, start, end, int(budget_tokens * overlap_share))
        if start < end and sum(sizes[start:end]) + sizes[end] > budget_tokens:
            start = _first_fitting(sizes, start, end, budget_tokens)
    return cut


def _overlap_start(sizes: Sequence[int], start: int, end: int, overlap_tokens: int) -> int:
    """Return where the next batch begins so that it repeats about ``overlap_tokens``."""
    begin = end - 1
    while begin - 1 > start and sum(sizes[begin - 1 : end]) <= overlap_tokens:
        begin -= 1
    return max(begin, start + 1)


def _first_fitting(sizes: Sequence[int], start: int, end: int, budget_tokens: int) -> int:
    """Return the first start whose repeated facts leave room for the next new one."""
    while start < end and sum(sizes[start : end + 1]) > budget_tokens:
        start += 1
    return start
