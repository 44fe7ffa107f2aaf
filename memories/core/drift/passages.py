"""Split Markdown into statements: sentences, list items and table rows, each with its heading.

The heading carries meaning ("Closed on Mondays" above a list), formatting carries none but the box
of a task. All patterns are linear in the text, and at most MAX_STATEMENTS are read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final, Literal

from memories.core.drift.fields import begins_field, telling_fields
from memories.core.front_matter import Properties, read_properties
from memories.core.markdown import (
    Line,
    headings_above,
    read_lines,
    without_comments,
    without_struck_out,
)
from memories.core.note_paths import without_extension
from memories.core.spelling import collapse
from memories.core.tokeniser import sentences

Task = Literal["", "open", "done"]

# How notes are read: 1 had neither fields of front matter nor a statement for each labelled line,
# and read comments. What was stored by it is compared with statements that are read alike.
FIRST_FORM: Final = 1
FORM: Final = 2
MAX_STATEMENTS: Final = 5000  # of one note: the longest note, at 40 characters each
MAX_CHARS: Final = 600  # of one statement: what is longer is a dump, and is cut
_RULE: Final = re.compile(r"^[ \t|:+=-]{3,}$")
_TABLE_ROW: Final = re.compile(r"^[ \t]*\|")
_ITEM: Final = re.compile(r"^[ \t>]*(?:[-*+\u2022]|\d{1,3}[.)])[ \t]+(?:\[([ xX])\][ \t]+)?")
_QUOTE: Final = re.compile(r"^[ \t]*>[ \t]?")
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
    """One statement of a note: its plain text, and the headings above it ("Billing > Retries").

    `task` is the state of the item of a task list that it is.
    """

    text: str
    heading: str = ""
    task: Task = ""

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


def statements_of(markdown: str, heading: str = "", *, form: int = FORM) -> tuple[Statement, ...]:
    """Return the statements of a note, or of a part of it that stands under `heading`.

    Fields of front matter are statements of the whole note. Comments are none, and what is struck
    out is no longer said.
    """
    properties = read_properties(markdown)
    body = properties.body if form == FIRST_FORM else without_comments(properties.body)
    read = _statements(without_struck_out(body), heading, is_first_form=form == FIRST_FORM)
    found = list(islice(read, MAX_STATEMENTS))
    if form != FIRST_FORM:
        above = next((one.heading.split(" > ")[0] for one in found if one.heading), heading)
        found = [*_fields(properties, above), *found][:MAX_STATEMENTS]
    return tuple(found)


def _fields(properties: Properties, above: str) -> Iterator[Statement]:
    """Yield the fields of front matter that say something, under the note's first heading."""
    title = properties.values.get("title")
    heading = above or (plain_of(title) if isinstance(title, str) else "")
    for name, value in telling_fields(properties):
        if said := plain_of(value):
            yield Statement(f"{name}: {said}"[:MAX_CHARS], heading)


def _statements(markdown: str, heading: str, *, is_first_form: bool) -> Iterator[Statement]:
    """Yield statements block by block: a paragraph, an item or a row ends at a line's end."""
    path = heading
    columns: list[str] = []
    block: list[str] = []
    task: Task = ""
    for line, titles in headings_above([*read_lines(markdown), Line("")]):
        text = line.text if line.is_code else _QUOTE.sub("", line.text)
        kind = _kind(line, text)
        if kind != "text" or (begins_field(text, block) and not is_first_form):
            yield from _sentences(block, path, task)
            block, task = [], ""
        columns = columns if kind in ("row", "rule") else []
        if kind == "heading":
            path = " > ".join(part for part in [heading, *map(plain_of, titles)] if part)
        elif kind == "row":
            cells = [plain_of(cell) for cell in text.strip().strip("|").split("|")]
            if columns:
                yield Statement(_row(columns, cells)[:MAX_CHARS], path)
            else:
                columns = cells
        elif kind in ("text", "item", "code"):
            block.append(_ITEM.sub("", text))
            task = _task_of(text) if kind == "item" else task


def _task_of(text: str) -> Task:
    """Return the state of an item; "" for one without a box."""
    item = _ITEM.match(text)
    if item is None or item[1] is None:
        return ""
    return "open" if item[1] == " " else "done"


def _kind(line: Line, text: str) -> str:
    """Return what a line is: "blank", "code", "heading", "rule", "row", "item" or "text".

    `text` is the line without the signs of a quotation.
    """
    if line.is_fence or not text.strip():
        return "blank"
    if line.is_code:
        return "code"
    if line.level:
        return "heading"
    kinds = (("rule", _RULE), ("row", _TABLE_ROW), ("item", _ITEM))
    return next((kind for kind, pattern in kinds if pattern.match(text)), "text")


def _sentences(block: list[str], heading: str, task: Task) -> Iterator[Statement]:
    """Yield the sentences of a block; the first one of a task says what is to be done."""
    text = plain_of(" ".join(block))
    for sentence in sentences(collapse(text)) if text else ():
        yield Statement(sentence[:MAX_CHARS], heading, task)
        task = ""


def _row(columns: list[str], cells: list[str]) -> str:
    """Return a table's row as text: the first cell names the thing, each other one its column."""
    first, *others = cells
    names = [*columns[1:], *[""] * len(others)]
    told = [f"{name} {cell}".strip() for name, cell in zip(names, others, strict=False) if cell]
    return f"{first}: {', '.join(told)}" if first and told else first or ", ".join(told)
