"""Read the items of Markdown lists, and the state of those that are tasks.

A box tells it (`- [ ]`, `- [x]`, in Obsidian's themes also `- [-]` for what is given up and `- [/]`
for what is begun), or the first word in Logseq (`- TODO`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, Literal

Task = Literal["", "open", "done", "cancelled"]

_ITEM: Final = re.compile(r"^[ \t>]*(?:[-*+\u2022]|\d{1,3}[.)])[ \t]+")
_BOX: Final = re.compile(r"\[([ xX/<>-])\][ \t]+")
_STATE_WORD: Final = re.compile(
    r"(TODO|DOING|NOW|LATER|WAITING|WAIT|IN-PROGRESS|DONE|CANCELL?ED)[ \t]+"
)
_STATES: Final[Mapping[str, Task]] = {
    "x": "done", "X": "done", "DONE": "done",
    "-": "cancelled", "CANCELED": "cancelled", "CANCELLED": "cancelled",
}  # fmt: skip


def is_item(line: str) -> bool:
    """Return whether a line begins an item of a list."""
    return _ITEM.match(line) is not None


def read_item(line: str, *, reads_all: bool = True) -> tuple[str, Task]:
    """Return the text of a line without the sign and box of an item, and the state of its task.

    Without `reads_all` only the boxes of Markdown are read, as for notes that were stored so.
    """
    item = _ITEM.match(line)
    if item is None:
        return line, ""
    text = line[item.end() :]
    box = _BOX.match(text)
    if box and (reads_all or box[1] in " xX"):
        return text[box.end() :], _STATES.get(box[1], "open")
    if reads_all and (word := _STATE_WORD.match(text)):
        return text[word.end() :], _STATES.get(word[1], "open")
    return text, ""
