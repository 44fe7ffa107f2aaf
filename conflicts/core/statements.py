"""A fact, read: its words, sentences and cues, kept for the comparisons of one run."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from conflicts.core.cues import Cue, cues
from conflicts.core.facts import Fact
from conflicts.core.qualifiers import qualifiers
from memories.core import claims
from memories.core.lexicon import concept_of

_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")
LEAD_IN_STEMS: Final = 2
_LEADS_IN = re.compile(
    r"(?:starting|beginning|effective|from|since|as\s+of|after|with|on|by|in|now)\b", re.I
)
_CLAUSE = re.compile(r"(?<=[.!?;:,])\s+|\s+-\s+|\s+and\s+|\n+")
_POINTER = re.compile(r"\b(?:it|its|they|their|them|which|that|he|his|she|her)\b", re.IGNORECASE)
_CALENDAR = _words(
    "mondays tuesdays wednesdays thursdays fridays saturdays sundays monday tuesday wednesday"
    " thursday friday saturday sunday january february march april may june july august september"
    " october november december christmas easter"
)
_UNITS = frozenset({"kb", "mb", "gb", "tb", "kib", "mib", "gib", "eur", "usd", "chf", "gbp", "utc"})
# A clause without a subject of its own: "… and has been scrapped".
_GOES_ON = re.compile(
    r"^(?:then\s+|also\s+)?(?:has|have|had|is|are|was|were|will|got|went|gone|\w{3,}ed)\b", re.I
)
_AMONG = re.compile(r"\b(?:among|with|including)\s+(?:it|them|that|this|these|those)\b", re.I)
_ON = re.compile(
    r"\b(?:(?:is|are|turned|switched|stays?)\s+on\b(?!\s+\w+day)(?=\s*(?:$|[.,;:]|for|in|by|again|across|every|\w+\s+auto))|enabled|activated|turned\s+on)",
    re.I,
)
_OFF = re.compile(r"\b(?:(?:is|are|turned|switched|stays?)\s+off\b|disabled|deactivated)", re.I)
_TOKEN = re.compile(r"(?=[\w-]*\d)[A-Za-z]+(?:-\w+)+|[\w#]+(?:[.'’]\d\w*|['’]\w+)*")
_LETTER_NAME = re.compile(r"\b(?:[A-Z]{1}|[A-Z]\d+)\b")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Words that say nothing about what a memory is about.
_STOP = _words(
    "a about after all already also an and any anybody anything are as at be because been"
    " before being between both but by can come comes day days did do does doing done each"
    " eight evening every everybody everything five for four from get gets go goes had has"
    " have he her him his how i if in into is it its itself just keep keeps kept let lets"
    " made make makes march may me month months more morning most must my need needs new next"
    " night nine no nobody nor not nothing now of off on once one only or other our out over"
    " own per please put puts said say says see seven she should since six so some somebody"
    " still such take takes ten than that the their them then there these they thing things"
    " this those three through to today tomorrow too took two under until up us use used uses"
    " using very via want wants was way we week weeks went were what whatever when where"
    " which while who whoever whom why will with within without would year years yesterday"
    " yet you your yours"
)


@dataclass(frozen=True, slots=True)
class Clause:
    """A piece of a sentence between commas or "and", with its stems.

    ``points_back`` when a pronoun may stand for something of the clause before; ``is_among`` when
    it counts itself to what was told there ("the old host among them").
    """

    text: str
    stems: frozenset[str]
    points_back: bool
    is_among: bool

    @property
    def cues(self) -> frozenset[Cue]:
        """Cues of the clause alone."""
        return cues(self.text)


@dataclass(frozen=True, slots=True)
class Statement:
    """A fact and everything the rules ask about it.

    ``names`` are stems that name something in particular: capitalised inside a sentence, mixed
    with digits or punctuation, or single capital letters ("dock C"). ``values`` are measured or
    dated values as (dimension, value): ("s", "30"); facts of one ``conversation`` (not "") were
    noted minutes apart; ``qualifiers`` are the narrowing words of scope and text.
    """

    fact: Fact
    clauses: tuple[Clause, ...]
    stems: frozenset[str]
    names: frozenset[str]
    order: tuple[str, ...]
    cues: frozenset[Cue]
    conversation: str
    qualifiers: frozenset[tuple[int, int]]

    @property
    def reading(self) -> claims.Reading:
        """What claim comparison reads in the text."""
        return _reading(self.fact.content)

    @property
    def values(self) -> frozenset[tuple[str, str]]:
        """Measured or dated values as (dimension, value): ("s", "30")."""
        return _values(self.fact.content)

    @property
    def figures(self) -> frozenset[str]:
        """Numbers as written."""
        return frozenset(stem for stem in self.stems if stem[0].isdigit())

    @property
    def left_words(self) -> frozenset[str]:
        """Words of the values that the text says were left: "replaced X by Y" leaves X."""
        found = (claim.transition.old for claim in self.reading.claims if claim.transition)
        return frozenset[str]().union(*found)

    def told_with(self, *wanted: Cue) -> frozenset[str]:
        """Stems of the clauses that carry one of the cues, and of those they point back to."""
        found: set[str] = set()
        for i, clause in enumerate(self.clauses):
            before = self.clauses[i - 1] if i > 0 else None
            if not clause.cues.isdisjoint(wanted):
                found |= clause.stems
                if clause.points_back and before:
                    found |= before.stems
                # "Starting in May, …": the cue leads in what is told next.
                is_lead_in = len(clause.stems) <= LEAD_IN_STEMS and _LEADS_IN.match(clause.text)
                if is_lead_in and i + 1 < len(self.clauses):
                    found |= self.clauses[i + 1].stems
            elif clause.is_among and before and not before.cues.isdisjoint(wanted):
                found |= clause.stems
        return frozenset(found)

    def has(self, *wanted: Cue) -> bool:
        """Whether any of the cues occurs anywhere in the text."""
        return not self.cues.isdisjoint(wanted)


def tokens(text: str) -> list[str]:
    """Words of ``text`` as written, identifiers also cut at their joints."""
    return _TOKEN.findall(text)


# Stems that measure or date something; two facts that share them need not share a subject.
MEASURES = frozenset(concept_of(word) for word in _UNITS | _CALENDAR)


@lru_cache(maxsize=65536)
def stems(text: str) -> tuple[str, ...]:
    """Stems of the content words of ``text`` in order."""
    words = []
    for token in tokens(text):
        word = re.sub(r"['’]s?$", "", token.lower())
        if _LETTER_NAME.fullmatch(token) and token not in {"A", "I"}:
            words.append(f"={token}")
        else:
            parts = (part for part in word.split("_") if len(part) > 1 or part.isdigit())
            words.extend(concept_of(part) for part in parts if part not in _STOP)
    return tuple(words)


def _names(text: str) -> frozenset[str]:
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


@lru_cache(maxsize=16384)
def _reading(text: str) -> claims.Reading:
    return claims.read(text)


@lru_cache(maxsize=16384)
def _values(text: str) -> frozenset[tuple[str, str]]:
    found: set[tuple[str, str]] = set()
    for claim in _reading(text).claims:
        found.update((q.unit, f"{q.value:.6g}") for q in claim.quantities if q.unit != "count")
        found.update(("date", date) for date in claim.dates)
        found.update(("version", version) for version in claim.versions)
    if _OFF.search(text):
        found.add(("switch", "off"))
    elif _ON.search(text):
        found.add(("switch", "on"))
    return frozenset(found)


@lru_cache(maxsize=32768)
def _read(
    text: str,
) -> tuple[tuple[Clause, ...], frozenset[str], tuple[str, ...], frozenset[Cue]]:
    clauses = tuple(
        Clause(
            part,
            frozenset(stems(part)),
            bool(_POINTER.search(part) or _GOES_ON.match(part)),
            bool(_AMONG.search(part)),
        )
        for part in (piece.strip() for piece in _CLAUSE.split(text) if piece)
        if part
    )
    return clauses, _names(text), stems(text), cues(text)


def read(fact: Fact, conversation: str = "") -> Statement:
    """Read ``fact``; texts seen before cost nothing. ``conversation`` names the one it is from."""
    clauses, names, order, found = _read(fact.content)
    return Statement(
        fact=fact,
        clauses=clauses,
        stems=frozenset(order),
        names=names,
        order=order,
        cues=found,
        conversation=conversation,
        qualifiers=qualifiers(f"{fact.scope} {fact.content}"),
    )
