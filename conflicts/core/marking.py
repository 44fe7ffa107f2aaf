"""Mark in the statements of a card what they say differently."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from conflicts.core.contrast import contrast_of
from conflicts.core.reversals import FROM_TO
from conflicts.core.wording import Span, SpanChange, WordDiff, word_diff

# Below this share of common text nearly all words would be marked, so none are.
LIKE_ENOUGH: Final = 0.35
# What follows "from RabbitMQ to": a word, and further ones that begin as names do.
_NAME: Final = re.compile(r"\s{0,2}([^\s.,;:!?]{1,60}(?:\s[A-Z0-9][^\s.,;:!?]{0,60}){0,3})")

Marked = tuple[Span, ...]
Place = tuple[int, int]  # start and end of a value in its text


class Said(NamedTuple):
    """A statement of a card, and whether it is for yes."""

    text: str
    says_yes: bool


def mark_statements(said: Sequence[Said]) -> list[Marked]:
    """Return the spans of each statement, oldest first, in which its value is marked.

    Each is compared with the newest one of the other side; where all are of one side, with the
    newest other one. The values of the newest statement's side are `new`, the others `gone`.
    """
    return [_mark(said, place) for place in range(len(said))]


def _mark(said: Sequence[Said], place: int) -> Marked:
    own = said[place]
    others = [i for i, one in enumerate(said) if one.says_yes != own.says_yes]
    is_split = bool(others)
    others = others or [i for i in range(len(said)) if i != place]
    plain = (Span("same", own.text),)
    if not others:
        return plain
    newest = others[-1]
    pair = (own.text, said[newest].text) if place < newest else (said[newest].text, own.text)
    before, after = _differences(*pair) or (plain, plain)
    is_new = own.says_yes == said[-1].says_yes if is_split else place > newest
    change: SpanChange = "new" if is_new else "gone"
    return tuple(
        span if span.change == "same" else replace(span, change=change)
        for span in (before if place < newest else after)
    )


def _differences(older: str, newer: str) -> tuple[Marked, Marked] | None:
    """Return the spans of two statements: their values alone, or the one place that differs."""
    at = _values_at(older, newer)
    if at is not None:
        within = word_diff(older[slice(*at[0])], newer[slice(*at[1])])
        return _around(older, at[0], within.before), _around(newer, at[1], within.after)
    difference = word_diff(older, newer)
    places = [sum(span.change != "same" for span in side) for side in _sides(difference)]
    if difference.likeness < LIKE_ENOUGH or max(places) > 1:
        return None
    return _sides(difference)


def _sides(difference: WordDiff) -> tuple[Marked, Marked]:
    return difference.before, difference.after


def _values_at(older: str, newer: str) -> tuple[Place, Place] | None:
    """Return where the values stand that two statements say differently."""
    found = contrast_of(older, newer)
    if found is None:
        if (left := _left_in(older, newer)) is not None:
            return left
        left = _left_in(newer, older)
        return None if left is None else (left[1], left[0])
    parts = older[slice(*found.older_at)], newer[slice(*found.at)]
    # Blanks that were joined for the comparison move the places.
    return (found.older_at, found.at) if parts == (found.older, found.newer) else None


def _left_in(text: str, change: str) -> tuple[Place, Place] | None:
    """Return where the value stands that a change "from X to Y" leaves, and where Y stands."""
    announced = FROM_TO.search(change)
    if announced is None:
        return None
    left = _whole_words(announced[1].strip(), text)
    name = _NAME.match(change, announced.end())
    return (left, name.span(1)) if left and name else None


def _whole_words(words: str, text: str) -> Place | None:
    start = text.find(words)
    end = start + len(words)
    is_part = text[max(start - 1, 0) : start].isalnum() or text[end : end + 1].isalnum()
    return None if start < 0 or is_part else (start, end)


def _around(text: str, at: Place, within: Sequence[Span]) -> Marked:
    start, end = at
    spans = (Span("same", text[:start]), *within, Span("same", text[end:]))
    return tuple(span for span in spans if span.text)
