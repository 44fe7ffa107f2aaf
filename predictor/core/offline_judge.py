"""Judge memories without a language model, by embeddings and shared words of the transcript's end.

    relevance = focus · (0.6 · part(cosine, 0.25, 0.65) + 0.4 · part(share, 0, 0.5))
    focus = part(share + 12 / terms, 0, 1),   part cut to [0, 1]

cosine: the best of a memory's windows against pieces of two sentences. share: the share of the
memory's index terms, weighted by rarity, that the transcript contains; it contributes at most 0.4.
focus: 1 for a memory of up to twelve different terms, lower for a longer one of which the
transcript contains little, so that a list of words about many topics is relevant to none. The five
constants of the sum were chosen on the hand-labelled pairs `TUNING` of
tests/predictor/judged_pairs.py, by mean absolute error.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memories.core.bm25 import idf
from memories.core.text import terms, tokens
from predictor.core.judging import JudgeScores, cut_note, tail

OFFLINE_VERSION: Final = "offline-2"
COSINE_WEIGHT: Final = 0.6
COSINE_RANGE: Final = (0.25, 0.65)
SHARE_FULL: Final = 0.5
FOCUS_TERMS: Final = 12
# The highest confidence, reached with TERMS_FULL different terms and a relevance spread of
# SPREAD_FULL.
MOST_CONFIDENT: Final = 0.9
TERMS_FULL: Final = 40
SPREAD_FULL: Final = 0.7
COPY_CHARS: Final = 24  # without spaces; a shorter copy may be a coincidence
LIST_NOTES: Final = 3
LIST_GAP_WORDS: Final = 1  # a number, or "constraint"; more words are conversation
MAX_PIECES: Final = 64
MAX_SENTENCE_CHARS: Final = 300
MIN_SENTENCE_CHARS: Final = 20
NOVEL_TERMS: Final = 4
NOVEL_COSINE: Final = 0.35
TOPICS: Final = 5
TOPIC_COUNT: Final = 2

Floats = NDArray[np.float32]
_SPEAKER = re.compile(r"^[ \t]*(?:user|human|assistant|agent|ai|system|tool)[ \t]*:", re.I | re.M)
_WORD = re.compile(r"\w+")
_SPACED = re.compile(r"\S+")
_LETTERS = re.compile(r"[^\W_]+")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")


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


def spoken_text(transcript: str, contents: Sequence[str]) -> str:
    """Return the transcript's end without speaker names and without a pasted list of the notes.

    Three or more notes copied one after another are what the assistant was given; a single quoted
    note was used.
    """
    text = _SPEAKER.sub("", tail(transcript))
    for start, end in reversed(_find_lists(text, sorted(_find_copies(text, contents)))):
        text = f"{text[:start]} {text[end:]}"
    return text


def _find_copies(text: str, contents: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield start and end of the first exact copy of each note."""
    words = list(_SPACED.finditer(text))
    # Compared with single blanks between words, so that line breaks make no difference.
    starts = [0, *accumulate(len(word[0]) + 1 for word in words)]
    plain = " ".join(word[0] for word in words)
    for content in dict.fromkeys(contents):
        sought = " ".join(content.split())
        if len(sought) - sought.count(" ") < COPY_CHARS:
            continue
        at = plain.find(sought)
        if at >= 0:
            first, last = (_original_offset(words, starts, i) for i in (at, at + len(sought) - 1))
            yield first, last + 1


def _original_offset(words: Sequence[re.Match[str]], starts: Sequence[int], at: int) -> int:
    """Return the offset in the original text of an offset in the text with single blanks."""
    number = bisect_right(starts, at) - 1
    return words[number].start() + at - starts[number]


