"""Rate how harmful it would be to act on a memory that its note no longer carries.

What the claims are about is rated as for conflicts; what changed between them moves that by one
level. How sure the finding is does not matter here: pages show that by itself.
"""

from __future__ import annotations

from dataclasses import replace

from conflicts.core.facts import Fact, Severity
from conflicts.core.opposites import denied_words, opposite_words
from conflicts.core.severity_by_meaning import LEVELS
from conflicts.core.statements import read
from memories.core.drift.parts import values_of


def rate_change(memory: Fact, after: str | None, about: Severity, *, is_pinned: bool) -> Severity:
    """Return the severity of a drift.

    Parameters
    ----------
    memory : Fact
        The memory, its text without links.
    after : str or None
        What the note says in the place of it; None where it says nothing any more.
    about : {"low", "medium", "high"}
        The severity of what both are about, as for conflicts.
    is_pinned : bool
        Whether the memory is given to every session: one level more.

    A state that is turned round ("blocked", "no longer blocked") is one level more, too; a passage
    that says nothing else than the memory (gone, or only more than before) is one level less.
    """
    step = _turn(memory, after) + int(is_pinned)
    return LEVELS[min(max(LEVELS.index(about) + step, 0), len(LEVELS) - 1)]


def _turn(memory: Fact, after: str | None) -> int:
    """Return 1 where a passage turns a memory round, -1 where nothing stands against it, else 0."""
    if not after:
        return -1
    ours, theirs = read(memory), read(replace(memory, content=after))
    if denied_words(ours, theirs) or opposite_words(ours, theirs):
        return 1
    had, has = values_of(memory.content).keys(), values_of(after).keys()
    return -1 if had and had < has else 0
