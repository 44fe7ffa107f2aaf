"""Find facts that their speaker corrects in a later turn: "We deploy on Fridays." … "Thursdays."

A correction begins with words of correction, denies what was said ("pistachios, not cashews"), or
announces that something else held before ("on Wednesdays from now on"). Whether two clauses answer
the same thing is decided as everywhere, by `memories.core.claims`. What only differs ("I run on
Mondays", "I run on Thursdays") is no correction: both are kept.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from memories.core.calendar_words import WEEKDAYS
from memories.core.claims import compare
from memories.core.extraction.correction_words import (
    COUNTING,
    READ_CHARS,
    Correction,
    read_correction,
)
from memories.core.extraction.predicates import predicate_of
from memories.core.extraction.request_grammar import without_request
from memories.core.extraction.statements import Statement
from memories.core.extraction.turns import Turn, last_turn_of_speaker
from memories.core.function_words import DETERMINERS, words_of
from memories.core.spelling import bare_words, normalise
from memories.core.text import terms

_NEAR: Final = 12  # statements of a speaker before one that it may correct
_ASKING: Final = words_of("when which what who whom where how")
_DENYING: Final = re.compile(
    r"(?:,? but)?,? (?:not|rather than|instead of) (?P<denied>[\w'-]+(?: [\w'-]+){0,2})"
    r"(?=[,.;:!]|$)",
    re.IGNORECASE,
)

_NO: Final = re.compile(r"(?:no|nope|nah)\b[,.;:! \u2013\u2014-]{0,4}", re.IGNORECASE)

Decide = Callable[[Correction, Statement], bool]


def mark_corrected_later(
    found: Sequence[Statement], turns: Sequence[Turn], is_corrected: Decide
) -> tuple[Statement, ...]:
    """Mark what its speaker corrects in a later turn as private; linear in their number.

    `is_corrected` tells whether a clause behind words of correction may be one of a statement, as
    within a turn.
    """
    marked = list(found)
    said: defaultdict[str, deque[int]] = defaultdict(lambda: deque(maxlen=_NEAR))
    for position, one in enumerate(found):
        turn = turns[one.turn]
        if one.kind != "prose" or turn.role in {"assistant", "tool"}:
            continue
        is_read = len(one.text) <= READ_CHARS and not one.text.endswith("?")
        if is_read and not one.corrects:
            at = _corrected(marked, position, turns, said[turn.speaker], is_corrected)
            if at is not None:
                earlier = marked[at]
                marked[at] = replace(earlier, kind="private", is_retracted=True)
                is_listed = one.is_listed or earlier.asks_to_remember
                corrects = earlier.corrects or earlier.text
                marked[position] = replace(one, corrects=corrects, is_listed=is_listed)
        if is_read:
            said[turn.speaker].append(position)
    return tuple(marked)


def _corrected(
    marked: Sequence[Statement],
    position: int,
    turns: Sequence[Turn],
    said: Sequence[int],
    is_corrected: Decide,
) -> int | None:
    """Return the nearest earlier statement of the speaker that one corrects, None for none."""
    one = marked[position]
    between = marked[position - 1].text if one.place == 0 and position else ""
    correction = _read(one.text, between)
    last = last_turn_of_speaker(turns, one.turn)
    for at in reversed(said):
        earlier = marked[at]
        if earlier.turn == one.turn or earlier.kind != "prose":
            continue
        near = correction if earlier.turn == last else None
        if near is not None and terms(near.value).keys() <= terms(earlier.text).keys():
            break  # the same again: "No, it's 4411."
        is_meant = near is not None and _is_meant(near, earlier, between, is_corrected)
        if is_meant or _denies(one.text, earlier.text, is_told=near is not None):
            return at
        if _replaces(earlier, one):
            return at
    return None


def _read(text: str, between: str) -> Correction | None:
    """Return the correction that a text may be, but for a "no" that answers a question."""
    answer = _NO.match(text) if between.endswith("?") else None
    found = read_correction(text[answer.end() if answer else 0 :])
    return None if found is None or found.is_order else found


def _is_meant(
    correction: Correction, earlier: Statement, between: str, is_corrected: Decide
) -> bool:
    """Return whether words of correction are about a statement of the turn before."""
    if not correction.is_value:
        return is_corrected(correction, earlier)
    asks = between.endswith("?") and not _ASKING.isdisjoint(bare_words(between))
    return not asks and _is_same_kind(correction.value, earlier.text)


def _is_same_kind(value: str, text: str) -> bool:
    """Return whether a value may stand for one that a text has: a weekday, a number of a thing."""
    own, said = bare_words(value), bare_words(text)
    days = [any(word.rstrip("s") in WEEKDAYS for word in words) for words in (own, said)]
    if any(days):
        return all(days)
    counted, numbers = _counted(own), _counted(said)
    return len(counted) == 1 and bool(counted & numbers or (counted == {""} and len(numbers) == 1))


def _counted(words: Sequence[str]) -> set[str]:
    """Return the word behind each number, "" where none follows."""
    pairs = pairwise((*words, ""))
    return {after for word, after in pairs if word in COUNTING or any(map(str.isdigit, word))}


def _denies(text: str, earlier: str, *, is_told: bool) -> bool:
    """Return whether a text says that something else holds than what an earlier one says."""
    found = _DENYING.search(normalise(text))
    if found is None:
        return False
    denied, said = terms(found["denied"]).keys(), terms(earlier).keys()
    if not denied or not denied <= said:
        return False
    return is_told or compare(earlier, text).relation == "contradicts"


def _replaces(earlier: Statement, one: Statement) -> bool:
    """Return whether a statement announces that it holds from then on instead of an earlier one."""
    said, again = without_request(earlier.text), without_request(one.text)
    if earlier.asks_to_remember and not one.asks_to_remember:
        return False
    before = _predicate(said)
    if not before or before != _predicate(again):
        return False
    found = compare(said, again)
    return found.relation == "contradicts" and found.is_announced


def _predicate(text: str) -> list[str]:
    return [word for word in bare_words(predicate_of(text)) if word not in DETERMINERS]
