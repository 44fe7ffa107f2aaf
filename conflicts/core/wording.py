"""Compute the word difference of two statements, for people who compare them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final, Literal

SpanChange = Literal["same", "gone", "new"]

_WORDS = re.compile(r"\w+(?:[.,:'’/-]\w+)*|\s+|.", re.DOTALL)
_SENTENCES = re.compile(r"[^.!?\n]*[.!?\n]+\s*|[^.!?\n]+", re.DOTALL)
# Comparing is quadratic: longer texts are compared sentence by sentence, without their common
# beginning and end. If more pieces remain, the rest is taken as one piece.
MAX_WORDS: Final = 800


@dataclass(frozen=True, slots=True)
class Span:
    """A run of text that both statements share, or that only one of them has."""

    change: SpanChange
    text: str


@dataclass(frozen=True, slots=True)
class WordDiff:
    """The difference between ``before`` and ``after``.

    ``spans`` in order: without the ``new`` ones they spell ``before``, without the ``gone`` ones
    ``after``. ``likeness`` in [0, 1] is the share of text in common (1: equal).
    """

    spans: tuple[Span, ...]
    likeness: float

    @property
    def before(self) -> tuple[Span, ...]:
        """Return the spans of the first statement."""
        return tuple(span for span in self.spans if span.change != "new")

    @property
    def after(self) -> tuple[Span, ...]:
        """Return the spans of the second statement."""
        return tuple(span for span in self.spans if span.change != "gone")


def word_diff(before: str, after: str) -> WordDiff:
    """Compare two statements word by word (very long ones sentence by sentence)."""
    left, right = _pieces(before, after)
    spans: list[Span] = []
    shared = 0
    matcher = SequenceMatcher(None, left, right, autojunk=False)
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        gone, new = "".join(left[i1:i2]), "".join(right[j1:j2])
        if tag == "equal":
            shared += len(gone)
            spans.append(Span("same", gone))
            continue
        if gone:
            spans.append(Span("gone", gone))
        if new:
            spans.append(Span("new", new))
    length = len(before) + len(after)
    return WordDiff(tuple(_join_spans(spans)), 2 * shared / length if length else 1.0)


def _pieces(before: str, after: str) -> tuple[list[str], list[str]]:
    words = _WORDS.findall(before), _WORDS.findall(after)
    if max(map(len, words)) <= MAX_WORDS:
        return words
    return _without_ends(_SENTENCES.findall(before), _SENTENCES.findall(after))


def _without_ends(left: list[str], right: list[str]) -> tuple[list[str], list[str]]:
    """Join the common beginning and end of two lists, and the rest when it is too long."""
    most = min(len(left), len(right))
    head = next((i for i in range(most) if left[i] != right[i]), most)
    most -= head
    tail = next((i for i in range(most) if left[-1 - i] != right[-1 - i]), most)
    middles = [side[head : len(side) - tail] for side in (left, right)]
    if max(map(len, middles)) > MAX_WORDS:
        middles = [["".join(middle)] for middle in middles]
    first, last = "".join(left[:head]), "".join(left[len(left) - tail :])
    one, other = ([part for part in (first, *middle, last) if part] for middle in middles)
    return one, other


def _join_spans(spans: Sequence[Span]) -> list[Span]:
    """Join changes that only a blank separates, so that a reworded phrase is one change."""
    joined: list[Span] = []
    position = 0
    while position < len(spans):
        run = [spans[position]]
        position += 1
        if run[0].change != "same":
            while position < len(spans) and (
                spans[position].change != "same" or _is_bridge(spans, position)
            ):
                run.append(spans[position])
                position += 1
        if len(run) == 1:
            joined.append(run[0])
            continue
        gone = "".join(span.text for span in run if span.change != "new")
        new = "".join(span.text for span in run if span.change != "gone")
        joined.extend(Span(c, t) for c, t in (("gone", gone), ("new", new)) if t)  # type: ignore[arg-type]
    return joined


def _is_bridge(spans: Sequence[Span], position: int) -> bool:
    """Return whether a shared blank lies between two changes."""
    return not spans[position].text.strip() and position + 1 < len(spans)
