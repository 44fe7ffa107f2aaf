"""Find the fields of a note: those of its front matter, and lines that begin with a label."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from memories.core.front_matter import Properties

# "Status: open", "**Lead:** Ann"; one with a capital begins a statement among other lines, too.
_LABELLED: Final = re.compile(
    r"^[ \t]*[*_]{0,3}[^\W\d_][\w./()-]{0,30}(?: [\w./()&-]{1,30}){0,3}[*_]{0,3}:[*_]{0,3}[ \t]+\S"
)
_CAPITAL: Final = re.compile(r"^[ \t]*[*_]{0,3}[A-Z]")
# Fields of front matter that say what the file is, or change with each edit.
_OF_THE_FILE: Final = frozenset(
    ["title", "alias", "aliases", "tag", "tags", "created", "created_at", "updated", "updated_at",
     "modified", "modified_at", "lastmod", "last_modified", "published", "publish", "draft", "id",
     "uid", "uuid", "slug", "permalink", "layout", "template", "cssclass", "cssclasses", "lang"]
)  # fmt: skip


def telling_fields(properties: Properties) -> Iterator[tuple[str, str]]:
    """Yield the fields of front matter that have one value and say more than what the file is."""
    for name, value in properties.values.items():
        is_of_file = name.lower() in _OF_THE_FILE or name in properties.outlined
        if isinstance(value, str) and not is_of_file:
            yield name, value


def begins_field(text: str, block: Sequence[str]) -> bool:
    """Return whether a line of a paragraph, after those of `block`, begins with its own label."""
    if not block or not _LABELLED.match(text):
        return False
    return bool(_CAPITAL.match(text) or _LABELLED.match(block[0]))
