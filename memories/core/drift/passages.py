"""Split Markdown into statements: sentences, list items and table rows, each with its heading.

The heading carries meaning ("Closed on Mondays" above a list), formatting carries none but the box
of a task. All patterns are linear in the text, and at most MAX_STATEMENTS are read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final
from zlib import crc32

from memories.core.drift.fields import begins_field, telling_fields
from memories.core.drift.task_boxes import Task, is_item, read_item
from memories.core.drift.withdrawals import WithdrawalReader, withdrawal_in_properties
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

# How notes are read: 1 had neither fields of front matter nor a statement for each labelled line,
# and read comments; 2 knew neither withdrawals nor tasks without one of Markdown's boxes; 3 cut
# what is longer than a statement. What was stored by one is compared with statements that are read
# alike.
FIRST_FORM: Final = 1
SECOND_FORM: Final = 2
THIRD_FORM: Final = 3
FORM: Final = 4
MAX_STATEMENTS: Final = 5000  # of one note: the longest note, at 40 characters each
MAX_CHARS: Final = 600  # of one statement: what is longer is read in pieces
_RULE: Final = re.compile(r"^[ \t|:+=-]{3,}$")
_TABLE_ROW: Final = re.compile(r"^[ \t]*\|")
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
_SPACE: Final = re.compile(" ")
_PAUSES: Final = frozenset(",;:")
_NEXT_CHARS: Final = 24  # behind a space, by which one of several is chosen
_EMPHASIS: Final = re.compile(r"\*{1,3}|(?<!\w)_{1,3}|_{1,3}(?!\w)|~~|`+|==")
_COMMENT: Final = re.compile(r"<!--|-->|</?[a-zA-Z][^<>\n]{0,100}>")


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement of a note: its plain text, and the headings above it ("Billing > Retries").

    `task` is the state of the item of a task list that it is; `withdrawn` the words with which the
    note says that this part of it no longer holds, "" where it does not.
    """

    text: str
    heading: str = ""
    task: Task = ""
    withdrawn: str = ""

    @property
    def in_context(self) -> str:
        """Return the text after its last heading, as it is embedded and compared."""
        last = self.heading.rpartition(" > ")[2]
        return f"{last}: {self.text}" if last else self.text


def plain_of(text: str) -> str:
    """Return Markdown without emphasis, link targets and tags, in one line."""
    text = _WIKI_LINK.sub(lambda found: found[2] or name_of(found[1]), text)
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


def name_of(target: str) -> str:
    """Return the name that a link shows to readers: of `a/b.md#c` it is `b`, of `#c` it is `c`."""
    path, _, heading = target.partition("#")
    return without_extension(path.strip().rpartition("/")[2]) or heading.strip("#^ ")


def _words_of(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def statements_of(
    markdown: str, heading: str = "", *, form: int = FORM, most: int | None = MAX_STATEMENTS
) -> tuple[Statement, ...]:
    """Return the first statements of a note, or of a part of it that stands under `heading`.

    Fields of front matter are statements of the whole note. Comments are none, and what is struck
    out is no longer said. `most` None: all, of which there are no more than half its characters.
    """
    properties = read_properties(markdown)
    body = properties.body if form == FIRST_FORM else without_comments(properties.body)
    read = _statements(
        without_struck_out(body), heading, withdrawal_in_properties(properties), form
    )
    found = list(islice(read, most))
    if form <= SECOND_FORM:
        found = [replace(one, withdrawn="") for one in found]
    if form != FIRST_FORM:
        above = next((one.heading.split(" > ")[0] for one in found if one.heading), heading)
        fields = list(_fields(properties, above, form))
        found = [*fields, *found][:most]
    return tuple(found)


def _fields(properties: Properties, above: str, form: int) -> Iterator[Statement]:
    """Yield the fields of front matter that say something, under the note's first heading."""
    title = properties.values.get("title")
    heading = above or (plain_of(title) if isinstance(title, str) else "")
    for name, value in telling_fields(properties):
        if said := plain_of(value):
            for piece in _pieces(f"{name}: {said}", form):
                yield Statement(piece, heading)


def _statements(markdown: str, heading: str, withdrawn: str, form: int) -> Iterator[Statement]:
    """Yield statements block by block: a paragraph, an item or a row ends at a line's end."""
    path = heading
    columns: list[str] = []
    block: list[str] = []
    task: Task = ""
    withdrawals = WithdrawalReader(withdrawn)
    for line, titles in headings_above([*read_lines(markdown), Line("")]):
        text = line.text if line.is_code else _QUOTE.sub("", line.text)
        kind = _kind(line, text)
        if kind != "text" or (form != FIRST_FORM and begins_field(text, block)):
            yield from _sentences(block, path, task, withdrawals.words, form)
            block, task = [], ""
        columns = columns if kind in ("row", "rule") else []
        if kind == "heading":
            path = " > ".join(part for part in [heading, *map(plain_of, titles)] if part)
            withdrawals.enter(line.level, plain_of(line.title))
        elif kind == "row":
            cells = [plain_of(cell) for cell in text.strip().strip("|").split("|")]
            if columns:
                for piece in _pieces(_row(columns, cells), form):
                    yield Statement(piece, path, "", withdrawals.words)
            else:
                columns = cells
        elif kind in ("text", "item", "code"):
            said, state = read_item(text, reads_all=form > SECOND_FORM)
            block.append(said)
            task = state if kind == "item" else task
            if withdrawals.is_beginning:
                withdrawals.read(plain_of(said))


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
    kinds = (("rule", _RULE.match), ("row", _TABLE_ROW.match), ("item", is_item))
    return next((kind for kind, is_one in kinds if is_one(text)), "text")


def _sentences(
    block: list[str], heading: str, task: Task, withdrawn: str, form: int
) -> Iterator[Statement]:
    """Yield the sentences of a block; the first one of a task says what is to be done."""
    text = plain_of(" ".join(block))
    for sentence in sentences(collapse(text)) if text else ():
        for piece in _pieces(sentence, form):
            yield Statement(piece, heading, task, withdrawn)
            task = ""


def _pieces(text: str, form: int) -> Iterator[str]:
    """Yield what is longer than a statement in pieces of a quarter of one to a whole one.

    A piece ends behind a comma or the like where there is one, and of several places at that whose
    next words have the greatest checksum: so an edit changes the pieces next to it, and not all
    that follow.
    """
    if form <= THIRD_FORM:
        text = text[:MAX_CHARS]
    start = 0
    while len(text) - start > MAX_CHARS:
        least, most = start + MAX_CHARS // 4, start + MAX_CHARS
        places = [found.end() for found in _SPACE.finditer(text, least, most)] or [most]
        end = max(places, key=lambda i: (text[i - 2] in _PAUSES, _checksum(text, i)))
        yield text[start:end].rstrip()
        start = end
    yield text[start:]


def _checksum(text: str, start: int) -> int:
    return crc32(text[start : start + _NEXT_CHARS].encode(errors="surrogatepass"))


def _row(columns: list[str], cells: list[str]) -> str:
    """Return a table's row as text: the first cell names the thing, each other one its column."""
    first, *others = cells
    names = [*columns[1:], *[""] * len(others)]
    told = [f"{name} {cell}".strip() for name, cell in zip(names, others, strict=False) if cell]
    return f"{first}: {', '.join(told)}" if first and told else first or ", ".join(told)
