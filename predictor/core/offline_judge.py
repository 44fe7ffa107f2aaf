"""The judge that needs no language model: meaning and shared words, of the transcript's end.

    relevance = focus · (0.6 · part(cosine, 0.25, 0.65) + 0.4 · part(share, 0, 0.5))
    focus = part(share + 12 / terms, 0, 1),   part cut to [0, 1]

cosine: the best of a memory's windows against pieces of two sentences. share: of the memory's
index terms, weighed by their rarity, those that the transcript holds; words alone never give more
than 0.4. focus: twelve different terms say one thing; what says more is believed as far as the
transcript holds it, so that a list of the words of many matters is near to none of them. The
five constants of the sum were chosen on the hand-labelled pairs `TUNING` of
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
from predictor.core.judging import JudgeScores, cut, tail

OFFLINE_VERSION: Final = "offline-2"
COSINE_WEIGHT: Final = 0.6
COSINE_RANGE: Final = (0.25, 0.65)
SHARE_FULL: Final = 0.5
FOCUS_TERMS: Final = 12
# The surest it gets; reached with so many different terms and so wide a spread of relevance.
MOST_CONFIDENT: Final = 0.9
TERMS_FULL: Final = 40
SPREAD_FULL: Final = 0.7
COPY_CHARS: Final = 24  # without spaces; less may be said by chance
LIST_NOTES: Final = 3
LIST_GAP_WORDS: Final = 1  # a number, or "constraint"; more is somebody who speaks
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
    """A memory as it was offered; vectors (n_windows, dim) of length one, by the pieces' model."""

    content: str
    vectors: Floats


@dataclass(frozen=True, slots=True)
class Rarity:
    """In how many of so many memories each term stands; a term not in it stands in none."""

    document_frequencies: Mapping[str, int]
    n_documents: int

    def weight(self, term: str) -> float:
        """Return how much a term says, above 0."""
        return idf(self.document_frequencies.get(term, 0), max(1, self.n_documents))


def spoken_text(transcript: str, contents: Sequence[str]) -> str:
    """Return the transcript's end without who speaks, and without a pasted list of the notes.

    Three notes or more that follow each other word for word are what the assistant was given, not
    what it made of it; a note that is quoted by itself was used.
    """
    text = _SPEAKER.sub("", tail(transcript))
    for start, end in reversed(_lists(text, sorted(_copies(text, contents)))):
        text = f"{text[:start]} {text[end:]}"
    return text


def _copies(text: str, contents: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Where each note stands word for word for the first time: start and end."""
    words = list(_SPACED.finditer(text))
    # Blanks count alike, however many: both are looked at with one between words.
    starts = [0, *accumulate(len(word[0]) + 1 for word in words)]
    plain = " ".join(word[0] for word in words)
    for content in dict.fromkeys(contents):
        sought = " ".join(content.split())
        if len(sought) - sought.count(" ") < COPY_CHARS:
            continue
        at = plain.find(sought)
        if at >= 0:
            first, last = (_place(words, starts, i) for i in (at, at + len(sought) - 1))
            yield first, last + 1


def _place(words: Sequence[re.Match[str]], starts: Sequence[int], at: int) -> int:
    """Where a letter of the text with single blanks stands in the text as it is."""
    number = bisect_right(starts, at) - 1
    return words[number].start() + at - starts[number]


def _lists(text: str, copies: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Where copies follow each other as items of a list do, from the first to the last."""
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
    """Judge notes by what was `spoken_text`; the same notes and text always give the same verdict.

    Parameters
    ----------
    notes : in the order in which their relevance is wanted.
    text : what `spoken_text` returned.
    vectors : (n_pieces, dim) of length one, of `pieces(text)`.
    """
    said = terms(text)
    overlaps = [_overlap(cut(note.content), said, rarity) for note in notes]
    share, focus = np.array(overlaps).reshape(-1, 2).T
    parts = np.stack([_cosines(note, vectors) for note in notes]) if notes else np.zeros((0, 1))
    parts *= focus[:, None]
    relevance = COSINE_WEIGHT * parts.max(axis=1, initial=0.0)
    relevance += (1 - COSINE_WEIGHT) * focus * np.clip(share / SHARE_FULL, 0.0, 1.0)
    informative = [i for i, piece in enumerate(pieces(text)) if len(terms(piece)) >= NOVEL_TERMS]
    best = parts.max(axis=0, initial=0.0)[informative] if informative else np.zeros(0)
    return JudgeScores(
        overall=round(float(best.mean()), 4) if best.size else 0.0,
        confidence=_confidence(relevance, len(said)),
        relevance=tuple(round(float(value), 4) for value in relevance),
        missing_topics=tuple(_original_words(_unmatched_terms(said, notes, rarity), text)),
        # Pieces overlap: two tell of one thing.
        novel_context_count=int((best < NOVEL_COSINE).sum() + 1) // 2,
        reasoning="Judged without a language model, by meaning and by shared words.",
    )


def _cosines(note: JudgedNote, vectors: Floats) -> NDArray[np.float64]:
    """Return how near a note comes to each piece, (n_pieces,) in [0, 1]."""
    if not note.vectors.size or not vectors.size:
        return np.zeros(max(1, len(vectors)))
    low, high = COSINE_RANGE
    nearest = (note.vectors @ vectors.T).max(axis=0).astype(np.float64)
    part: NDArray[np.float64] = np.clip((nearest - low) / (high - low), 0.0, 1.0)
    return part


def _overlap(content: str, said: Counter[str], rarity: Rarity) -> tuple[float, float]:
    """Return a note's share and focus."""
    weights = {term: rarity.weight(term) for term in terms(content)}
    if not weights:
        return 0.0, 1.0
    share = sum(w for term, w in weights.items() if term in said) / sum(weights.values())
    return share, min(1.0, share + FOCUS_TERMS / len(weights))


def _confidence(relevance: NDArray[np.float64], distinct_terms: int) -> float:
    """Return how sure the verdict is: much was said, and it tells some notes from the others."""
    if relevance.size < 2:
        return 0.0
    spread = float(relevance.max() - relevance.min())
    length = min(1.0, distinct_terms / TERMS_FULL)
    return round(MOST_CONFIDENT * length * min(1.0, spread / SPREAD_FULL), 4)


def _unmatched_terms(said: Counter[str], notes: Sequence[JudgedNote], rarity: Rarity) -> list[str]:
    """Return the terms that were said repeatedly and stand in no note, what says most first."""
    known = {term for note in notes for term in terms(note.content)}
    repeated = [t for t, count in said.items() if count >= TOPIC_COUNT and t not in known]
    repeated.sort(key=lambda term: (-said[term] * rarity.weight(term), term))
    return repeated[:TOPICS]


def _original_words(topics: Sequence[str], text: str) -> Iterator[str]:
    """Yield for each term the word that it most often is in a text; never more than that term."""
    forms: dict[str, Counter[str]] = {topic: Counter() for topic in topics}
    for word, count in Counter(_LETTERS.findall(text)).items():
        read = list(tokens(word))
        if len(read) == 1 and read[0] in forms:
            forms[read[0]][word] += count
    for topic, words in forms.items():
        # Of two that are equally common, the one that begins no sentence.
        yield max(words, key=lambda word: (words[word], word), default=topic)
