"""Find the statements that their speaker takes back, and what is said instead of them.

"The pump room has three keys. Actually scratch that, it has four keys.": the first sentence and
"Actually scratch that," are kept nowhere; "it has four keys." stands for the first. The same holds
where all stands in one sentence, and where the correction is the next one. "On second thought, no."
takes back a request before it, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from memories.core.extraction.declining import (
    declines,
    doubts,
    offers_to_store,
)
from memories.core.extraction.private import NEVER_MIND, is_retraction
from memories.core.extraction.request_grammar import without_request
from memories.core.extraction.statements import Statement
from memories.core.extraction.turns import Turn, last_turn_of_speaker
from memories.core.function_words import words_of
from memories.core.text import terms

_PRONOUNS: Final = words_of("it he she they there it's he's she's they're there's")
_NO_STATEMENT: Final = words_of("let's lets please can could will would do don't")
_AT_MOST: Final = 200  # characters of a statement in which a request is looked for


def mark_retracted(found: Sequence[Statement], turns: Sequence[Turn]) -> tuple[Statement, ...]:
    """Mark what is taken back, and the words that do so, as private; linear in their number.

    Taken back is the statement before in the same turn; at the beginning of a turn the last one
    that the same speaker made, with at most one turn of somebody else between. What follows in the
    same sentence, about the same thing, `corrects` it.
    """
    marked = list(found)
    last = {one.turn: position for position, one in enumerate(found)}
    for position, one in enumerate(found):
        is_declining = one.kind == "prose" and declines(one.text)
        if one.kind != "prose" or not (is_declining or is_retraction(one.text)):
            continue
        if is_declining and _answers(found, position):
            continue  # "No, don't.": what somebody else asked
        marked[position] = replace(one, kind="private")
        meant = _meant(found, position, turns, last)
        if is_declining and meant is not None:
            meant = _declined(found, position, meant)
        if meant is None or marked[meant].kind != "prose":
            continue
        marked[meant] = replace(found[meant], kind="private", is_retracted=True)
        following = position + 1
        if following < len(found) and _is_correction(found[following], one, found[meant]):
            marked[following] = replace(found[following], corrects=found[meant].text)
    return tuple(marked)


def _meant(
    found: Sequence[Statement], position: int, turns: Sequence[Turn], last: dict[int, int]
) -> int | None:
    one = found[position]
    if one.place:
        return position - 1
    if NEVER_MIND.match(one.text[:_AT_MOST]):
        return None
    if _answers(found, position):
        return None  # "No, forget it.": what somebody else asked
    turn = last_turn_of_speaker(turns, one.turn)
    return None if turn is None else last.get(turn)


def _answers(found: Sequence[Statement], position: int) -> bool:
    """Return whether a statement answers a question of the turn before about something else."""
    if found[position].place or not position:
        return False
    before = found[position - 1].text
    return before.endswith("?") and not offers_to_store(before)


def _declined(found: Sequence[Statement], position: int, meant: int) -> int | None:
    """Return the request that words decline; what they doubt in their turn need not be one."""
    if found[meant].turn == found[position].turn:
        is_meant = doubts(found[position].text) or found[meant].asks_to_remember
        return meant if is_meant else None
    asked = meant
    while asked >= 0 and found[asked].turn == found[meant].turn:
        if found[asked].asks_to_remember:
            return asked
        asked -= 1
    return None


def _is_correction(following: Statement, one: Statement, meant: Statement) -> bool:
    first = following.text.split(maxsplit=1)[0].lower()
    is_same_sentence = not one.text.rstrip().endswith((".", "!"))
    meant_first = without_request(meant.text).split(maxsplit=1)[:1]
    has_same_subject = [first] == [word.lower() for word in meant_first]
    shared = terms(following.text).keys() & terms(without_request(meant.text)).keys()
    is_about_it = has_same_subject or bool(shared) or (is_same_sentence and first in _PRONOUNS)
    is_said = following.turn == one.turn and following.kind == "prose"
    return is_said and is_about_it and first not in _NO_STATEMENT
