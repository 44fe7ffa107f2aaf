"""Extract the content words of a memory, and the names among them."""

from __future__ import annotations

import re
from functools import lru_cache

from memories.core.calendar_words import DAYS_OF_WEEKS, MONTHS
from memories.core.function_words import words_of
from memories.core.lexicon import concept_of

_SENTENCE = re.compile(r"(?<=[.!?;])\s|\n")
_TOKEN = re.compile(
    r"(?=[\w-]{0,40}\d)[A-Za-z]{1,20}(?:-\w{1,20}){1,6}|\d{1,3}(?:,\d{3})+(?!\d)|"
    r"[\w#]+(?:[.:'’]\d\w*|['’]\w+)*"
)
_POSSESSIVE = re.compile(r"['’]s?$")
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


@lru_cache(maxsize=65536)
def stems(text: str) -> tuple[str, ...]:
    """Return the stems of the content words of ``text`` in order."""
    words: list[str] = []
    before = ""
    for token in tokens(text):
        is_unit = token.lower() in _TIMES and _COUNTS.fullmatch(before)
        before = token
        if is_unit:
            continue
        word = _POSSESSIVE.sub("", token.lower())
        if _LETTER_NAME.fullmatch(token) and token not in {"A", "I"}:
            words.append(f"={token}")
        else:
            parts = (part for part in word.split("_") if len(part) > 1 or part.isdigit())
            words.extend(concept_of(part) for part in parts if part not in _STOP)
    return tuple(words)


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


def named_stems(text: str) -> frozenset[str]:
    """Return the stems of names in ``text``, also of those with a hyphen ("db-main")."""
    compounds = (stem for name in _COMPOUND.findall(text) for stem in stems(name))
    return names(text) | frozenset(compounds)
