"""Find which supporting statements changed, and what stands in their place."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import Final

from memories.core.drift.parts import parts_of, words_of
from memories.core.drift.passages import Statement
from memories.core.drift.support import Scored, Sentence, Support, covered, digest_of

_WORD: Final = re.compile(r"\w+")
_OF_WORDS: Final = 0.5  # weight of common words beside the cosine, for all and for shared ones
LEAST_LIKENESS: Final = 0.4  # of words, from which a place in both is the same
_LEAST_COMMON: Final = 0.25  # of the words that the old statement shared with the memory
# Similarity of the nearest statement below which a note does not carry a memory.
CARRIED: Final = 0.35
NEAREST: Final = 2  # statements in which the words of a changed one are looked for


@dataclass(frozen=True, slots=True)
class Edit:
    """A supporting statement that is no longer in the note, and what comes nearest to it.

    `candidates` are the nearest ones, best first: of the new statements, or of all where none is
    new. `after` is the first of them; `likeness` in 0..1 the share of words that it has in common
    with the old one, in their order. `is_removal`: it does not stand in the old one's place.
    """

    before: Sentence
    candidates: tuple[Scored, ...]
    likeness: float
    is_removal: bool = False

    @property
    def after(self) -> Statement | None:
        """Return what comes nearest to the old statement."""
        return self.candidates[0].statement if self.candidates else None

    @property
    def replacement(self) -> Statement | None:
        """Return what was written in the place of the old statement; None: it was removed."""
        return None if self.is_removal else self.after

    @property
    def fall(self) -> float:
        """Return by how much the similarity to the memory fell."""
        return self.before.cosine - (self.candidates[0].cosine if self.candidates else 0.0)


def edits_of(support: Support, present: Sequence[Scored]) -> tuple[Edit, ...]:
    """Return the supporting statements that are gone, with what replaced them.

    A statement is still there when its supporting claims are, whatever else changed in its
    sentence; words that it shared by its heading must still stand above it.
    """
    new = new_statements(support, present)
    statements = [scored.statement for scored in present]
    changed = [one for one in support.sentences if not _is_kept(one, statements)]
    edits = (_edit(sentence, new or present) for sentence in changed)
    return tuple(replace(one, is_removal=not _is_replaced(one, is_new=bool(new))) for one in edits)


def new_statements(support: Support, present: Sequence[Scored]) -> list[Scored]:
    """Return the statements that the note did not have when the support was stored."""
    return [one for one in present if digest_of(one.statement) not in support.digests]


def _is_kept(sentence: Sentence, present: Sequence[Statement]) -> bool:
    digest = digest_of(sentence.statement)
    by_heading = sentence.shared.keys() - words_of(sentence.text).keys()
    supporting = {
        part.signature
        for part in parts_of(sentence.text)
        if part.words.keys() & sentence.shared.keys()
    }

    def is_under(statement: Statement) -> bool:
        return by_heading <= covered(statement).keys()

    # Parsing is what costs: of a sentence that still stands there no other one is parsed.
    if any(digest_of(one) == digest and is_under(one) for one in present):
        return True
    return bool(supporting) and any(
        supporting <= {part.signature for part in parts_of(one.text)} and is_under(one)
        for one in present
    )


def _edit(sentence: Sentence, new: Sequence[Scored]) -> Edit:
    mine, shared = covered(sentence.statement).keys(), sentence.shared.keys()

    def nearness(scored: Scored) -> float:
        theirs = covered(scored.statement).keys()
        common = len(theirs & mine) / max(1, len(mine)) + len(theirs & shared) / max(1, len(shared))
        return scored.cosine + _OF_WORDS * common

    candidates = tuple(sorted(new, key=nearness, reverse=True)[:NEAREST])
    return edit_between(sentence, *candidates)


def _is_replaced(edit: Edit, *, is_new: bool) -> bool:
    """Return whether a statement that is new stands in the place of the old one.

    It has words of that in their order, words that it shared with the memory, or is near to the
    memory. The same text under another heading was moved.
    """
    if edit.after is None:
        return False
    if not is_new:
        return digest_of(edit.after) == digest_of(edit.before.statement)
    shared = edit.before.shared.keys()
    common = len(shared & words_of(edit.after.text).keys())
    return (
        edit.likeness >= LEAST_LIKENESS
        or common >= max(1, _LEAST_COMMON * len(shared))
        or edit.candidates[0].cosine >= CARRIED
    )


def edit_between(before: Sentence, *candidates: Scored) -> Edit:
    """Return the edit that put the first of these statements in the place of a supporting one."""
    likeness = _likeness(before.text, candidates[0].statement.text) if candidates else 0.0
    return Edit(before, candidates, likeness)


def _likeness(a: str, b: str) -> float:
    left, right = (_WORD.findall(text.lower()) for text in (a, b))
    return SequenceMatcher(None, left, right, autojunk=False).ratio()
