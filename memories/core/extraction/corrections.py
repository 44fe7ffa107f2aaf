"""Find statements by which a speaker corrects what they have just said: "…4411. No wait, 4412."

Behind words of correction stands the value alone ("Actually, coffee."), a clause about the same
thing ("Sorry, it's on Wednesday."), or the whole sentence again. "Remember that instead." corrects
what the same speaker asked to remember before. What is corrected is kept nowhere.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from memories.core.claims import compare
from memories.core.extraction.correction_words import (
    COUNTING,
    READ_CHARS,
    Correction,
    only_hesitates,
    read_correction,
)
from memories.core.extraction.cues import DAYS, HERE_AND_NOW
from memories.core.extraction.later_corrections import mark_corrected_later
from memories.core.extraction.predicates import main_verb, predicate_of, subject_of
from memories.core.extraction.request_grammar import find_request, without_request
from memories.core.extraction.requests import lacks_referent
from memories.core.extraction.statements import Statement
from memories.core.extraction.turns import Turn, last_turn_of_speaker
from memories.core.function_words import FORMS_OF_BE, words_of
from memories.core.spelling import bare_words, normalise
from memories.core.text import terms

_ADDING: Final = words_of("also too either and even additionally moreover besides")
_INSTEAD = re.compile(r"\binstead\b(?! of\b)", re.IGNORECASE)
_DATE_WORDS: Final = DAYS | words_of("today tomorrow noon midnight morning evening afternoon")


def mark_corrected(found: Sequence[Statement], turns: Sequence[Turn]) -> tuple[Statement, ...]:
    """Mark what its speaker corrects as private, and what is said instead as correcting it.

    Corrected is the statement before in the same turn; at the beginning of a turn, behind words
    that can mean nothing else, the last of the same speaker's turn before. Linear in the number
    of statements.
    """
    marked = list(found)
    last = {one.turn: position for position, one in enumerate(found)}
    asked: dict[int, int] | None = None  # the last request of each turn so far
    behind = _meant_before(found)
    for position, one in enumerate(found):
        if one.kind != "prose":
            continue
        if _INSTEAD.search(one.text[:READ_CHARS]):
            asked = _requests_before(marked, position) if asked is None else asked
            _replace_asked(marked, position, turns, asked)
        else:
            _correct(marked, position, behind[position], turns, last)
        if asked is not None and _asks_something(one):
            asked[one.turn] = position
    return mark_corrected_later(marked, turns, _is_corrected)


def _meant_before(found: Sequence[Statement]) -> list[int]:
    """Return for each statement the one before it, but for those of its turn that only hesitate."""
    behind: list[int] = []
    for position, one in enumerate(found):
        before = found[position - 1] if position else None
        is_passed = before is not None and before.turn == one.turn and only_hesitates(before.text)
        behind.append(behind[-1] if is_passed else position - 1)
    return behind


def _correct(
    marked: list[Statement], position: int, at: int, turns: Sequence[Turn], last: dict[int, int]
) -> None:
    one = marked[position]
    hesitating = " ".join(before.text for before in marked[max(at + 1, position - 2) : position])
    correction = read_correction(f"{hesitating} {one.text}".lstrip())
    if correction is None or not correction.value:
        return
    if at >= 0 and marked[at].turn != one.turn:
        turn = last_turn_of_speaker(turns, one.turn) if correction.is_plain else None
        at = -1 if turn is None else last.get(turn, -1)
    if at < 0:
        return
    is_asked = _asks_for_that(marked[at])
    at -= is_asked and at > 0 and marked[at - 1].turn == marked[at].turn
    meant = marked[at]
    if meant.kind != "prose" or not _is_corrected(correction, meant):
        return
    marked[at] = replace(meant, kind="private", is_retracted=True)
    corrects = meant.corrects or meant.text
    is_listed = one.is_listed or is_asked or meant.is_listed
    marked[position] = replace(one, corrects=corrects, is_listed=is_listed)


def _asks_for_that(one: Statement) -> bool:
    """Return whether a statement asks to remember what stands before it."""
    asked = find_request(one.text)
    return asked is not None and asked.is_bare and not asked.points_on


def _is_corrected(correction: Correction, meant: Statement) -> bool:
    """Return whether a correction may be one of a statement."""
    said = without_request(meant.text)
    if len(said) > READ_CHARS or meant.text.rstrip().endswith("?") or len(said.split()) < 2:
        return meant.corrects != "" and correction.is_value
    value = correction.value
    if correction.is_value:
        is_meant = correction.is_plain and not correction.is_order
        return _counts(value) == _counts(said) or (is_meant and _counts(said))
    words = frozenset(bare_words(value))
    if correction.is_order or not _ADDING.isdisjoint(words) or not HERE_AND_NOW.isdisjoint(words):
        return False
    if lacks_referent(value):
        return _is_about_it(correction, said)
    if compare(said, value).relation == "contradicts":
        return True
    before, again = predicate_of(said).lower(), predicate_of(value).lower()
    is_same = before != "" and (before == again or _said_of(said) == _said_of(value))
    return is_same and (correction.is_certain or before != again)


def _is_about_it(correction: Correction, said: str) -> bool:
    """Return whether a clause about "it" says something else of what a text is about."""
    value = correction.value
    verb = main_verb(value)
    is_alike = verb == main_verb(said) and (_counts(said) or not _counts(value))
    is_alike = is_alike or (verb == "be" and _counts(said) and _counts(value))
    subject, (pronoun, _, rest) = subject_of(said), normalise(value).partition(" ")
    rest = f"is {rest}" if pronoun.endswith("'s") else rest
    again, before = f"{subject} {rest}", predicate_of(said).split()
    is_same = predicate_of(again).split() == before and before != []
    is_same = is_same and before[-1] not in FORMS_OF_BE and _counts(said) == _counts(value)
    is_opposed = subject != "" and compare(said, again).relation == "contradicts"
    return (correction.is_certain and is_alike) or is_same or is_opposed


def _said_of(text: str) -> Sequence[str]:
    """Return the words behind the subject of a text."""
    return bare_words(without_request(text)[len(subject_of(text)) :])


def _counts(text: str) -> bool:
    """Return whether a text has a number or a date."""
    words = frozenset(bare_words(text))
    return any(map(str.isdigit, text)) or not (COUNTING | _DATE_WORDS).isdisjoint(words)


def _asks_something(one: Statement) -> bool:
    return one.asks_to_remember and not _asks_for_that(one)


def _requests_before(marked: Sequence[Statement], position: int) -> dict[int, int]:
    return {one.turn: at for at, one in enumerate(marked[:position]) if _asks_something(one)}


def _replace_asked(
    marked: list[Statement], position: int, turns: Sequence[Turn], asked: dict[int, int]
) -> None:
    """Take back the request before one that asks to remember something instead."""
    one, speaker = marked[position], turns[marked[position].turn].speaker
    if not one.asks_to_remember:
        return
    own = (one.turn, one.turn - 1, one.turn - 2)
    near = [asked[turn] for turn in own if turn in asked and turns[turn].speaker == speaker]
    if not near or marked[near[0]].kind != "prose":
        return
    earlier, at = marked[near[0]], position
    if _asks_for_that(one):
        at = position - 1
        if at == near[0] or marked[at].kind != "prose":
            return
    elif not terms(without_request(one.text)).keys() & terms(without_request(earlier.text)).keys():
        return
    marked[near[0]] = replace(earlier, kind="private", is_retracted=True)
    if marked[at].turn == one.turn:
        marked[at] = replace(marked[at], corrects=earlier.text)
