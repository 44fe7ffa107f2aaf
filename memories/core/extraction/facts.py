"""Make a fact of a statement: words that can be understood alone, and how sure they are.

Nothing is invented: a fact is the statement as it was said, behind the sentence that it refers to
where it has no subject of its own, and with the speaker where it speaks of "I".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from memories.core.extraction.echoes import is_others
from memories.core.extraction.features import Described, is_ratifying
from memories.core.extraction.request_grammar import without_request
from memories.core.extraction.requests import (
    POINTERS,
    announces,
    is_bare_answer,
    is_empty,
    lacks_referent,
    names_nothing,
    orders_something,
    subject_of,
)
from memories.core.extraction.turns import Turn
from memories.core.function_words import words_of
from memories.core.spelling import normalise

_SPEAKER: Final = words_of("i i'm i'll i've i'd me my mine myself")
_FEW_WORDS: Final = 4
_MAX_CONTEXT: Final = 300  # characters

CERTAIN: Final = {"user": 0.9, "assistant": 0.6, "other": 0.6, "unknown": 0.6, "tool": 0.3}
REQUESTED: Final = 0.1
HEDGED: Final = 0.2
REPORTED: Final = 0.2
FROM_CONTEXT: Final = 0.1
UNCLEAR: Final = 0.5  # asked to be remembered, but what "it" is was not said
ORDERED: Final = 0.5  # asked to be remembered, but an order or something to do, not a fact
LEAST: Final = 0.3


@dataclass(frozen=True, slots=True)
class Fact:
    """The text of a fact, the verbatim quote that it is based on, and its confidence (0..1).

    `has_others_words`: an assistant's words are part of the text or of the quote. `asked` is
    the question that the text repeats, "" without one. `says` is where another statement begins
    that is part of the fact, -1 without one.
    """

    text: str
    quote: str
    confidence: float
    has_others_words: bool
    asked: str = ""
    says: int = -1


def make_fact(
    transcript: str, described: Described, turn: Turn, before: Sequence[tuple[Described, Turn]]
) -> Fact | None:
    """Return the fact of a statement, None when a request names nothing to remember.

    Parameters
    ----------
    transcript : str
    described : Described
        A statement of the transcript.
    turn : Turn
        The turn that it is in.
    before : sequence of (Described, Turn)
        The statements before it, the nearest last.
    """
    statement = described.statement
    if described.is_request and announces(statement.text):
        return None
    confidence = confidence_of(described, turn)
    meant, asks = _meant(described, before), described.is_request
    if asks and meant is None and names_nothing(described):
        return None
    own = without_request(statement.text) if asks else statement.text
    if meant is not None:
        return _with_meant(transcript, described, turn, meant, own)
    if asks and orders_something(described, turn):
        text = f"{_name(turn)} asked to remember: “{own}”"
        return Fact(text, own, _sure(confidence - ORDERED), is_others(turn))
    text = own
    if asks and lacks_referent(own):
        subject = subject_of(statement.corrects)
        text = f"{_capitalised(subject)}: {own}" if subject else own
        confidence -= 0.0 if subject else UNCLEAR
    if _speaks(turn):
        text = _said_by(turn, _words(own) if asks else described.words, text)
    text = _capitalised(text) if asks else text
    return Fact(text, own, _sure(confidence), is_others(turn))


def _with_meant(
    transcript: str, described: Described, turn: Turn, meant: tuple[Described, Turn], own: str
) -> Fact:
    """Return the fact of a statement that refers to the one before it."""
    said, said_in = meant
    statement, shown = described.statement, said.statement.text
    confidence, asks = confidence_of(described, turn), described.is_request
    has_others = is_others(turn) or is_others(said_in)
    starts = said.statement.start
    if asks and not lacks_referent(own):
        words = without_request(shown)
        text = _said_by(said_in, _words(words), _capitalised(words)) if _speaks(said_in) else words
        return Fact(text, words, _sure(confidence), has_others, says=starts)
    if said.statement.turn != statement.turn:
        text = f"Asked “{shown}”: {own}"
        text = _said_by(turn, described.words, text) if _speaks(turn) else text
        return Fact(text, own, _sure(confidence - FROM_CONTEXT), has_others, asked=shown)
    quote = text = transcript[starts : statement.end]
    if asks:
        text = f"{_capitalised(without_request(shown))} {_capitalised(own)}"
    text = _said_by(turn, described.words, text) if _speaks(turn) else text
    return Fact(text, quote, _sure(confidence), has_others, says=starts)


def _sure(confidence: float) -> float:
    return round(max(confidence, LEAST), 2)


def _speaks(turn: Turn) -> bool:
    """Return whether a turn is a person's, who may be named before their words."""
    return turn.role in {"user", "other"}


def _said_by(turn: Turn, words: Sequence[str], text: str) -> str:
    """Put the speaker before a statement about "I" or "my"."""
    if _SPEAKER.isdisjoint(words):
        return text
    return f"{_name(turn)} said: {text}"


def _words(text: str) -> list[str]:
    return [word.strip(".,;:!?()\"'").lower() for word in normalise(text).split()]


def _name(turn: Turn) -> str:
    return "The user" if turn.speaker.lower() in _ROLE_NAMES else turn.speaker


def _capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]


_ROLE_NAMES: Final = words_of("user human me")


def confidence_of(described: Described, turn: Turn) -> float:
    """Return how sure a statement is: by who says it, and less for a hedge or somebody's word."""
    certain = CERTAIN[turn.role] + (REQUESTED if described.is_request else 0.0)
    if described.features["hedge"] or described.features["uncertain"]:
        certain -= HEDGED
    if any(claim.modality == "quote" for claim in described.reading.claims):
        certain -= REPORTED
    return round(max(certain, LEAST), 2)


def _meant(
    described: Described, before: Sequence[tuple[Described, Turn]]
) -> tuple[Described, Turn] | None:
    """Return the statement that one without a subject of its own refers to."""
    if not before or not _refers_back(described):
        return None
    said, said_in = before[-1]
    statement = said.statement
    is_near = described.statement.start - statement.end < _MAX_CONTEXT
    if described.is_request and is_empty(statement.text):
        return None
    if statement.kind != "prose" or len(statement.text) > _MAX_CONTEXT or not is_near:
        return None
    if statement.turn == described.statement.turn:
        return said, said_in
    if statement.turn != described.statement.turn - 1 or described.statement.place:
        return None
    is_question = said.features["question"] > 0
    own = without_request(described.statement.text)
    wants_question = not described.is_request or is_bare_answer(own)
    is_alone = described.is_request and not wants_question and lacks_referent(own)
    return (said, said_in) if is_question == wants_question and not is_alone else None


def _refers_back(described: Described) -> bool:
    if described.is_request:
        own = without_request(described.statement.text)
        return names_nothing(described) or lacks_referent(own)
    first = described.words[0] if described.words else ""
    is_short = len(described.words) <= _FEW_WORDS
    return is_short or first in POINTERS | _ANSWERS or is_ratifying(described.statement.text)


_ANSWERS: Final = words_of("yes no not yep nope then only never always stays both neither")
