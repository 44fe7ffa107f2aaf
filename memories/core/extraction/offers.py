"""Read what users answer to an assistant that remembers what they said, or offers to.

"Shall I remember that?" — "Yes, please.": all that the turn before states is asked for. "No.": it
is kept nowhere. "Only the metformin.", "the first part, yes": what the answer names is asked for, a
clause of a sentence by itself, and the rest is kept nowhere; "not the back thing": that alone is
not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final

from memories.core.extraction.cues import COURTESY, FIRST, SECOND
from memories.core.extraction.declining import offers_to_store, refuses, tells_of_storing
from memories.core.extraction.features import is_imperative
from memories.core.extraction.statements import Statement
from memories.core.extraction.turns import Turn, last_turn_of_speaker
from memories.core.function_words import (
    AUXILIARIES,
    DETERMINERS,
    PREPOSITIONS,
    PRONOUNS,
    words_of,
)
from memories.core.spelling import bare_words, normalise
from memories.core.text import terms

_READ_CHARS: Final = 160  # of an answer
_FEWEST_WORDS: Final = 3  # of what is asked for
_PARTS: Final = re.compile(r"[,;:.!?\u2013\u2014]+ ?| (?:but|and) |$")
_CLAUSES: Final = re.compile(
    r"[,;]? (?:and|but) (?=(?:i|i'm|we|we're|my|our|the|he|she|it|they|his|her)\b)", re.IGNORECASE
)
_SAYING_YES: Final = words_of(
    "yes yeah yep yup sure please ok okay absolutely definitely certainly exactly only just do"
    " ahead"
)
_SAYING_NO: Final = words_of(
    "no nope nah not don't never without except leave delete remove forget drop skip rather"
    " didn't neither wouldn't"
)
_LIMITING: Final = words_of("only just")
_PLACES: Final = {"first": 0, "former": 0, "second": 1, "third": 2, "last": -1, "latter": -1}
_FILLING: Final = words_of(
    "part parts one ones bit thing things course remember note save store keep that's actually wait"
    " well second thought mind changed go prefer if thanks thank good idea helpful by all means add"
    " those these both everything all it again out"
)
_GRAMMAR: Final = FIRST | SECOND | AUXILIARIES | DETERMINERS | PREPOSITIONS | PRONOUNS
_NOUNS: Final = {"back"}  # "my back", though it is a preposition, too
_EMPTY: Final = (_SAYING_YES | _SAYING_NO | COURTESY | _GRAMMAR | _FILLING) - _NOUNS


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of an answer: whether it says yes or no, and what of the statements it names."""

    words: tuple[str, ...]

    @property
    def _ends(self) -> tuple[str, ...]:
        return (*self.words[:2], *self.words[-1:])

    @property
    def says_no(self) -> bool:
        return not _SAYING_NO.isdisjoint(self._ends)

    @property
    def says_yes(self) -> bool:
        return not self.says_no and not _SAYING_YES.isdisjoint(self._ends)

    @property
    def place(self) -> int | None:
        return next((_PLACES[word] for word in self.words if word in _PLACES), None)

    @property
    def named(self) -> frozenset[str]:
        named = " ".join(word for word in self.words if word not in _EMPTY)
        return frozenset(terms(named)) if self.place is None else frozenset()

    @property
    def names(self) -> bool:
        return self.place is not None or bool(self.named)


def mark_answered(found: Sequence[Statement], turns: Sequence[Turn]) -> tuple[Statement, ...]:
    """Mark what users want to be remembered, or do not, where an assistant offers to.

    Linear in the number of statements.
    """
    by_turn = {turn: list(own) for turn, own in groupby(found, key=lambda one: one.turn)}
    for turn, own in list(by_turn.items()):
        before = by_turn.get(turn - 1)
        earlier = last_turn_of_speaker(turns, turn)
        if before is None or earlier is None or earlier not in by_turn:
            continue
        is_asked = turns[turn].is_users and turns[turn - 1].role == "assistant"
        if not is_asked or own[0].kind != "prose":
            continue
        said = by_turn[earlier]
        marked = _answer(own, before[-1].text, said)
        if marked is not said:
            by_turn[earlier] = marked
            if refuses(own[0].text):
                own[0] = replace(own[0], kind="private")
    return tuple(
        replace(one, place=place) for own in by_turn.values() for place, one in enumerate(own)
    )


