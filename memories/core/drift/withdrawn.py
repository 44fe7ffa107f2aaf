"""Compare what a note says of its own parts with what it said when a memory was stored.

The sentence that the memory leans on still stands there, but the note has come to say that it no
longer holds.
"""

from __future__ import annotations

from collections.abc import Sequence

from memories.core.drift.edits import CARRIED
from memories.core.drift.passages import Statement
from memories.core.drift.support import Scored, Support, standing
from memories.core.drift.withdrawals import mentions_withdrawal


def withdrawn_since(text: str, support: Support, present: Sequence[Scored]) -> Statement | None:
    """Return the statement that a memory leans on where the note has withdrawn it since.

    Only what most of the memory leans on counts, and only where it stands in no other part of the
    note. A memory that says itself that something has ended is not made untrue by it.
    """
    if not any(one.statement.withdrawn for one in present):
        return None  # nearly every note: no text is compared
    if not support.sentences or support.similarity < CARRIED or mentions_withdrawal(text):
        return None
    foremost = support.sentences[0]
    if foremost.withdrawn:
        return None
    same = standing(foremost, (one.statement for one in present))
    return same[0] if same and all(one.withdrawn for one in same) else None
