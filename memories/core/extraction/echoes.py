"""Find what repeats the user's own words: "Noted, the deploy is on Friday." of an assistant.

What the user said first is the user's, whatever an assistant makes of it; and so is what the user
states in other words after an assistant.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from memories.core.extraction.cues import COURTESY
from memories.core.extraction.features import Described
from memories.core.extraction.overlap import repeats
from memories.core.extraction.request_grammar import without_request
from memories.core.extraction.statements import Statement
from memories.core.extraction.turns import Turn
from memories.core.spelling import letters
from memories.core.text import terms

_NEAR: Final = 40  # statements of the user before an echo that it is compared with
_FEWEST: Final = 2  # terms of a statement that can be recognised
# With these an assistant says that it has heard something.
_HEARD: Final = frozenset(
    terms(
        "noted noting note understood got ok okay sure right thanks thank great good fine perfect"
        " clear alright yes yep certainly remember remembering recorded stored saved added"
        " confirmed correct agreed"
    )
)
_COURTEOUS: Final = frozenset(terms(" ".join(COURTESY)))


def find_echoes(found: Sequence[Described], turns: Sequence[Turn]) -> dict[int, int]:
    """Return which statements of others repeat what the user says, and where: positions in `found`.

    The user says it before them, or confirms it afterwards in words of their own ("Right, we
    deploy on Fridays."). What the user only asks, guesses or quotes is not said. Linear in the
    number of statements.
    """
    said: deque[tuple[int, frozenset[str]]] = deque(maxlen=_NEAR)
    others: deque[tuple[int, frozenset[str]]] = deque(maxlen=_NEAR)  # that repeat nobody so far
    echoes: dict[int, int] = {}
    for position, one in enumerate(found):
        role = turns[one.statement.turn].role
        if one.statement.kind != "prose" or role in {"tool", "unknown"}:
            continue
        words = frozenset(terms(one.statement.text))
        if role == "user":
            if _is_asserted(one) and len(words) >= _FEWEST:
                said.append((position, words))
                confirmed = _repeated(found, others, position, words)
                if confirmed is not None and not _is_copy(one, found[confirmed]):
                    echoes.setdefault(confirmed, position)
            continue
        earlier = _repeated(found, said, position, words)
        if earlier is not None:
            echoes[position] = earlier
        elif len(words) >= _FEWEST:
            others.append((position, words))
    return echoes


def mark_echoed_orders(found: list[Described], turns: Sequence[Turn]) -> None:
    """Take a "remember to breathe" for no request where an assistant has just said it."""
    told: dict[int, list[frozenset[str]]] = {}
    for position, one in enumerate(found):
        turn = one.statement.turn
        own = frozenset(terms(without_request(one.statement.text))) - _HEARD - _COURTEOUS
        if turns[turn].role == "assistant":
            told.setdefault(turn, []).append(own)
        elif one.is_request and own and any(own <= said for said in told.get(turn - 1, ())):
            is_to_do = without_request(one.statement.text).lower().startswith("to ")
            found[position] = replace(one, is_request=not is_to_do)


def _repeated(
    found: Sequence[Described],
    before: deque[tuple[int, frozenset[str]]],
    position: int,
    words: frozenset[str],
) -> int | None:
    """Return the nearest of some statements that one repeats, None for none."""
    negated = found[position].features["negated"]
    for earlier, own in reversed(before):
        if negated == found[earlier].features["negated"] and repeats(own, words - (_HEARD - own)):
            return earlier
    return None


def _is_copy(one: Described, other: Described) -> bool:
    """Return whether a statement only copies the words of another."""
    return letters(one.statement.text) in letters(other.statement.text)


def _is_asserted(one: Described) -> bool:
    unsure = ("question", "hedge", "uncertain")
    return "quote" not in one.modalities and not any(one.features[name] for name in unsure)


class SpokenWords:
    """What each turn of a transcript says in its speaker's own words, to look quotes up in."""

    def __init__(self, turns: Sequence[Turn], statements: Sequence[Statement], transcript: str):
        own: dict[int, list[str]] = {}
        for one in statements:
            if one.kind == "prose":
                own.setdefault(one.turn, []).append(one.text)
        self._said = [
            (not turn.is_users, letters(_text(transcript, turn, own.get(position, []))))
            for position, turn in enumerate(turns)
        ]

    def others_said_first(self, quote: str) -> bool:
        """Return whether somebody who is not the user says a quote, and no user before them.

        Case, blanks and closing marks do not count.
        """
        wanted = letters(quote)
        return next((others for others, said in self._said if wanted in said), False)


def _text(transcript: str, turn: Turn, own: Sequence[str]) -> str:
    """Return all that others say, and of the user the own words, not what is pasted."""
    return " ".join(own) if turn.is_users else transcript[turn.start : turn.end]
