"""Judge memories without a language model, by embeddings and words that it shares with the talk.

    relevance = focus · said · max(quoted, 0.55 · all + 0.35 · own + 0.1 · part(share, 0, 0.5))
    all    = part(mean over pieces of the cosine, 0.05, 0.25)
    own    = part(c, 0.25, 0.65)   c: the largest cosine to a piece that the assistant said
    quoted = part(c, 0.55, 0.85)
    focus  = part(share + 12 / terms, 0, 1)
    said   = 1 - 0.9 · unsaid names / (names + 1),   part cut to [0, 1]

cosine: the best of a memory's windows against a piece of two sentences of one turn. The pieces of
the assistant count by themselves, because what it was told beforehand shows in what it says; what
only the user says was not news from a memory. share: the share of the memory's index terms,
weighted by rarity, that the talk contains. focus: 1 for a memory of up to twelve different terms,
lower for a longer one of which the talk contains little, so that a list of words about many topics
is relevant to none. said: names and numbers of the memory that nobody mentions speak against it:
it is about another host, year or person.

The constants were chosen on `judge_sessions.jsonl` of the development data, half of its sessions
at a time, with the hand-labelled pairs `TUNING` and `HELD_OUT` of tests/predictor/judged_pairs.py
as a bound; `evaluate --judge` measures it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memories.core.bm25 import idf
from memories.core.text import terms, tokens
from memories.core.topic_words import stems
from predictor.core.judging import JudgeScores, cut_note
from predictor.core.talk import Talk

OFFLINE: Final = "offline-"
OFFLINE_VERSION: Final = f"{OFFLINE}3"
MEAN_WEIGHT: Final = 0.55
OWN_WEIGHT: Final = 0.35
SHARE_WEIGHT: Final = 0.1
MEAN_RANGE: Final = (0.05, 0.25)
COSINE_RANGE: Final = (0.25, 0.65)
QUOTED_RANGE: Final = (0.55, 0.85)
SHARE_FULL: Final = 0.5
FOCUS_TERMS: Final = 12
UNSAID_WEIGHT: Final = 0.9
# German capitalises nouns: where more words than that are capitalised, they are no names.
MOST_CAPITALS: Final = 0.3
# The highest confidence, reached with TERMS_FULL different terms and a relevance spread of
# SPREAD_FULL.
MOST_CONFIDENT: Final = 0.9
TERMS_FULL: Final = 40
SPREAD_FULL: Final = 0.7
NOVEL_TERMS: Final = 4
NOVEL_COSINE: Final = 0.35
TOPICS: Final = 5
TOPIC_COUNT: Final = 2

Floats = NDArray[np.float32]
_LETTERS = re.compile(r"[^\W_]+")
_NAMED = re.compile(r"[^\W_][\w.\-/]*")
_ENDS = (".", "!", "?", ":", ";")  # of sentences
_COURTESIES = frozenset(
    term
    for term in terms(
        "hello hi hey thanks thank please okay ok yes yeah yep no nope sure great perfect good "
        "nice fine sorry welcome bye goodbye cheers morning evening hallo danke bitte gut prima "
        "genau super tschüss moin"
    )
)


@dataclass(frozen=True, slots=True)
class JudgedNote:
    """A memory to judge; vectors (n_windows, dim) are unit rows of the model that embeds pieces."""

    content: str
    vectors: Floats


@dataclass(frozen=True, slots=True)
class Rarity:
    """Document frequencies of terms among `n_documents` memories; 0 for a term that is absent."""

    document_frequencies: Mapping[str, int]
    n_documents: int

    def weight(self, term: str) -> float:
        """Return the inverse document frequency of a term, above 0."""
        return idf(self.document_frequencies.get(term, 0), max(1, self.n_documents))


def judge(
    notes: Sequence[JudgedNote],
    talk: Talk,
    vectors: Floats,
    rarity: Rarity,
    context: str = "",
    *,
    first: Sequence[int] | None = None,
) -> JudgeScores:
    """Return the scores of notes for a session; deterministic.

    Parameters
    ----------
    notes : in the order of the returned relevance.
    vectors : (n_pieces, dim) unit rows, of `talk.pieces`.
    context : what the session began with; names in it were mentioned.
    first : the numbers of the notes, from 0, that the session's own figures depend on, because it
        was given them or could have been; None for all. Any pool has something far off, beside
        which the judge would be sure of notes that it cannot tell apart.
    """
    own_notes = list(range(len(notes))) if first is None else list(first)
    text_terms = terms(talk.text)
    mentioned = text_terms.keys() | terms(context).keys()
    contents = [cut_note(note.content) for note in notes]
    overlaps = [_overlap(content, text_terms, rarity) for content in contents]
    share, focus = np.array(overlaps).reshape(-1, 2).T
    said = np.array([_said(content, mentioned) for content in contents])
    cosines = (
        np.stack([_cosines(note, vectors) for note in notes])
        if notes
        else np.zeros((0, max(1, len(vectors))))
    )
    own = cosines[:, np.array(talk.by_assistant, dtype=bool)] if talk.pieces else cosines
    relevance = MEAN_WEIGHT * _part(cosines.mean(axis=1), *MEAN_RANGE)
    nearest = own.max(axis=1, initial=0.0)
    relevance += OWN_WEIGHT * _part(nearest, *COSINE_RANGE)
    relevance += SHARE_WEIGHT * _part(share, 0.0, SHARE_FULL)
    relevance = np.maximum(relevance, _part(nearest, *QUOTED_RANGE)) * focus * said
    parts = _part(cosines, *COSINE_RANGE) * focus[:, None]
    informative = [i for i, one in enumerate(talk.pieces) if len(terms(one)) >= NOVEL_TERMS]
    best = parts[own_notes].max(axis=0, initial=0.0)[informative] if informative else np.zeros(0)
    return JudgeScores(
        overall=round(float(best.mean()), 4) if best.size else 0.0,
        confidence=_confidence(relevance[own_notes], len(text_terms)),
        relevance=tuple(round(float(value), 4) for value in relevance),
        missing_topics=tuple(
            _original_words(_unmatched_terms(text_terms, notes, rarity), talk.text)
        ),
        # Pieces overlap: each sentence is in two of them.
        novel_context_count=int((best < NOVEL_COSINE).sum() + 1) // 2,
        reasoning="Judged without a language model, by meaning and by shared words.",
    )


def _part(values: NDArray[np.float64], low: float, high: float) -> NDArray[np.float64]:
    found: NDArray[np.float64] = np.clip((values - low) / (high - low), 0.0, 1.0)
    return found


def _cosines(note: JudgedNote, vectors: Floats) -> NDArray[np.float64]:
    """Return the largest cosine of a note's windows to each piece, (n_pieces,)."""
    if not note.vectors.size or not vectors.size:
        return np.zeros(max(1, len(vectors)))
    found: NDArray[np.float64] = (note.vectors @ vectors.T).max(axis=0).astype(np.float64)
    return found