def _answer(own: Sequence[Statement], asked: str, said: list[Statement]) -> list[Statement]:
    """Return the statements of a turn as an answer leaves them, the same list without one."""
    is_offer = offers_to_store(asked)
    if not is_offer and not tells_of_storing(asked):
        return said
    text = " ".join(one.text for one in own)
    is_read = len(text) <= _READ_CHARS and not text.endswith("?")
    parts = list(_parts(text)) if is_read else []
    picked = _pick(parts, said)
    if picked is not None:
        return picked
    first = parts[0] if parts and not parts[0].names and is_offer else None
    told = (" ".join(part.words) for part in parts if len(part.words) > 1)  # not "No, it's 4411."
    is_no = any(refuses(words) for words in (own[0].text, *told))
    if is_no or (first is not None and first.says_no):
        return [_refuse(one) for one in said]
    is_yes = first is not None and first.says_yes
    return [_accept(one) for one in said] if is_yes else said


def _parts(text: str) -> Iterator[_Part]:
    """Yield the parts of an answer; "Jonas yes" and "yes, the first" are one each."""
    at, left = 0, ""
    for found in _PARTS.finditer(normalise(text)):
        words = tuple(bare_words(f"{left} {normalise(text)[at : found.start()]}"))
        at, left = found.end(), ""
        part = _Part(words)
        if part.names and not part.says_yes and not part.says_no:
            left = " ".join(words)  # "the first part, yes"
        elif words:
            yield part
    if left:
        yield _Part(tuple(left.split()))


def _pick(parts: Sequence[_Part], said: Sequence[Statement]) -> list[Statement] | None:
    """Accept and refuse the clauses that an answer names; None where it names none of them."""
    clauses = [clause for one in said for clause in _clauses(one)]
    wanted, unwanted = set[int](), set[int]()
    for part in parts:
        if part.names and (part.says_no or part.says_yes):
            (unwanted if part.says_no else wanted).update(_named(part, clauses))
    if not wanted and not unwanted:
        return None
    is_limited = bool(wanted) and any(
        not _LIMITING.isdisjoint(part.words) or part.says_no for part in parts
    )
    is_yes = any(part.says_yes and not part.names for part in parts)
    marked = []
    for at, clause in enumerate(clauses):
        if at in unwanted or (is_limited and at not in wanted):
            marked.append(_refuse(clause))
        else:
            marked.append(_accept(clause) if at in wanted or is_yes else clause)
    return marked


def _clauses(one: Statement) -> Iterator[Statement]:
    """Yield the clauses of a statement that has several subjects."""
    at = 0
    for found in (*_CLAUSES.finditer(one.text), None):
        end = len(one.text) if found is None else found.start()
        yield replace(one, text=one.text[at:end], start=one.start + at, end=one.start + end)
        at = end if found is None else found.end()


def _named(part: _Part, clauses: Sequence[Statement]) -> Iterator[int]:
    if part.place is not None:
        yield from range(len(clauses))[slice(part.place, (part.place + 1) or None)]
        return
    for at, clause in enumerate(clauses):
        if not part.named.isdisjoint(terms(clause.text)):
            yield at


def _accept(one: Statement) -> Statement:
    """Return a statement as asked for, unless it asks, orders or says nothing."""
    says = [word for word in bare_words(one.text) if word not in COURTESY]
    is_said = one.kind == "prose" and len(says) >= _FEWEST_WORDS
    is_stated = not one.text.endswith("?") and not is_imperative(one.text)
    return replace(one, is_listed=True) if is_said and is_stated else one


def _refuse(one: Statement) -> Statement:
    return replace(one, kind="private", is_retracted=True) if one.kind == "prose" else one
