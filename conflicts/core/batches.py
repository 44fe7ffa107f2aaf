"""Split a story that exceeds the token budget of one call into batches.

Two kinds of batches, each in time order and within the budget: overlapping stretches of the story,
so that contradictions across a boundary are seen, and groups of a new fact with its nearest ones
from any time, so that contradictions over many months are seen too.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Final

from conflicts.core.facts import Fact
from conflicts.core.forgetting import BUDGET_TOKENS, content_tokens

OVERLAP_SHARE: Final = 0.25


def cut_batches(
    facts: Sequence[Fact],
    threads: Sequence[Sequence[str]],
    *,
    budget_tokens: int = BUDGET_TOKENS,
    size: Callable[[Fact], int] = content_tokens,
) -> list[tuple[Fact, ...]]:
    """Cut a story, oldest first, so that every fact and every thread is read.

    Parameters
    ----------
    facts
        Oldest first.
    threads
        Ids of facts that are to be read together, the most important first: a new fact and its
        nearest. What does not fit the budget is left out from the end.
    budget_tokens, size
        What a batch holds, and what a fact takes of it.
    """
    stretches = batches(facts, budget_tokens=budget_tokens, size=size)
    together = [{fact.id for fact in stretch} for stretch in stretches]
    order = {fact.id: i for i, fact in enumerate(facts)}
    gathered: list[set[str]] = []
    for thread in threads:
        known = dict.fromkeys(i for i in thread if i in order)
        wanted = _select_fitting(known, lambda i: size(facts[order[i]]), budget_tokens)
        if any(wanted <= batch for batch in together):
            continue
        for batch in gathered:
            if sum(size(facts[order[i]]) for i in batch | wanted) <= budget_tokens:
                batch.update(wanted)
                break
        else:
            gathered.append(wanted)
    return stretches + [tuple(f for f in facts if f.id in batch) for batch in gathered]


def _select_fitting(
    thread: Collection[str], size: Callable[[str], int], budget_tokens: int
) -> set[str]:
    """Return as many of a thread as fit, from its beginning; the first in any case."""
    chosen: set[str] = set()
    room = budget_tokens
    for i in thread:
        room -= size(i)
        if chosen and room < 0:
            break
        chosen.add(i)
    return chosen


def batches(
    facts: Sequence[Fact],
    *,
    budget_tokens: int = BUDGET_TOKENS,
    overlap_share: float = OVERLAP_SHARE,
    size: Callable[[Fact], int] = content_tokens,
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
    sizes = [size(fact) for fact in facts]
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
            start = _find_first_fitting(sizes, start, end, budget_tokens)
    return cut


def _overlap_start(sizes: Sequence[int], start: int, end: int, overlap_tokens: int) -> int:
    """Return where the next batch begins so that it repeats about ``overlap_tokens``."""
    begin = end - 1
    while begin - 1 > start and sum(sizes[begin - 1 : end]) <= overlap_tokens:
        begin -= 1
    return max(begin, start + 1)


def _find_first_fitting(sizes: Sequence[int], start: int, end: int, budget_tokens: int) -> int:
    """Return the first start whose repeated facts leave room for the next new one."""
    while start < end and sum(sizes[start : end + 1]) > budget_tokens:
        start += 1
    return start
