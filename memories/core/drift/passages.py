"""Split Markdown into statements: sentences, list items and table rows, each with its heading.

The heading carries meaning ("Closed on Mondays" above a list), formatting carries none. All
patterns are linear in the text, and at most MAX_STATEMENTS are read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from memories.core.front_matter import read_properties
from memories.core.markdown import without_struck_out
from memories.core.note_paths import without_extension
from memories.core.spelling import collapse
from memories.core.tokeniser import sentences

MAX_STATEMENTS: Final = 2000  # of one note
MAX_CHARS: Final = 600  # of one statement: what is longer is a dump, and is cut
_HEADING: Final = re.compile(r"^ {0,3}(#{1,6})[ \t]+(\S.*)$")
_RULE: Final = re.compile(r"^[ \t|:+=-]{3,}$")
_TABLE_ROW: Final = re.compile(r"^[ \t]*\|")
_ITEM: Final = re.compile(r"^[ \t>]*(?:[-*+\u2022]|\d{1,3}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?")
_QUOTE: Final = re.compile(r"^[ \t]*>[ \t]?")
_FENCE: Final = re.compile(r"^[ \t]*(?:```|~~~)")
_IMAGE_OR_LINK: Final = re.compile(r"!?\[([^\[\]\n]{0,300})\]\([^()\s]{0,500}\)")
_WIKI_LINK: Final = re.compile(r"!?\[\[([^\[\]|\n]{1,400})(?:\|([^\[\]\n]{0,300}))?\]\]")
# A link with the words and brackets that lead to it: "(see [[billing]])", "steps in [[billing]]".
_LEADING_WORDS: Final = r"and|see|per|cf|via|(?:details|steps|more|described)[ \t]in"
_POINTER: Final = re.compile(
    r"[ \t]?(?:[,;:(\u2013\u2014-][ \t]?)?"
    rf"(?:\b(?:{_LEADING_WORDS})\b[.:]?[ \t])?"
    r"!?\[\[([^\[\]|\n]{1,400})(?:\|([^\[\]\n]{0,300}))?\]\]\)?",
    re.IGNORECASE,
)
_WORD: Final = re.compile(r"\w+")
_EMPHASIS: Final = re.compile(r"\*{1,3}|(?<!\w)_{1,3}|_{1,3}(?!\w)|~~|`+|==")
_COMMENT: Final = re.compile(r"<!--|-->|</?[a-zA-Z][^<>\n]{0,100}>")


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement of a note: its plain text, and the headings above it ("Billing > Retries")."""

    text: str
    heading: str = ""

    @property
    def in_context(self) -> str:
        """Return the text after its last heading, as it is embedded and compared."""
        last = self.heading.rpartition(" > ")[2]
        return f"{last}: {self.text}" if last else self.text


def plain_of(text: str) -> str:
    """Return Markdown without emphasis, link targets and tags, in one line."""
    text = _WIKI_LINK.sub(lambda found: found[2] or _name_of(found[1]), text)
    text = _IMAGE_OR_LINK.sub(r"\1", text)
    return " ".join(_COMMENT.sub(" ", _EMPHASIS.sub("", text)).split())


def without_links(text: str) -> str:
    """Return a memory's text without its wiki links, which name notes and claim nothing.

    What a link shows instead of the name is text, unless it has no word that the name has not: a
    note need not repeat its own name to carry the memory.
    """

    def shown(found: re.Match[str]) -> str:
        label = found[2] or ""
        return "" if set(_words_of(label)) <= set(_words_of(found[1])) else f" {label}"

    return " ".join(_POINTER.sub(shown, text).split())


def _name_of(target: str) -> str:
    """Return the name that a link shows to readers: of `a/b.md#c` it is `b`, of `#c` it is `c`."""
    path, _, heading = target.partition("#")
    return without_extension(path.strip().rpartition("/")[2]) or heading.strip("#^ ")


def _words_of(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def statements_of(markdown: str, heading: str = "") -> tuple[Statement, ...]:
    """Return the statements of a note, or of a part of it that stands under `heading`.

    Front matter is no statement, and what is struck out is no longer said.
    """
    found: list[Statement] = []
    body = without_struck_out(read_properties(markdown).body)
    for statement in _statements(body, heading):
        found.append(statement)
        if len(found) == MAX_STATEMENTS:
            break
    return tuple(found)


def _statements(markdown: str, heading: str) -> Iterator[Statement]:
    """Yield statements block by block: a paragraph, an item or a row ends at a line's end."""
    above = [(0, part) for part in heading.split(" > ") if part]
    columns: list[str] = []
    block: list[str] = []
    is_code = False
    for given in [*markdown.splitlines(), ""]:
        if _FENCE.match(given):
            yield from _sentences(block, _path(above))
            block = []
            is_code = not is_code
            continue
        line = given if is_code else _QUOTE.sub("", given)
        kind = _kind(line, is_code=is_code)
        if kind != "text":
            yield from _sentences(block, _path(above))
            block = []
        columns = columns if kind in ("row", "rule") else []
        if kind == "heading":
            level = len(line.split(None, 1)[0])
            above = [(depth, text) for depth, text in above if depth < level]
            above.append((level, plain_of(line.strip().lstrip("#").rstrip("# "))))
        elif kind == "row":
            cells = [plain_of(cell) for cell in line.strip().strip("|").split("|")]
            if columns:
                yield Statement(_row(columns, cells)[:MAX_CHARS], _path(above))
            else:
                columns = cells
        elif kind in ("text", "item", "code"):
            block.append(_ITEM.sub("", line))


def _kind(line: str, *, is_code: bool) -> str:
    """Return what a line is: "blank", "rule", "code", "heading", "row", "item" or "text"."""
    if not line.strip():
        return "blank"
    if is_code:
        return "code"
    kinds = (("rule", _RULE), ("heading", _HEADING), ("row", _TABLE_ROW), ("item", _ITEM))
    return next((kind for kind, pattern in kinds if pattern.match(line)), "text")


def _path(above: list[tuple[int, str]]) -> str:
    return " > ".join(text for _, text in above)


def _sentences(block: list[str], heading: str) -> Iterator[Statement]:
    text = plain_of(" ".join(block))
    for sentence in sentences(collapse(text)) if text else ():
        yield Statement(sentence[:MAX_CHARS], heading)


def _row(columns: list[str], cells: list[str]) -> str:
    """Return a table's row as text: the first cell names the thing, each other one its column."""
    first, *others = cells
    names = [*columns[1:], *[""] * len(others)]
    told = [f"{name} {cell}".strip() for name, cell in zip(names, others, strict=False) if cell]
    return f"{first}: {', '.join(told)}" if first and told else first or ", ".join(told)
