"""Compare short answers by their form: codes, labels, full names, one noun with two modifiers."""

from __future__ import annotations

import re
from typing import Final, Literal

from memories.core.calendar_words import DAYS_OF_WEEKS, MONTHS, SEASONS
from memories.core.function_words import DETERMINERS, PREPOSITIONS
from memories.core.lexicon import concept_of
from memories.core.number_words import NUMBER_WORDS, ORDINALS

ValueRelation = Literal["same", "other", "unclear"]

MAX_WORDS: Final = 4
_SIGNS: Final = frozenset("/@\\")
_VERSION: Final = re.compile(r"[vV]?\d{1,6}(?:\.\d{1,6}){0,5}")
_LABEL: Final = re.compile(r"(?P<noun>(?:[A-Za-z]{2,30}\s)?)(?P<label>[A-Z]|\d{1,4}[a-z]?)")
_WORD_OF_NAME: Final = re.compile(r"[A-Z][\w'’-]*\.?")
_WORD: Final = re.compile(r"[\w'’-]+")
_TIMES: Final = frozenset((*MONTHS, *DAYS_OF_WEEKS, *SEASONS))
_NO_MODIFIERS: Final = (
    DETERMINERS | PREPOSITIONS | NUMBER_WORDS.keys() | ORDINALS.keys() | _TIMES
    | frozenset({"and", "or", "per", "not", "new", "own", "about", "roughly", "same", "other"})
)  # fmt: skip


def compare_forms(a: str, b: str) -> ValueRelation | None:
    """Return how two answers of one form relate, None where their forms decide nothing."""
    one, other = (text.strip().strip(".\"'") for text in (a, b))
    if _is_code(one) and _is_code(other) and not _is_version(one, other):
        return "same" if one.lower() == other.lower() else "other"
    mine, theirs = _LABEL.fullmatch(one), _LABEL.fullmatch(other)
    if mine and theirs and (mine["noun"] or not mine["label"].isdigit()):
        if mine["noun"].lower() != theirs["noun"].lower():
            return None
        return "same" if mine["label"] == theirs["label"] else "other"
    return _compare_names(one.split(), other.split()) or _compare_modifiers(one, other)


def _is_code(text: str) -> bool:
    """Return whether a text is one word as of a machine: "us-east-1", "ops@acme.io", "/var/log"."""
    if not any(map(str.isalpha, text)) or len(text.split()) != 1:
        return False
    has_digit = any(map(str.isdigit, text)) or "_" in text
    return not _SIGNS.isdisjoint(text) or (text[0].isalpha() and has_digit)


def _is_version(*texts: str) -> bool:
    """Return whether a code is a version, which another one may give more exactly: "v3", "v3.1"."""
    return any(map(_VERSION.fullmatch, texts))


def _compare_names(mine: list[str], theirs: list[str]) -> ValueRelation | None:
    """Compare two full names: "Ana Ruiz", "Ana Gomez"; an initial stands for any name with it."""
    if not (1 < len(mine) <= MAX_WORDS and 1 < len(theirs) <= MAX_WORDS):
        return None
    if not all(map(_WORD_OF_NAME.fullmatch, (*mine, *theirs))) or len(mine) != len(theirs):
        return None
    pairs = [(x.rstrip("."), y.rstrip(".")) for x, y in zip(mine, theirs, strict=True)]
    differing = [(x, y) for x, y in pairs if x != y]
    if len(differing) == len(pairs):
        return None  # which other words decide
    if all(_is_initial(x, y) or _is_initial(y, x) for x, y in differing):
        return "same"
    return "other"


def _is_initial(short: str, full: str) -> bool:
    return len(short) == 1 and full.startswith(short)


def _compare_modifiers(one: str, other: str) -> ValueRelation | None:
    """Compare "the day shift" with "the night shift": one noun, one other word before it."""
    mine, theirs = _words(one), _words(other)
    if not 2 <= len(mine) == len(theirs) <= MAX_WORDS or mine[-1] != theirs[-1]:
        return None
    differing = [(x, y) for x, y in zip(mine, theirs, strict=True) if x != y]
    if len(differing) != 1 or not _NO_MODIFIERS.isdisjoint(differing[0]):
        return None
    x, y = differing[0]
    is_word = x.isalpha() and y.isalpha()
    return "other" if is_word and concept_of(x) != concept_of(y) else None


def _words(text: str) -> list[str]:
    found = [word.lower() for word in _WORD.findall(text)]
    return found[1:] if found and found[0] in DETERMINERS else found
