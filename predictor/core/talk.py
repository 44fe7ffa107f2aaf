"""Read a transcript for the judge that needs no model: who said which pieces."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Final

from memories.core.extraction.turns import read_turns
from predictor.core.excerpt import excerpt
from predictor.core.judging import OFFLINE_CHARS, cut_note

COPY_CHARS: Final = 24  # without spaces; a shorter copy may be a coincidence
LIST_NOTES: Final = 3
LIST_GAP_WORDS: Final = 1  # a number, or "constraint"; more words are conversation
MAX_PIECES: Final = 64
MAX_SENTENCE_CHARS: Final = 300
MIN_SENTENCE_CHARS: Final = 20

_WORD = re.compile(r"\w+")
_SPACED = re.compile(r"\S+")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")


@dataclass(frozen=True, slots=True)
class Talk:
    """What was said, without the names of the speakers.

    Parameters
    ----------
    text : all turns, one after the other.
    pieces : overlapping pieces of two sentences, each within a turn; at most `MAX_PIECES`.
    by_assistant : whether the assistant said each piece; true for all where no turn is marked as
        the assistant's.
    """

    text: str
    pieces: tuple[str, ...]
    by_assistant: tuple[bool, ...]


def offline_part(contents: Sequence[str], transcript: str, *, gap: str = " ") -> str:
    """Return what is read of a transcript: at most `OFFLINE_CHARS`, without pasted lists of notes.

    Three or more notes copied one after another are what the assistant was given; a single quoted
    note was used. `gap` takes the place of a list.
    """
    read = excerpt(transcript, [cut_note(content) for content in contents], most=OFFLINE_CHARS)
    for start, stop in reversed(_find_lists(read, sorted(_find_copies(read, contents)))):
        read = f"{read[:start]}{gap}{read[stop:]}"
    return read


def read_talk(transcript: str, contents: Sequence[str]) -> Talk:
    """Read a transcript, of a long one an excerpt, without a pasted list of the notes."""
    read = offline_part(contents, transcript)
    said = [(turn.role == "assistant", read[turn.start : turn.end]) for turn in read_turns(read)]
    found = [(is_own, piece) for is_own, text in said for piece in cut_pieces(text)]
    found = _at_most(MAX_PIECES, found)
    has_own = any(is_own for is_own, _ in found)
    return Talk(
        text="\n".join(text.strip() for _, text in said),
        pieces=tuple(piece for _, piece in found),
        by_assistant=tuple(is_own or not has_own for is_own, _ in found),
    )


def _at_most(most: int, found: list[tuple[bool, str]]) -> list[tuple[bool, str]]:
    """Join neighbours, of different speakers too, until there are few enough."""
    size = -(-len(found) // most) or 1
    groups = [found[i : i + size] for i in range(0, len(found), size)]
    return [(any(own for own, _ in group), " ".join(p for _, p in group)) for group in groups]


def cut_pieces(text: str) -> list[str]:
    """Cut a text into overlapping pieces of two sentences, at most `MAX_PIECES`."""
    sentences = _sentences(text)
    size = -(-len(sentences) // MAX_PIECES) or 1
    units = [" ".join(sentences[i : i + size]) for i in range(0, len(sentences), size)]
    if len(units) < 2:
        return units
    return [f"{one} {following}" for one, following in pairwise(units)]


def _sentences(text: str) -> list[str]:
    """Cut a text into sentences; very short ones are joined, very long ones cut."""
    sentences: list[str] = []
    for sentence in _SENTENCE.split(text):
        for start in range(0, len(sentence), MAX_SENTENCE_CHARS):
            part = sentence[start : start + MAX_SENTENCE_CHARS].strip()
            if sentences and len(sentences[-1]) < MIN_SENTENCE_CHARS:
                sentences[-1] = f"{sentences[-1]} {part}".strip()
            elif part:
                sentences.append(part)
    return sentences


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
