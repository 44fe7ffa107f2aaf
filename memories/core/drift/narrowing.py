"""Find edits that narrow what a memory says: a limit joined it, or an item left its list.

The words that such an edit keeps look like a rewording, and those of a list that it drops are few
of many, so that neither the likelihood of a rewording nor a share of lost words tells of it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from memories.core.drift.edits import Edit
from memories.core.drift.parts import words_of
from memories.core.drift.passages import Statement
from memories.core.drift.support import Scored, covered, covered_by

_CLOSE: Final = 0.6  # likeness of words from which an edit added to a sentence or took from it
_LIMITS: Final = frozenset(["except", "excluding", "unless", "only", "if", "provided"])
_TOKEN: Final = re.compile(r"\w+|[,;&]")
_SEPARATORS: Final = frozenset([",", ";", "&", "and", "or"])
_ARTICLES: Final = frozenset(["a", "an", "the"])


def narrowing(text: str, edit: Edit, present: Sequence[Scored]) -> str:
    """Return how an edit of a supporting statement narrows what a memory says, "" for not."""
    if edit.after is None or edit.likeness < _CLOSE:
        return ""
    return _joined_limit(text, edit, edit.after) or _left_item(text, edit, edit.after, present)


def _joined_limit(text: str, edit: Edit, after: Statement) -> str:
    """Return the limit that the new wording puts to all that the old one said."""
    is_limited = not _LIMITS.isdisjoint([*_tokens(edit.before.text), *_tokens(text)])
    added = [one for one in _tokens(after.text) if one in _LIMITS]
    if is_limited or not added or not edit.before.shared.keys() <= covered(after).keys():
        return ""
    return f"a limit joined it: {added[0]}"


def _left_item(text: str, edit: Edit, after: Statement, present: Sequence[Scored]) -> str:
    """Return the item of the memory's list that a statement lost, with nothing in its place."""
    if not words_of(after.text).keys() <= words_of(edit.before.text).keys():
        return ""
    said = covered_by(present)
    listed = _items(text) & _items(edit.before.text)
    for key, written in edit.before.shared.items():
        if key not in said and written.lower() in listed:
            return f"left the list: {written}"
    return ""


def _items(text: str) -> set[str]:
    """Return the words beside a comma or an "and", which begin or end an item of a list."""
    tokens = [one for one in _tokens(text) if one not in _ARTICLES]
    beside = zip(tokens, ["", *tokens], [*tokens[1:], ""], strict=False)
    return {one for one, before, after in beside if {before, after} & _SEPARATORS}


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(text.lower())
