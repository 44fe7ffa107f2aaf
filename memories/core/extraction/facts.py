"""Make a fact of a statement: words that can be understood alone, and how sure they are.

Nothing is invented: a fact is the statement as it was said, behind the sentence that it refers to
where it has no subject of its own, and with the speaker where it speaks of "I".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from memories.core.extraction.correction_words import Correction, correction_of
from memories.core.extraction.cues import HEDGES
from memories.core.extraction.features import Described
from memories.core.extraction.meant import find_meant, is_repeated
from memories.core.extraction.predicates import replace_value, subject_of
from memories.core.extraction.references import is_bare_noun
from memories.core.extraction.request_grammar import without_request
from memories.core.extraction.requests import (
    announces,
    is_order,
    lacks_referent,
    names_nothing,
    orders_something,
)
from memories.core.extraction.turns import Turn
from memories.core.function_words import words_of
from memories.core.spelling import bare_words

_SPEAKER: Final = words_of("i i'm i'll i've i'd me my mine myself")

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

    `has_others_words`: words of an assistant, or of whoever wrote a text that is shown, are part
    of the text or of the quote. `asked` is
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
        The one or two statements before it, the nearest last.
    """
    statement = described.statement
    if described.is_request and announces(statement.text):
        return None
    correction = correction_of(statement)
    if correction is not None:
        return _corrected(described, turn, correction)
    confidence = confidence_of(described, turn)
    meant, asks = find_meant(described, before), described.is_request
    own = without_request(statement.text) if asks else statement.text
    is_question = described.features["question"] > 0
    if asks and meant is None and (names_nothing(described) or (is_question and is_bare_noun(own))):
        return None
    if meant is not None:
        own = "" if asks and is_repeated(described, meant[0]) else own
        return _with_meant(transcript, described, turn, meant, own)
    if asks and orders_something(described):
        return Fact(_as_order(turn, own), own, _sure(confidence - ORDERED), not turn.is_users)
    text = own
    if asks and (lacks_referent(own) or is_bare_noun(own)):
        subject = subject_of(statement.corrects)
        text = f"{_capitalised(subject)}: {own}" if subject else own
        confidence -= 0.0 if subject else UNCLEAR
    if _speaks(turn):
        text = _said_by(turn, bare_words(own) if asks else described.words, text)
    text = _capitalised(text) if asks else text
    return Fact(text, own, _sure(confidence), not turn.is_users)


def as_others(fact: Fact) -> Fact:
    """Return a fact as one that nobody of the transcript may have said: no surer than such."""
    return replace(fact, confidence=min(fact.confidence, CERTAIN["unknown"]), has_others_words=True)


def _corrected(described: Described, turn: Turn, correction: Correction) -> Fact:
    """Return the fact of a statement that corrects another.

    A number is put in the place of the only one, another value behind the verb if it stands for all
    that was said there, a clause about "it" behind the subject. Any other value is quoted behind
    what it corrects, so that no word of that is lost.
    """
    quote, earlier = described.statement.text, described.statement.corrects
    value, confidence = correction.value, confidence_of(described, turn)
    if correction.is_value:
        text = replace_value(earlier, value)
        if not text:
            text = f"{without_request(earlier)} {quote}"
            confidence -= ORDERED
            if without_request(earlier) != earlier:
                return Fact(_as_order(turn, text), quote, _sure(confidence), not turn.is_users)
    elif lacks_referent(value):
        before = subject_of(earlier)
        confidence -= 0.0 if before else UNCLEAR
        text = f"{before}: {value}" if before else value
    else:
        text = value
    text = _capitalised(text)
    if _speaks(turn):
        text = _said_by(turn, bare_words(text), text)
    return Fact(text, quote, _sure(confidence), not turn.is_users)


def _with_meant(
    transcript: str, described: Described, turn: Turn, meant: tuple[Described, Turn], own: str
) -> Fact:
    """Return the fact of a statement that refers to the one before it."""
    said, said_in = meant
    statement, shown = described.statement, said.statement.text
    asks = described.is_request
    confidence = confidence_of(described, turn)
    has_others = not (turn.is_users and said_in.is_users)
    starts = said.statement.start
    if asks and not lacks_referent(own):
        confidence = CERTAIN[turn.role] + REQUESTED - _doubt_about(said)
        words = without_request(shown)
        if orders_something(said) if said.is_request else is_order(said):
            sure = _sure(confidence - ORDERED)
            return Fact(_as_order(turn, words), words, sure, has_others, says=starts)
        text = (
            _said_by(said_in, bare_words(words), _capitalised(words)) if _speaks(said_in) else words
        )
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


def _as_order(turn: Turn, words: str) -> str:
    return f"{_name(turn)} asked to remember: “{words}”"


def _sure(confidence: float) -> float:
    return round(max(confidence, LEAST), 2)


def _speaks(turn: Turn) -> bool:
    """Return whether a turn is a person's, who may be named before their words."""
    return turn.role in {"user", "other"}


def without_speaker(text: str, turn: Turn) -> str:
    """Return the text of a fact without the speaker that `make_fact` put before it."""
    return text.removeprefix(f"{_name(turn)} said: ")


def _said_by(turn: Turn, words: Sequence[str], text: str) -> str:
    """Put the speaker before a statement about "I" or "my"."""
    if _SPEAKER.isdisjoint(words):
        return text
    return f"{_name(turn)} said: {text}"


def _name(turn: Turn) -> str:
    return "The user" if turn.speaker.lower() in _ROLE_NAMES else turn.speaker


def _capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]


_ROLE_NAMES: Final = words_of("user human me")


def confidence_of(described: Described, turn: Turn) -> float:
    """Return how sure a statement is: by who says it, and less for a hedge or somebody's word."""
    certain = CERTAIN[turn.role] + (REQUESTED if described.is_request else 0.0)
    return _sure(certain - _doubt_about(described))


def _doubt_about(described: Described) -> float:
    """Return what a hedge or somebody's word takes; the form of a request takes nothing."""
    has = described.features
    is_unsure = has["hedge"] > 0 or has["uncertain"] > 0
    if described.is_request:
        is_unsure = not HEDGES.isdisjoint(bare_words(without_request(described.statement.text)))
    is_reported = "quote" in described.modalities
    return (HEDGED if is_unsure else 0.0) + (REPORTED if is_reported else 0.0)
