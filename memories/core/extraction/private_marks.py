"""Find the statements that their speaker asks not to store: beside the request, before it, or all.

"Our rent is 900 euros. Don't store that.", the same with the request in the speaker's next turn,
and "this whole conversation is off the record".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from memories.core.extraction.private import (
    asks_not_to_store,
    is_only_private_request,
    is_retraction,
    keeps_conversation_private,
    points_back,
)
from memories.core.extraction.private_topics import may_be_about
from memories.core.extraction.request_grammar import find_request
from memories.core.extraction.statements import Statement
from memories.core.extraction.turns import Turn, last_turn_of_speaker

_ASKS = re.compile(
    r"(?:(?:please|and|but|do|also),? ){0,3}(?:remember|note|keep|store|save)\b", re.I
)

_NEXT = re.compile(r"\bthe following\b", re.I)


def mark_private(found: Sequence[Statement], turns: Sequence[Turn]) -> tuple[Statement, ...]:
    """Mark what is not to be stored as private; linear in the number of statements.

    Where a statement only asks so, that is the one before it in its turn, unless the request names
    something else ("don't note my salary"). At the beginning of a
    turn it is the next one; where that is missing, asks to remember, or the words point back, it is
    all that was said since the same speaker's last turn began. Of a conversation that is to be
    kept private, only what is asked to be remembered later is left.
    """
    marked = list(found)
    firsts: dict[int, int] = {}  # turn -> its first statement
    has_asked = False  # without anything before it in the turn
    said: int | None = None  # the last statement of the turn that does more than ask
    for position, one in enumerate(found):
        if one.turn not in firsts:
            firsts[one.turn], said, has_asked = position, None, False
        is_private = one.kind == "prose" and _is_private(one, turns)
        is_bare = is_private and is_only_private_request(one.text)
        if is_private:
            marked[position] = replace(one, kind="private")
        if is_bare and said is not None:
            _mark(marked, [said] if may_be_about(found[said].text, one.text) else [])
        elif is_bare and not has_asked:
            has_asked = True
            beside, is_before = _beside(found, position, turns, firsts)
            meant = [at for at in beside if may_be_about(found[at].text, one.text)]
            _mark(marked, meant, is_retracted=is_before)
        if not is_bare and not is_retraction(one.text):
            said = position
    return _mark_conversation(marked, turns)


def _is_private(one: Statement, turns: Sequence[Turn]) -> bool:
    is_all = turns[one.turn].role != "assistant" and keeps_conversation_private(one.text)
    return is_all or asks_not_to_store(one.text)


def _mark(marked: list[Statement], meant: Sequence[int], *, is_retracted: bool = False) -> None:
    for at in meant:
        if marked[at].kind == "prose":
            marked[at] = replace(marked[at], kind="private", is_retracted=is_retracted)


def _beside(
    found: Sequence[Statement], position: int, turns: Sequence[Turn], firsts: dict[int, int]
) -> tuple[range, bool]:
    """Return what a request at the beginning of a turn is about, and whether it was said before."""
    one = found[position]
    earlier = last_turn_of_speaker(turns, one.turn)
    following = position + 1
    has_next = following < len(found) and found[following].turn == one.turn
    is_next = has_next and not _ASKS.match(found[following].text)
    if is_next and (earlier is None or not points_back(one.text)):
        return range(following, following + 1), False
    start = None if earlier is None or _NEXT.search(one.text) else firsts.get(earlier)
    return (range(0), False) if start is None else (range(start, firsts[one.turn]), True)


def _mark_conversation(marked: Sequence[Statement], turns: Sequence[Turn]) -> tuple[Statement, ...]:
    """Mark all of a conversation that its people do not want to be stored."""
    asked = [
        position
        for position, one in enumerate(marked)
        if one.kind == "private"
        and turns[one.turn].role not in {"assistant", "tool"}
        and keeps_conversation_private(one.text)
    ]
    if not asked:
        return tuple(marked)
    return tuple(
        one
        if one.kind != "prose" or (position > asked[-1] and find_request(one.text) is not None)
        else replace(one, kind="private")
        for position, one in enumerate(marked)
    )
