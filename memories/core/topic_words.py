"""Extract the content words of a memory, and the names among them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from memories.core.calendar_words import DAYS_OF_WEEKS, MONTHS
from memories.core.function_words import words_of
from memories.core.lexicon import concept_of

_SENTENCE = re.compile(r"(?<=[.!?;])\s|\n")
_TOKEN = re.compile(
    r"(?=[\w-]{0,40}\d)[A-Za-z]{1,20}(?:-\w{1,20}){1,6}|\d{1,3}(?:,\d{3})+(?!\d)|"
    r"[\w#]+(?:[.:'’]\d\w*|['’]\w+)*"
)
_POSSESSIVE = re.compile(r"['’][sS]?$")
_LETTER_NAME = re.compile(r"\b(?:[A-Z]{1}|[A-Z]\d+)\b")


# Words that do not identify a topic.
_STOP = words_of(
    "a about after all already also an and any anybody anything are as at be because been"
    " before being between both but by can come comes day days did do does doing done each"
    " eight every everybody everything five for four from get gets go goes had has"
    " have he her him his how i if in into is it its itself just keep keeps kept let lets"
    " made make makes march may me month months more most must my need needs new next"
    " nine no nobody nor not nothing now of off on once one only or other our out over"
    " own per please put puts said say says see seven she should since six so some somebody"
    " still such take takes ten than that the their them then there these they thing things"
    " this those three through to today tomorrow too took two under until up us use used uses"
    " using very via want wants was way we week weeks went were what whatever when where"
    " which while who whoever whom why will with within without would year years yesterday"
    " yet you your yours"
)
_CALENDAR = frozenset((*MONTHS, *DAYS_OF_WEEKS, "christmas", "easter"))
_UNITS = frozenset({"kb", "mb", "gb", "tb", "kib", "mib", "gib", "eur", "usd", "chf", "gbp", "utc"})
# "Ten minutes" is a measure, the minutes of a meeting are not.
_TIMES = words_of("second seconds minute minutes hour hours")
_COUNTS = re.compile(
    r"\d\S*|an?|per|every|each|half|few|one|two|three|four|five|six|ten|fifteen|twenty|thirty", re.I
)
# Stems that measure or date something; two facts that share them need not share a subject.
MEASURES = frozenset(concept_of(word) for word in _UNITS | _CALENDAR)


def tokens(text: str) -> list[str]:
    """Return the words of ``text`` as written, and the parts of identifiers."""
    return _TOKEN.findall(text)


@lru_cache(maxsize=16384)
def stems(text: str) -> tuple[str, ...]:
    """Return the stems of the content words of ``text`` in order."""
    return tuple(stem for stem, _ in _stemmed(text))


def written(text: str, stem: str) -> str:
    """Return the first word of ``text`` with a stem, as it stands there."""
    return next((word for other, word in _stemmed(text) if other == stem), stem)


def _stemmed(text: str) -> Iterator[tuple[str, str]]:
    """Yield the stems of the content words of a text, each with the word as written."""
    before = ""
    for token in tokens(text):
        is_unit = token.lower() in _TIMES and _COUNTS.fullmatch(before)
        before = token
        if is_unit:
            continue
        if _LETTER_NAME.fullmatch(token) and token not in {"A", "I"}:
            yield f"={token}", token
            continue
        for part in _POSSESSIVE.sub("", token).split("_"):
            lower = part.lower()
            if lower not in _STOP and (len(lower) > 1 or lower.isdigit()):
                yield concept_of(lower), part


@lru_cache(maxsize=16384)
def names(text: str) -> frozenset[str]:
    found: set[str] = set()
    for sentence in _SENTENCE.split(text):
        for position, token in enumerate(tokens(sentence)):
            marked = any(c.isdigit() or c == "_" for c in token) and not token.isdigit()
            inner = any(c.isupper() for c in token[1:])
            if token.lower() in _UNITS | _CALENDAR:
                continue
            if marked or inner or (position > 0 and token[0].isupper()):
                found.update(stems(token))
    return frozenset(found)


_COMPOUND = re.compile(r"(?<![\w-])[A-Za-z]{1,30}(?:-\w{1,30}){1,4}(?![\w-])")


@lru_cache(maxsize=16384)
def named_stems(text: str) -> frozenset[str]:
    """Return the stems of names in ``text``, also of those with a hyphen ("db-main")."""
    compounds = (stem for name in _COMPOUND.findall(text) for stem in stems(name))
    return names(text) | frozenset(compounds)
