"""Data types of statements that give a thing the value of an attribute."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

# Attributes of phrases that do not name one: where a thing is, and what the noun or form of the
# value names ("is on platform 2").
PLACE: Final = "place"
SORT: Final = "sort"


@dataclass(frozen=True, slots=True)
class Thing:
    """What a sentence speaks of: the words of its name, and the noun after it ("the Tol tower").

    A thing that is not ``is_named`` is known by the concepts of its common words.
    """

    words: frozenset[str] = frozenset()
    noun: str = ""
    is_named: bool = True
    written: str = ""

    def __bool__(self) -> bool:
        """Return whether a thing was found."""
        return bool(self.words)


@dataclass(frozen=True, slots=True)
class Frame:
    """The parts of a sentence: attribute, thing, words of the value, and tense.

    ``when`` is "now" or "then" where the tense of an attribute counts.
    """

    attribute: str
    thing: Thing
    value: Sequence[str]
    when: str = ""


@dataclass(frozen=True, slots=True)
class Slot:
    """What a statement says of a thing: the attribute, the thing and the value.

    ``kind`` is "name", "number" (with a ``unit``), "code" (one word with digits), "date" (a day)
    or "plain" (common nouns); ``sort`` the noun that classes the value ("the city of Y"), ""
    without one.
    """

    attribute: str
    named: Thing
    value: frozenset[str]
    written: str
    kind: str
    sort: str = ""
    when: str = ""
    unit: str = ""

    @property
    def thing(self) -> frozenset[str]:
        """The words of the thing's name."""
        return self.named.words
