"""What a link can mean within a note: its headings, and blocks that end with `^id`.

Headings are compared by their words, because editors leave punctuation out of links.
"""

from __future__ import annotations

import unicodedata
from itertools import pairwise
from typing import NamedTuple

from memories.core.front_matter import read_properties
from memories.core.markdown import headings_above, read_lines

BLOCK, NESTED = "^", "#"


class Anchors(NamedTuple):
    """The headings of a note, each with those it stands under, and its blocks; normalised."""

    headings: frozenset[str]
    pairs: frozenset[tuple[str, str]]  # a heading above, and the heading
    blocks: frozenset[str]

    def has(self, anchor: str) -> bool:
        """Return whether a link with this heading (`A`, `A#B` or `^block`) leads to one."""
        if anchor.startswith(BLOCK):
            return anchor[1:].strip().casefold() in self.blocks
        *above, own = [
            words for part in anchor.split(NESTED) if (words := words_of_heading(part))
        ] or [""]
        if not own:
            return True  # no words to compare
        nested = pairwise([*above, own])
        return own in self.headings and all(pair in self.pairs for pair in nested)


def anchors_of(content: str) -> Anchors:
    """Return the headings and blocks of a note."""
    headings: set[str] = set()
    pairs: set[tuple[str, str]] = set()
    blocks: set[str] = set()
    for line, titles in headings_above(read_lines(read_properties(content).body)):
        if line.level:
            *above, own = [words_of_heading(title) for title in titles]
            headings.add(own)
            pairs.update((one, own) for one in above)
        last = line.text.rsplit(None, 1)[-1:]
        if not line.is_code and last and last[0].startswith(BLOCK):
            blocks.add(last[0][1:].casefold())
    return Anchors(frozenset(headings), frozenset(pairs), frozenset(blocks))


def words_of_heading(text: str) -> str:
    """Return the letters and digits of a text, one blank for what is between them."""
    folded = unicodedata.normalize("NFC", text).casefold()
    return " ".join("".join(c if c.isalnum() else " " for c in folded).split())