def _find_lists(text: str, copies: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return start and end of each list of copied notes."""
    runs: list[list[tuple[int, int]]] = []
    for copy in copies:
        between = text[runs[-1][-1][1] : copy[0]] if runs else ""
        if runs and len(_WORD.findall(between)) <= LIST_GAP_WORDS:
            runs[-1].append(copy)
        else:
            runs.append([copy])
    return [(run[0][0], max(end for _, end in run)) for run in runs if len(run) >= LIST_NOTES]


def pieces(text: str) -> list[str]:
    """Cut a text into overlapping pieces of two sentences, at most `MAX_PIECES`."""
    sentences: list[str] = []
    for sentence in _SENTENCE.split(text):
        for start in range(0, len(sentence), MAX_SENTENCE_CHARS):
            part = sentence[start : start + MAX_SENTENCE_CHARS].strip()
            if sentences and len(sentences[-1]) < MIN_SENTENCE_CHARS:
                sentences[-1] = f"{sentences[-1]} {part}".strip()
            elif part:
                sentences.append(part)
    size = -(-len(sentences) // MAX_PIECES) or 1
    units = [" ".join(sentences[i : i + size]) for i in range(0, len(sentences), size)]
    if len(units) < 2:
        return units
    return [f"{one} {following}" for one, following in pairwise(units)]


def judge(notes: Sequence[JudgedNote], text: str, vectors: Floats, rarity: Rarity) -> JudgeScores:
    """Return the scores of notes for a session's `spoken_text`; deterministic.

    Parameters
    ----------
    notes : in the order of the returned relevance.
    text : the result of `spoken_text`.
    vectors : (n_pieces, dim) unit rows, of `pieces(text)`.
    """
    text_terms = terms(text)
    overlaps = [_overlap(cut_note(note.content), text_terms, rarity) for note in notes]
    share, focus = np.array(overlaps).reshape(-1, 2).T
    parts = np.stack([_cosines(note, vectors) for note in notes]) if notes else np.zeros((0, 1))
    parts *= focus[:, None]
    relevance = COSINE_WEIGHT * parts.max(axis=1, initial=0.0)
    relevance += (1 - COSINE_WEIGHT) * focus * np.clip(share / SHARE_FULL, 0.0, 1.0)
    informative = [i for i, piece in enumerate(pieces(text)) if len(terms(piece)) >= NOVEL_TERMS]
    best = parts.max(axis=0, initial=0.0)[informative] if informative else np.zeros(0)
    return JudgeScores(
        overall=round(float(best.mean()), 4) if best.size else 0.0,
        confidence=_confidence(relevance, len(text_terms)),
        relevance=tuple(round(float(value), 4) for value in relevance),
        missing_topics=tuple(_original_words(_unmatched_terms(text_terms, notes, rarity), text)),
        # Pieces overlap: each sentence is in two of them.
        novel_context_count=int((best < NOVEL_COSINE).sum() + 1) // 2,
        reasoning="Judged without a language model, by meaning and by shared words.",
    )


def _cosines(note: JudgedNote, vectors: Floats) -> NDArray[np.float64]:
    """Return the scaled cosine of a note to each piece, (n_pieces,) in [0, 1]."""
    if not note.vectors.size or not vectors.size:
        return np.zeros(max(1, len(vectors)))
    low, high = COSINE_RANGE
    nearest = (note.vectors @ vectors.T).max(axis=0).astype(np.float64)
    part: NDArray[np.float64] = np.clip((nearest - low) / (high - low), 0.0, 1.0)
    return part


def _overlap(content: str, text_terms: Counter[str], rarity: Rarity) -> tuple[float, float]:
    """Return a note's share and focus."""
    weights = {term: rarity.weight(term) for term in terms(content)}
    if not weights:
        return 0.0, 1.0
    share = sum(w for term, w in weights.items() if term in text_terms) / sum(weights.values())
    return share, min(1.0, share + FOCUS_TERMS / len(weights))


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
    known = {term for note in notes for term in terms(note.content)}
    repeated = [t for t, count in text_terms.items() if count >= TOPIC_COUNT and t not in known]
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
