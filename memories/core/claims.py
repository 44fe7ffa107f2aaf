"""Claim comparison: what a text states, and how two texts stand to each other.

The one place that decides by rule whether two memories say the same. `read` takes a text
apart once, `compare` sets two readings side by side.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import snowballstemmer

Relation = Literal["same", "refines", "contradicts", "different"]
Modality = Literal["fact", "question", "proposal", "hypothetical", "quote", "history", "plan"]
TransitionKind = Literal["switch", "end", "return", "start"]


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with its unit, in the base unit of its dimension."""

    value: float
    unit: str
    text: str


@dataclass(frozen=True, slots=True)
class Transition:
    """A change told by the text: "moved from X to Y" has old X and new Y (stemmed words)."""

    kind: TransitionKind
    old: frozenset[str]
    new: frozenset[str]
    text: str


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement (clause or sentence) of a text."""

    text: str
    subject: frozenset[str]
    words: frozenset[str]
    identifiers: frozenset[str]
    quantities: tuple[Quantity, ...]
    dates: frozenset[str]
    versions: frozenset[str]
    polarity: bool
    modality: Modality
    transition: Transition | None


@dataclass(frozen=True, slots=True)
class Reading:
    """A whole text, read once."""

    text: str
    claims: tuple[Claim, ...]
    words: frozenset[str]


@dataclass(frozen=True, slots=True)
class Comparison:
    """How two texts stand to each other, and why."""

    relation: Relation
    reasons: tuple[str, ...]
    confidence: float
    more_specific: Literal["a", "b"] | None
    pair: tuple[int, int] | None


_STEMMER = snowballstemmer.stemmer("english")
_WORD = re.compile(r"[A-Za-z0-9]+(?:[._/:@-][A-Za-z0-9]+)*")
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")
_NUMBER = re.compile(
    r"(\d[\d,]*(?:\.\d+)?)\s*(ms|s|seconds?|minutes?|min|hours?|h|days?|weeks?|%)?"
)
_SECONDS = {
    "ms": 0.001, "s": 1, "second": 1, "minute": 60, "min": 60, "hour": 3600, "h": 3600,
    "day": 86400, "week": 604800,
}  # fmt: skip
_NEGATIONS = frozenset("not no never none cannot without neither nor".split())
_STOP = frozenset(
    "the a an is are was were be been to of in on at for by and or with from as it its this that"
    " we our i you they has have had do does did will would can could may must should".split()
)


@lru_cache(maxsize=65536)
def _stem(word: str) -> str:
    return str(_STEMMER.stemWord(word))


def _claim(text: str) -> Claim:
    tokens = _WORD.findall(text)
    words = [token.lower() for token in tokens]
    content = [w for w in words if w not in _STOP and w not in _NEGATIONS and not w.isdigit()]
    stems = frozenset(map(_stem, content))
    quantities = []
    for match in _NUMBER.finditer(text):
        unit = (match[2] or "").rstrip("s") or (match[2] or "")
        value = float(match[1].replace(",", ""))
        name = "percent" if unit == "%" else "s" if unit in _SECONDS else "count"
        quantities.append(Quantity(value * _SECONDS.get(unit, 1), name, match[0].strip()))
    identifiers = frozenset(
        t.lower() for t in tokens[1:] if t[0].isupper() or re.search(r"[\d_/.@-]", t)
    )
    first_verb = next((i for i, w in enumerate(words) if w in {"is", "are", "was", "has"}), 3)
    negated = any(w in _NEGATIONS for w in words) or "n't" in text or "no longer" in text.lower()
    modality: Modality = "question" if text.rstrip().endswith("?") else "fact"
    ended = re.search(r"no longer|retired|deprecated", text, re.IGNORECASE)
    transition = Transition("end", stems, frozenset(), ended[0]) if ended else None
    return Claim(
        text=text,
        subject=frozenset(_stem(w) for w in words[:first_verb] if w not in _STOP),
        words=stems,
        identifiers=identifiers,
        quantities=tuple(quantities),
        dates=frozenset(re.findall(r"\d{4}-\d{2}(?:-\d{2})?", text)),
        versions=frozenset(re.findall(r"\bv?(\d+\.\d+(?:\.\d+)?)\b", text)),
        polarity=not negated,
        modality=modality,
        transition=transition,
    )


def read(text: str) -> Reading:
    """Take a text apart into claims. Never raises."""
    parts = [part.strip() for part in _SENTENCE.split(text) if part.strip()]
    claims = tuple(_claim(part) for part in parts)
    return Reading(text, claims, frozenset().union(*(c.words for c in claims)))


def compare(a: Reading | str, b: Reading | str) -> Comparison:
    """Set two texts side by side, in the order stored, incoming."""
    a = read(a) if isinstance(a, str) else a
    b = read(b) if isinstance(b, str) else b
    if " ".join(a.text.lower().split()) == " ".join(b.text.lower().split()):
        return Comparison("same", ("same text",), 1.0, None, (0, 0) if a.claims else None)
    for i, left in enumerate(a.claims):
        for j, right in enumerate(b.claims):
            shared = len(left.words & right.words)
            if shared < 0.75 * max(len(left.words), len(right.words), 1) or shared < 2:
                continue
            if left.polarity != right.polarity:
                return Comparison("contradicts", ("one side is negated",), 0.6, None, (i, j))
            mine = {(q.value, q.unit) for q in left.quantities}
            theirs = {(q.value, q.unit) for q in right.quantities}
            if mine and theirs and not mine & theirs:
                reason = f"number differs: {left.quantities[0].text} vs {right.quantities[0].text}"
                return Comparison("contradicts", (reason,), 0.6, None, (i, j))
    return Comparison("different", ("no rule applies",), 0.3, None, None)
