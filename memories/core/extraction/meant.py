"""Find the statement that another one refers to: a request behind its fact, a short answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from memories.core.extraction import cues
from memories.core.extraction.features import Described, is_ratifying
from memories.core.extraction.lasting import is_lasting
from memories.core.extraction.references import repeats_what, says_why
from memories.core.extraction.request_grammar import find_request, without_request
from memories.core.extraction.requests import (
    POINTERS,
    is_bare_answer,
    is_empty,
    is_order,
    lacks_referent,
    names_nothing,
)
from memories.core.extraction.turns import Turn
from memories.core.function_words import words_of

_FEW_WORDS: Final = 4
_MAX_CONTEXT: Final = 300  # characters
_ANSWERS: Final = words_of("yes no not yep nope then only never always stays both neither")

_YES_NO: Final = words_of("yes no yep nope yeah")
_SPEAKERS: Final = words_of("i i'm i've we we're we've my our")


def find_meant(
    described: Described, before: Sequence[tuple[Described, Turn]]
) -> tuple[Described, Turn] | None:
    """Return the statement that one without a subject of its own refers to, None for none.

    `before` are the statements before it, the nearest last.
    """
    if described.is_request and len(before) > 1 and says_why(before[-1][0].statement.text):
        before = before[:-1]  # "You'll need that later. Remember it."
    if not before or not _may_be_meant(described, before[-1][0]):
        return None
    said, said_in = before[-1]
    statement = said.statement
    if statement.turn == described.statement.turn:
        return said, said_in
    if statement.turn != described.statement.turn - 1 or described.statement.place:
        return None
    is_question = said.features["question"] > 0
    own = without_request(described.statement.text)
    wants_question = not described.is_request or is_bare_answer(own)
    is_alone = described.is_request and not wants_question and lacks_referent(own)
    return (said, said_in) if is_question == wants_question and not is_alone else None


def mark_announced(found: list[Described], turns: Sequence[Turn]) -> None:
    """Mark what a request without content announces as asked for: "Remember this. The safe is …".

    It announces the next sentence of its turn where it refers to none before it.
    """
    for position, (one, following) in enumerate(pairwise(found)):
        if not one.is_request or not _tells(one, following):
            continue
        asked = find_request(one.statement.text)
        if asked is None or not asked.is_bare or asked.points_on:
            continue
        before = [(at, turns[at.statement.turn]) for at in found[max(position - 2, 0) : position]]
        is_first = one.statement.place == 0 and "this" in one.words
        if is_first or find_meant(one, before) is None:
            found[position] = replace(one, is_request=False)
            found[position + 1] = replace(following, is_request=True)


def _tells(asking: Described, following: Described) -> bool:
    """Return whether a statement says something that a request before it may announce."""
    has, statement = following.features, following.statement
    is_next = statement.turn == asking.statement.turn and statement.kind == "prose"
    is_passing = any(has[name] for name in _PASSING) or not cues.SECOND.isdisjoint(following.words)
    is_said = len(following.words) > 2 and not following.is_request and not is_passing
    return is_next and is_said and not says_why(statement.text) and not is_order(following)


_PASSING: Final = ("question", "courtesy", "i_will", "progressive", "hedge", "here_and_now")


def _may_be_meant(described: Described, said: Described) -> bool:
    """Return whether a statement may refer to the one before it, whoever says that."""
    statement = said.statement
    is_near = described.statement.start - statement.end < _MAX_CONTEXT
    if statement.kind != "prose" or len(statement.text) > _MAX_CONTEXT or not is_near:
        return False
    if not _refers_back(described) and not is_repeated(described, said):
        return False
    return not described.is_request or (not is_empty(statement.text) and _is_told(described, said))


def _is_told(described: Described, said: Described) -> bool:
    """Return whether a request may be about the statement before it in its turn.

    It is not where that asks something; nor, if it may be about a thing ("keep that"), where that
    is an order or names no subject ("That works.").
    """
    if said.statement.turn != described.statement.turn or said.is_request:
        return True
    asked = find_request(described.statement.text)
    is_weak = asked is not None and asked.is_weak
    return said.features["question"] == 0 and not (
        is_weak and (is_order(said) or lacks_referent(said.statement.text))
    )


def is_repeated(described: Described, said: Described) -> bool:
    """Return whether a request names only what the statement before it in its turn says."""
    if not described.is_request or said.statement.turn != described.statement.turn:
        return False
    is_question = described.features["question"] > 0
    return said.features["question"] == 0 and repeats_what(
        without_request(described.statement.text),
        without_request(said.statement.text),
        needs_words=is_question and not described.features["last_in_turn"],
    )


def _refers_back(described: Described) -> bool:
    if described.is_request:
        own = without_request(described.statement.text)
        return names_nothing(described) or lacks_referent(own)
    first = described.words[0] if described.words else ""
    if first in _YES_NO and described.words[1:2] and described.words[1] in _SPEAKERS:
        return False  # "No, I'm vegan.": says all that was asked
    if is_lasting(described.statement.text):
        return False  # "We use React 18."
    is_short = len(described.words) <= _FEW_WORDS
    return is_short or first in POINTERS | _ANSWERS or is_ratifying(described.statement.text)
