"""Choose what a model reads of a story that exceeds the token budget of one call.

A new fact is read together with its nearest ones from any time (its thread), so that contradictions
over many months are seen. Threads come first; what else is offered fills the room that they leave.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from conflicts.core.facts import Fact
from conflicts.core.forgetting import BUDGET_TOKENS, content_tokens


def cut_batches(
    facts: Sequence[Fact],
    threads: Sequence[Sequence[str]],
    *,
    others: Iterable[str] = (),
    budget_tokens: int = BUDGET_TOKENS,
    size: Callable[[Fact], int] = content_tokens,
) -> list[tuple[Fact, ...]]:
    """Cut a story, oldest first, so that every thread is read; within the budget it is one batch.

    Parameters
    ----------
    facts
        Oldest first.
    threads
        Ids of facts that are to be read together, the most important first: a new fact and its
        nearest. What does not fit the budget is left out from the end.
    others
        Ids of further facts, the most important first: each is added where there is room, and left
        out where there is none.
    budget_tokens, size
        What a batch holds, and what a fact takes of it.

    Returns
    -------
    list of tuple of Fact
        Each in time order. A batch of one fact is left out: it disagrees with nothing.

    Raises
    ------
    ValueError
        When the budget is not positive.
    """
    if budget_tokens < 1:
        raise ValueError("budget_tokens must be positive")
    sizes = {fact.id: size(fact) for fact in facts}
    if sum(sizes.values()) <= budget_tokens:
        return [tuple(facts)] if len(facts) > 1 else []
    batches: list[_Batch] = []
    for thread in threads:
        known = [i for i in dict.fromkeys(thread) if i in sizes]
        wanted = {i: sizes[i] for i in _select_fitting(known, sizes, budget_tokens)}
        if wanted and not any(batch.add(wanted) for batch in batches):
            batches.append(_Batch(wanted, budget_tokens - sum(wanted.values())))
    read = {i for batch in batches for i in batch.sizes}
    for other in others:
        if other in sizes and other not in read:
            any(batch.add({other: sizes[other]}) for batch in batches)
    cut = [tuple(f for f in facts if f.id in batch.sizes) for batch in batches]
    return [batch for batch in cut if len(batch) > 1]


@dataclass(slots=True)
class _Batch:
    """The facts of a batch with what they take, and the tokens that are left."""

    sizes: dict[str, int]
    room: int

    def add(self, wanted: Mapping[str, int]) -> bool:
        """Add facts where there is room for all of them; return whether there was."""
        fresh = {i: size for i, size in wanted.items() if i not in self.sizes}
        if sum(fresh.values()) > self.room:
            return False
        self.sizes.update(fresh)
        self.room -= sum(fresh.values())
        return True


def _select_fitting(thread: Sequence[str], sizes: Mapping[str, int], room: int) -> list[str]:
    """Return as many of a thread as fit, from its beginning; the first in any case."""
    chosen: list[str] = []
    for i in thread:
        room -= sizes[i]
        if chosen and room < 0:
            break
        chosen.append(i)
    return chosen
