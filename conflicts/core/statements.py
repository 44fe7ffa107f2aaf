"""A fact, read: its words, sentences and cues, kept for the comparisons of one run."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from conflicts.core.cues import Cue, cues
from conflicts.core.facts import Fact
from memories.core import claims
from memories.core.words import stem

_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")
_TOKEN = re.compile(r"[\w#]+(?:[.'’][\w]+)*", re.UNICODE)
_LETTER_NAME = re.compile(r"\b(?:[A-Z]{1}|[A-Z]\d+)\b")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Words that say nothing about what a memory is about.
_STOP = _words(
    "a about after all already also an and any anybody anything april are as at august be"
    " because been before being between both but by can come comes day days december did do"
    " does doing done each eight evening every everybody everything february first five for"
    " four friday from get gets go goes had has have he her him his how i if in into is it its"
    " itself january july june just keep keeps kept last let lets made make makes march may me"
    " monday month months more morning most must my need needs new next night nine no nobody"
    " nor not nothing november now october of off on once one only or other our out over own"
    " per please put puts said saturday say says second see september seven she should since"
    " six so some somebody still such sunday take takes ten than that the their them then"
    " there these they thing things third this those three through thursday to today tomorrow"
    " too took tuesday two under until up us use used uses using very via want wants was way"
    " we wednesday week weeks went were what whatever when where which while who whoever whom"
    " why will with within without would year years yesterday yet you your yours"
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of a fact with its stems and cues."""

    text: str
    stems: frozenset[str]
    cues: frozenset[Cue]


@dataclass(frozen=True, slots=True)
class Statement:
    """A fact and everything the rules ask about it.

    ``names`` are stems that name something in particular: capitalised inside a sentence, mixed
    with digits or punctuation, or single capital letters ("dock C").
    """

    fact: Fact
    reading: claims.Reading
    sentences: tuple[Sentence, ...]
    stems: frozenset[str]
    names: frozenset[str]
    order: tuple[str, ...]
    cues: frozenset[Cue]

    def has(self, *wanted: Cue) -> bool:
        """Whether any of the cues occurs anywhere in the text."""
        return not self.cues.isdisjoint(wanted)


def tokens(text: str) -> list[str]:
    """Words of ``text`` as written, identifiers also cut at their joints."""
    return _TOKEN.findall(text)


def stems(text: str) -> tuple[str, ...]:
    """Stems of the content words of ``text`` in order."""
    words = []
    for token in tokens(text):
        word = re.sub(r"['’]s?$", "", token.lower())
        if _LETTER_NAME.fullmatch(token) and token not in {"A", "I"}:
            words.append(f"={token}")
        elif word and word not in _STOP and (len(word) > 1 or word.isdigit()):
            words.append(stem(word))
            if "_" in word:
                words.extend(stem(part) for part in word.split("_") if len(part) > 1)
    return tuple(words)


def _names(text: str) -> frozenset[str]:
    found: set[str] = set()
    for sentence in _SENTENCE.split(text):
        for position, token in enumerate(tokens(sentence)):
            marked = any(c.isdigit() or c == "_" for c in token) and not token.isdigit()
            inner = any(c.isupper() for c in token[1:])
            if marked or inner or (position > 0 and token[0].isupper()):
                found.update(stems(token))
    return frozenset(found)


@lru_cache(maxsize=32768)
def _read(
    text: str,
) -> tuple[claims.Reading, tuple[Sentence, ...], frozenset[str], tuple[str, ...], frozenset[Cue]]:
    sentences = tuple(
        Sentence(part, frozenset(stems(part)), cues(part))
        for part in (piece.strip() for piece in _SENTENCE.split(text))
        if part
    )
    return claims.read(text), sentences, _names(text), stems(text), cues(text)


def read(fact: Fact) -> Statement:
    """Read ``fact``; texts seen before cost nothing."""
    reading, sentences, names, order, found = _read(fact.content)
    return Statement(fact, reading, sentences, frozenset(order), names, order, found)
