"""Describe the statements of a transcript one after the other, in as many turns as it takes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import Any, Final

from memories.core.extraction.correction_words import correction_of
from memories.core.extraction.corrections import mark_corrected
from memories.core.extraction.echoes import mark_echoed_orders
from memories.core.extraction.features import Around, Described, describe, feature_names
from memories.core.extraction.meant import mark_announced
from memories.core.extraction.offers import mark_answered
from memories.core.extraction.private_marks import mark_private
from memories.core.extraction.private_repeats import mark_repeated
from memories.core.extraction.private_topics import mark_topics
from memories.core.extraction.retractions import mark_retracted
from memories.core.extraction.statements import Statement, read_statements
from memories.core.extraction.turns import Turn, read_turns

Advance = Callable[[float], object]  # told the share that is done, 0..1
Stored = Mapping[str, Any]

DESCRIBED: Final = 0.5  # share of the work that is done once every statement is described
_FORM: Final = 1  # of what `store` returns; it goes up with the fields of a statement


def unwatched(share: float) -> None:
    """Tell nobody."""


class Describing:
    """The statements of a transcript, of which the first ones are described.

    `stored` is what `store` returned for the same transcript before: it goes on from there. Of
    another transcript, or of another form, it is left aside.
    """

    def __init__(self, transcript: str, agent: str = "", stored: Stored | None = None) -> None:
        self.transcript = transcript
        self.turns = read_turns(transcript, agent)
        self._described: list[Described] = []
        self._of = blake2b(f"{agent}\n{transcript}".encode(), digest_size=16).hexdigest()
        if stored is not None and stored["form"] == _form() and stored["of"] == self._of:
            self._statements = [_statement(transcript, row) for row in stored["statements"]]
            self._described = [
                _described(one, row)
                for one, row in zip(self._statements, stored["described"], strict=False)
            ]
        else:
            self._statements = _marked(transcript, self.turns)
        self._by_turn: defaultdict[int, list[Statement]] = defaultdict(list)
        self._places: list[int] = []  # of each statement among those of its turn
        for statement in self._statements:
            own = self._by_turn[statement.turn]
            self._places.append(len(own))
            own.append(statement)

    @property
    def share(self) -> float:
        """Return how much of the transcript is described, 0..1."""
        at = len(self._described)
        return self._statements[at].start / len(self.transcript) if self._is_left(at) else 1.0

    def go_on(self) -> bool:
        """Describe the next statement; return False where there is none."""
        at = len(self._described)
        if not self._is_left(at):
            return False
        statement = self._statements[at]
        self._described.append(_describe(statement, self.turns[statement.turn], self._around(at)))
        return True

    def describe_all(self, advance: Advance = unwatched) -> list[Described]:
        """Return all statements with their features, in order."""
        while self._is_left(len(self._described)):
            advance(self.share)
            self.go_on()
        found = list(self._described)
        mark_announced(found, self.turns)
        mark_echoed_orders(found, self.turns)
        return found

    def store(self) -> dict[str, Any]:
        """Return what is known by now as JSON. It holds words of the transcript."""
        return {
            "form": _form(),
            "of": self._of,
            "statements": [_statement_row(one) for one in self._statements],
            "described": [_described_row(one) for one in self._described],
        }

    def _is_left(self, at: int) -> bool:
        return at < len(self._statements)

    def _around(self, at: int) -> Around:
        statement, place = self._statements[at], self._places[at]
        own = self._by_turn[statement.turn]
        return Around(
            before=own[place - 1].text if place else "",
            after=own[place + 1].text if place + 1 < len(own) else "",
            previous_turn=self._text(statement.turn - 1, -1),
            next_turn=self._text(statement.turn + 1, 0),
            share=statement.start / len(self.transcript),
        )

    def _text(self, turn: int, place: int) -> str:
        return self._by_turn[turn][place].text if turn in self._by_turn else ""


def _marked(transcript: str, turns: tuple[Turn, ...]) -> list[Statement]:
    """Return the statements of a transcript with what others of them say about each."""
    answered = mark_answered(read_statements(transcript, turns), turns)
    corrected = mark_corrected(mark_retracted(answered, turns), turns)
    private = mark_repeated(mark_private(corrected, turns), turns)
    by_turn: defaultdict[int, list[Statement]] = defaultdict(list)
    for statement in mark_topics(private, turns):
        by_turn[statement.turn].append(statement)
    return [statement for own in by_turn.values() for statement in own]


def _describe(statement: Statement, turn: Turn, around: Around) -> Described:
    """Describe a statement; one that corrects another by the grammar of that."""
    if correction_of(statement) is None:
        return describe(statement, turn, around)
    corrected = replace(statement, text=statement.corrects, corrects="")
    return replace(describe(corrected, turn, around), statement=statement)


def _form() -> list[Any]:
    return [_FORM, *feature_names()]


def _statement_row(one: Statement) -> list[Any]:
    flags = (one.is_listed, one.is_retracted, one.is_doubtful)
    return [one.start, one.end, one.turn, one.place, one.kind, one.corrects, *map(int, flags)]


def _statement(transcript: str, row: Sequence[Any]) -> Statement:
    start, end, turn, place, kind, corrects, *flags = row
    return Statement(
        transcript[start:end], start, end, turn, place, kind, corrects, *map(bool, flags)
    )


def _described_row(one: Described) -> list[Any]:
    values = [int(value) if value == int(value) else value for value in one.features.values()]
    return [list(one.words), values, sorted(one.modalities), int(one.is_told), int(one.is_request)]


def _described(statement: Statement, row: Sequence[Any]) -> Described:
    words, values, modalities, is_told, is_request = row
    features = dict(zip(feature_names(), map(float, values), strict=True))
    return Described(
        statement, tuple(words), features, frozenset(modalities), bool(is_told), bool(is_request)
    )
