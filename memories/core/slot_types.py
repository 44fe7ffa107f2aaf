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
class Frame:
    """The parts of a sentence: attribute, name of the thing, words of the value, and tense.

    ``when`` is "now" or "then" where the tense of an attribute counts; a thing that is not
    ``is_named`` is known by the concepts of its common words.
    """

    attribute: str
    thing: frozenset[str]
    value: Sequence[str]
    when: str = ""
    is_named: bool = True


@dataclass(frozen=True, slots=True)
class Slot:
    """What a statement says of a thing: the attribute, the thing's name and the value.

    ``kind`` is "name", "number" (with a ``unit``), "code" (one word with digits) or "plain" (common
    nouns); ``sort`` the noun that classes the value ("the city of Y"), "" without one.
    """

    attribute: str
    thing: frozenset[str]
    value: frozenset[str]
    written: str
    kind: str
    sort: str = ""
    when: str = ""
    unit: str = ""
    is_named: bool = True
