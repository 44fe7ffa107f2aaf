"""Parse a fact into words, sentences and cues, cached for the comparisons of one run."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from conflicts.core.cues import Cue, cues
from conflicts.core.facts import Fact
from conflicts.core.qualifiers import qualifiers
from memories.core import claims
from memories.core.drift.parts import VALUES
from memories.core.function_words import AUXILIARIES
from memories.core.reasons import Difference
from memories.core.topic_words import names, stems, written

LEAD_IN_STEMS: Final = 2
# Every run reads a whole story of up to 2,000 memories again: parsing one takes a millisecond
# or two, keeping it some 10 KB.
_TEXTS_KEPT: Final = 6_000
_VALUE_WORDS: Final = 4
_LEADS_IN = re.compile(
    r"(?:starting|beginning|effective|from|since|as\sof|after|with|on|by|in|now)\b", re.I
)
_CLAUSE = re.compile(r"(?<=[.!?;:,])\s|\s-\s|\sand\s|\n+")
_POINTER = re.compile(r"\b(?:it|its|they|their|them|which|that|he|his|she|her)\b", re.IGNORECASE)
# A clause without a subject of its own: "… and has been scrapped".
_GOES_ON = re.compile(
    r"^(?:then\s|also\s)?(?:has|have|had|is|are|was|were|will|got|went|gone|\w{3,}ed)\b", re.I
)
_AMONG = re.compile(r"\b(?:among|with|including)\s(?:it|them|that|this|these|those)\b", re.I)
_ON = re.compile(
    r"\b(?:(?:is|are|turned|switched|stays?)\son\b(?!\s\w+day)(?=\s?(?:$|[.,;:]|for|in|by|again|across|every))|"
    r"enabled|activated|turned\son)",
    re.I,
)
_OFF = re.compile(r"\b(?:(?:is|are|turned|switched|stays?)\soff\b|disabled|deactivated)", re.I)


@dataclass(frozen=True, slots=True)
class SentencePart:
    """A part of a sentence between commas or "and", with its stems.

    ``points_back`` when a pronoun may refer to the clause before; ``is_among`` when it counts
    itself among the things of that clause ("the old host among them").
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
    clauses: tuple[SentencePart, ...]
    stems: frozenset[str]
    names: frozenset[str]
    order: tuple[str, ...]
    cues: frozenset[Cue]
    conversation: str
    qualifiers: frozenset[tuple[int, int]]

    @property
    def reading(self) -> claims.Reading:
        """The claims that claim comparison reads in the text."""
        return _read_claims(self.fact.content)

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

    @property
    def states_fact(self) -> bool:
        """Return whether a claim of the text is a fact by its grammar: no question, no proposal."""
        return any(claim.modality == "fact" for claim in self.reading.claims)

    def stems_with_cue(self, *wanted: Cue) -> frozenset[str]:
        """Stems of the clauses that carry one of the cues, and of those they point back to."""
        found: set[str] = set()
        for i, clause in enumerate(self.clauses):
            before = self.clauses[i - 1] if i > 0 else None
            if not clause.cues.isdisjoint(wanted):
                found |= clause.stems
                if clause.points_back and before:
                    found |= before.stems
                # "Starting in May, …": the cue introduces the next part.
                is_lead_in = len(clause.stems) <= LEAD_IN_STEMS and _LEADS_IN.match(clause.text)
                if is_lead_in and i + 1 < len(self.clauses):
                    found |= self.clauses[i + 1].stems
            elif clause.is_among and before and not before.cues.isdisjoint(wanted):
                found |= clause.stems
        return frozenset(found)

    def has(self, *wanted: Cue) -> bool:
        """Return whether any of the cues occurs anywhere in the text."""
        return not self.cues.isdisjoint(wanted)


@lru_cache(maxsize=_TEXTS_KEPT)
def _read_claims(text: str) -> claims.Reading:
    return claims.read(text)


@lru_cache(maxsize=_TEXTS_KEPT)
def _values(text: str) -> frozenset[tuple[str, str]]:
    found: set[tuple[str, str]] = set()
    for claim in _read_claims(text).claims:
        found.update((q.unit, f"{q.value:.6g}") for q in claim.quantities if q.unit != "count")
        found.update(("date", date) for date in claim.dates)
        found.update(("version", version) for version in claim.versions)
    if _OFF.search(text):
        found.add(("switch", "off"))
    elif _ON.search(text):
        found.add(("switch", "on"))
    return frozenset(found)


@lru_cache(maxsize=_TEXTS_KEPT)
def _read(
    text: str,
) -> tuple[tuple[SentencePart, ...], frozenset[str], tuple[str, ...], frozenset[Cue]]:
    clauses = tuple(
        SentencePart(
            part,
            frozenset(stems(part)),
            bool(_POINTER.search(part) or _GOES_ON.match(part)),
            bool(_AMONG.search(part)),
        )
        for part in (piece.strip() for piece in _CLAUSE.split(text) if piece)
        if part
    )
    return clauses, names(text), stems(text), cues(text)


def explain_words(what: str, a: Statement, stem: str, b: Statement, other: str) -> Difference:
    """Return the reason that two statements use different words, named by their stems."""
    left, right = written(a.fact.content, stem), written(b.fact.content, other)
    return Difference(f"{what}: {left} against {right}", stem, other)


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


def is_value_alone(text: str) -> bool:
    """Return whether a text names a value of nothing: "04:30 UTC", "on Monday at 10"."""
    words, read = text.lower().split(), claims.read(text).claims
    is_clause = any(claim.verb for claim in read) or not AUXILIARIES.isdisjoint(words)
    if len(words) > _VALUE_WORDS or is_clause:
        return False
    return any(term.kind in VALUES for claim in read for term in claim.terms)
