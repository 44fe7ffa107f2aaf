"""Read which one of a kind a text is about: "roof B", "incubator 2", "year two"."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from memories.core.function_words import PREPOSITIONS
from memories.core.lexicon import concept_of
from memories.core.number_words import NUMBER_WORDS, ORDINALS
from memories.core.tokeniser import stem, stems
from memories.core.vocabulary import LABEL_NOUNS

Labels = Mapping[str, set[str]]
_LABELLED: Final = re.compile(
    r"\b(?P<noun>[A-Za-z]{3,30})\s#?(?P<label>\d{1,4}[a-e]?|(?-i:[B-HJ-Z]\d{0,4}))\b(?![.,]\d|\s?%)",
    re.IGNORECASE,
)
_NUMBERED_NOUNS: Final = LABEL_NOUNS | stems(
    "year grade week month day term round class season semester lesson volume part lap shift"
)
_COUNTED: Final = {word: str(int(n)) for word, n in NUMBER_WORDS.items() if 1 <= n <= 12}
# "In year one", not "with one key".
_IN_WORDS: Final = re.compile(
    rf"\b(?P<noun>[a-z]{{3,30}})\s(?P<label>{'|'.join(_COUNTED)})\b(?=\W*(?:$|[.,;:]))",
    re.IGNORECASE,
)
_ORDERED: Final = re.compile(
    rf"\b(?P<label>{'|'.join(ORDINALS)})\s(?P<noun>[a-z]{{3,30}})\b", re.IGNORECASE
)


def are_of_other_numbers(a: Labels, b: Labels) -> bool:
    """Return whether two texts label one noun differently."""
    return any(a[noun].isdisjoint(b[noun]) for noun in a.keys() & b.keys())


def labels_of(text: str, besides: str) -> Labels:
    """Return the labels of each noun of a text, by its concept, without the words of a value."""
    found: dict[str, set[str]] = {}
    for match in _LABELLED.finditer(text):
        if match["label"] not in besides.split() and match["noun"].lower() not in PREPOSITIONS:
            found.setdefault(concept_of(match["noun"].lower()), set()).add(match["label"].upper())
    for match in (*_IN_WORDS.finditer(text), *_ORDERED.finditer(text)):
        noun, label = match["noun"].lower(), match["label"].lower()
        is_numbered = label in ORDINALS or stem(noun) in _NUMBERED_NOUNS
        # A pattern that ignores case takes a long s for an "s"; the tables do not.
        number = _COUNTED.get(label) or ORDINALS.get(label)
        if number and is_numbered and noun not in PREPOSITIONS:
            found.setdefault(concept_of(noun), set()).add(str(number))
    return found
