"""Tell the labels of a transcript from those in texts that its speakers show, by their style.

Where `### User` and `### Assistant` begin turns, a line `User: …` is part of what is shown: in the
output of a tool, or in a conversation that was pasted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from memories.core.extraction.labels import role_of, style_of

Label = re.Match[str] | None


def find_shown(labels: Sequence[Label]) -> tuple[list[Label], frozenset[int]]:
    """Return the labels of lines without those of others' texts, and where such a text begins.

    The first label of a role has the transcript's style. Where user and assistant have it, labels
    of roles in another style begin the text of others, up to the next label in that style. Within
    it, and within the output of a tool where the user's labels have that style, nobody else speaks.
    Labels behind times count where the first label of a role has a time, too.
    """
    kept = list(labels)
    first = next((one for one in kept if one is not None and role_of(one["name"])), None)
    if first is None:
        return kept, frozenset()
    style = style_of(first)
    if not style[0]:
        kept = [None if one is not None and one["stamp"] else one for one in kept]
    named = {role_of(one["name"]) for one in kept if one is not None and style_of(one) == style}
    is_whole = {"user", "assistant"} <= named
    shown: set[int] = set()
    is_others = is_tools = False
    for at, one in enumerate(kept):
        if one is None:
            continue
        role = role_of(one["name"])
        if style_of(one) == style:
            is_others, is_tools = False, role == "tool"
        elif is_others or (is_tools and (is_whole or "user" in named)):
            kept[at] = None
        elif role is not None and is_whole:
            shown.add(at)
            is_others = True
    return kept, frozenset(shown)
