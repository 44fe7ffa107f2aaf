"""What a link can mean within a note: its headings, and blocks that end with `^id`.

Headings are compared by their words, because editors leave punctuation out of links, and a heading
that ends with tags is found with and without them.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise
from typing import NamedTuple

from memories.core.front_matter import read_properties
from memories.core.markdown import headings_above, read_lines
from memories.core.wiki_links import normalise_tag

BLOCK, NESTED = "^", "#"
_NESTED_CLOSE = re.compile(r"(?<!\s)#")  # behind a blank it may begin a tag of the heading


class Anchors(NamedTuple):
    """The headings of a note, each with those it stands under, and its blocks; normalised."""

    headings: frozenset[str]
    pairs: frozenset[tuple[str, str]]  # a heading above, and the heading
    blocks: frozenset[str]

    def has(self, anchor: str) -> bool:
        """Return whether a link with this heading (`A`, `A#B` or `^block`) leads to one."""
        if anchor.startswith(BLOCK):
            return anchor[1:].strip().casefold() in self.blocks
        return any(self._has(names) for names in _readings(anchor))

    def _has(self, names: list[str]) -> bool:
        if not names:
            return True  # no words to compare
        return names[-1] in self.headings and all(pair in self.pairs for pair in pairwise(names))


def anchors_of(content: str) -> Anchors:
    """Return the headings and blocks of a note."""
    headings: set[str] = set()
    pairs: set[tuple[str, str]] = set()
    blocks: set[str] = set()
    for line, titles in headings_above(read_lines(read_properties(content).body)):
        if line.level:
            *above, own = [names_of_heading(title) for title in titles]
            headings.update(own)
            pairs.update((one, name) for names in above for one in names for name in own)
        last = line.text.rsplit(None, 1)[-1:]
        if not line.is_code and last and last[0].startswith(BLOCK):
            blocks.add(last[0][1:].casefold())
    return Anchors(frozenset(headings), frozenset(pairs), frozenset(blocks))


def words_of_heading(text: str) -> str:
    """Return the letters and digits of a text, one blank for what is between them."""
    folded = unicodedata.normalize("NFC", text).casefold()
    return " ".join("".join(c if c.isalnum() else " " for c in folded).split())


def names_of_heading(title: str) -> tuple[str, ...]:
    """Return the words of a heading, and where it ends with tags, those before them."""
    words = title.split()
    while words and words[-1].startswith("#") and normalise_tag(words[-1]):
        words.pop()
    return tuple(dict.fromkeys(words_of_heading(one) for one in (title, " ".join(words)) if one))


def names_of_anchor(anchor: str) -> list[str]:
    """Return the words of the heading that a link (`A`, `A#B`) means, as it can be read."""
    return [names[-1] for names in _readings(anchor) if names]


def _readings(anchor: str) -> list[list[str]]:
    """Return the names of nested headings in a link: with `#` as a separator, or a tag's sign."""
    split = (anchor.split(NESTED), _NESTED_CLOSE.split(anchor))
    return [[words for part in parts if (words := words_of_heading(part))] for parts in split]
