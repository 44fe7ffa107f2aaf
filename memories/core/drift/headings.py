"""Tell a section that was only renamed from a statement that came under another heading.

"Closed" above "Mondays" is half of what is said: a new name that turns it round, or has another
value, is a change.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Final

from memories.core.claims import compare
from memories.core.drift.edits import Edit, edit_between
from memories.core.drift.opposition import opposition
from memories.core.drift.parts import values_of, words_of
from memories.core.drift.passages import Statement
from memories.core.drift.support import (
    Scored,
    Sentence,
    Support,
    heading_digest,
    standing,
    titles_of,
)
from memories.core.note_anchors import names_of_anchor, names_of_heading

_MOST: Final = 20  # statements with the text of one


def is_under_new_name(edit: Edit, support: Support, present: Sequence[Scored]) -> bool:
    """Return whether a supporting statement still stands there, in a section with a new name.

    The old name is gone from the note, the new one was not in it before, and neither a claim nor a
    word of one excludes the other.
    """
    return bool(_new_names(edit.before, support, [one.statement for one in present]))


def renamed_to(heading: str, support: Support, present: Sequence[Statement]) -> str:
    """Return what the section that a link names (`A` or `A#B`) is called now, "" if unknown.

    It is known where a statement that the memory leans on still stands in it.
    """
    wanted = set(names_of_anchor(heading))
    for sentence in support.sentences:
        titles = titles_of(sentence.heading)
        is_meant = any(not wanted.isdisjoint(names_of_heading(title)) for title in titles)
        if is_meant and (names := _new_names(sentence, support, present)):
            return names[-1]
    return ""


def _new_names(before: Sentence, support: Support, present: Sequence[Statement]) -> list[str]:
    """Return the new headings above a supporting statement; none: no section was renamed."""
    same = standing(before, present)[:_MOST]
    names = {title for statement in present for title in titles_of(statement.heading)}
    for now in same:
        if _is_renamed(before, now, support, names):
            old = titles_of(before.heading)
            return [title for title in titles_of(now.heading) if title not in old]
    return []


def _is_renamed(before: Sentence, now: Statement, support: Support, names: Set[str]) -> bool:
    old, new = titles_of(before.heading), titles_of(now.heading)
    gone = [title for title in old if title not in new]
    come = [title for title in new if title not in old]
    if not gone or not come or not names.isdisjoint(gone):
        return False
    if not support.headings or not support.headings.isdisjoint(map(heading_digest, come)):
        return False
    return _may_name_one(". ".join(gone), ". ".join(come), before, now)


def _may_name_one(old: str, new: str, before: Sentence, now: Statement) -> bool:
    """Return whether two headings can be names of one section."""
    if (
        values_of(old).keys() - values_of(new).keys()
        and values_of(new).keys() - values_of(old).keys()
    ):
        return False
    pairs = ((old, new), (before.statement.in_context, now.in_context))
    if any(compare(*pair).relation == "contradicts" for pair in pairs):
        return False
    sentence = Sentence(old, "", before.cosine, words_of(old))
    return not opposition(old, edit_between(sentence, Scored(Statement(new), before.cosine)))
