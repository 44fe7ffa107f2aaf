"""Sample the facts of a story that exceeds a model's token budget, by age.

A story within the budget is read whole. The keep rates are those of the product's source document.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from conflicts.core.facts import Fact

BUDGET_TOKENS: Final = 6000
CHARS_PER_TOKEN: Final = 4
MIN_SURVIVORS: Final = 2
_RATES: Final = ((timedelta(hours=24), 0.30), (timedelta(days=7), 0.15))
_OLD_RATE: Final = 0.07


@dataclass(frozen=True, slots=True)
class FactSample:
    """The facts that are read, oldest first, and those that were left out."""

    kept: tuple[Fact, ...]
    forgotten: tuple[Fact, ...]


def count_tokens(text: str) -> int:
    """Return a cheap upper-side estimate of a text's tokens, at least 1.

    Four characters a token, and one a token outside ASCII.
    """
    foreign = len(text) - sum(map(str.isascii, text)) if not text.isascii() else 0
    return max(1, math.ceil((len(text) - foreign) / CHARS_PER_TOKEN) + foreign)


def content_tokens(fact: Fact) -> int:
    """Return about how many tokens a fact's text takes."""
    return count_tokens(fact.content)


def keep_rate(age: timedelta, conflicts: int = 0) -> float:
    """Return the probability in [0, 1] to keep a fact of this age.

    0.30 younger than a day, 0.15 up to seven days, 0.07 older; doubled for each previous conflict
    (``conflicts`` ≥ 0), at most 1.
    """
    rate = next((rate for limit, rate in _RATES if age < limit), _OLD_RATE)
    return min(1.0, rate * 2.0 ** min(conflicts, 16))


def sample_to_budget(
    facts: Sequence[Fact],
    *,
    now: datetime,
    rng: random.Random,
    always: Collection[str] = (),
    conflicts: Mapping[str, int] | None = None,
    budget_tokens: int = BUDGET_TOKENS,
    size: Callable[[Fact], int] = content_tokens,
) -> FactSample:
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
    size
        Tokens that a fact takes where it is read.

    Returns
    -------
    Story
        At least two facts (or all) are kept; when chance leaves fewer, the newest join them.
    """
    ordered = sorted(facts, key=lambda fact: (fact.observed_at, fact.id))
    if sum(map(size, ordered)) <= budget_tokens:
        return FactSample(tuple(ordered), ())
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
    return FactSample(kept, tuple(fact for fact in ordered if fact.id not in stays))