def _overlap(content: str, text_terms: Counter[str], rarity: Rarity) -> tuple[float, float]:
    """Return a note's share and focus."""
    weights = {term: rarity.weight(term) for term in terms(content)}
    if not weights:
        return 0.0, 1.0
    share = sum(w for term, w in weights.items() if term in text_terms) / sum(weights.values())
    return share, min(1.0, share + FOCUS_TERMS / len(weights))


def _opens_sentence(content: str, at: int) -> bool:
    """Return whether a sentence or a line begins at a word."""
    before = content[:at].rstrip()
    return not before or before.endswith(_ENDS) or "\n" in content[len(before) : at]


def _said(content: str, mentioned: frozenset[str] | set[str]) -> float:
    """Return 1 for a note whose names and numbers were all mentioned, less for others."""
    words = list(_NAMED.finditer(content))
    capitals = {
        word.start()
        for word in words
        if word[0][0].isupper() and not _opens_sentence(content, word.start())
    }
    if len(capitals) > MOST_CAPITALS * len(words):
        capitals = set()
    names = [
        word[0]
        for word in words
        if word.start() in capitals or any(letter.isdigit() for letter in word[0])
    ]
    unsaid = sum(mentioned.isdisjoint(tokens(name)) for name in names)
    return 1.0 - UNSAID_WEIGHT * unsaid / (len(names) + 1)


def _confidence(relevance: NDArray[np.float64], distinct_terms: int) -> float:
    """Return the confidence: high for a long text and a wide spread of relevance."""
    if relevance.size < 2:
        return 0.0
    spread = float(relevance.max() - relevance.min())
    length = min(1.0, distinct_terms / TERMS_FULL)
    return round(MOST_CONFIDENT * length * min(1.0, spread / SPREAD_FULL), 4)


def _unmatched_terms(
    text_terms: Counter[str], notes: Sequence[JudgedNote], rarity: Rarity
) -> list[str]:
    """Return the repeated terms of the text that no note contains, the heaviest first."""
    known = {term for note in notes for term in terms(note.content)} | _COURTESIES
    repeated = [
        term
        for term, count in text_terms.items()
        if count >= TOPIC_COUNT and term not in known and stems(term)  # stop words have no stems
    ]
    repeated.sort(key=lambda term: (-text_terms[term] * rarity.weight(term), term))
    return repeated[:TOPICS]


def _original_words(topics: Sequence[str], text: str) -> Iterator[str]:
    """Yield for each term its most frequent word in the text, or the term itself."""
    forms: dict[str, Counter[str]] = {topic: Counter() for topic in topics}
    for word, count in Counter(_LETTERS.findall(text)).items():
        read = list(tokens(word))
        if len(read) == 1 and read[0] in forms:
            forms[read[0]][word] += count
    for topic, words in forms.items():
        # Of two equally frequent words the lower-case one: it does not begin a sentence.
        yield max(words, key=lambda word: (words[word], word), default=topic)


def version_in_words(version: str) -> str:
    """Return a judge's version as pages write it beside its name: "3" of "offline-3"."""
    return version.removeprefix(OFFLINE)
