"""Read a Markdown file into statements, links and anchors, each with its line; pure.

CommonMark is read by markdown-it: what stands in code blocks, comments and HTML states nothing. A
statement is one sentence of a paragraph or list item, or a row of a table, as plain text.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Final, Literal, NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token

from memories.core.front_matter import read_properties
from memories.core.tokeniser import sentence_spans
from memories.core.wiki_links import WikiLink, wiki_links

StatementKind = Literal["sentence", "item", "row"]

MOST_CHARS: Final = 600  # of a statement; what is longer is a dump and is not compared
_SEARCHED: Final = 2_000  # characters of the source in which a piece of it is looked for
_LOOKED_FOR: Final = 40  # characters of a piece
_PARSER: Final = MarkdownIt("commonmark").enable(["table", "strikethrough"])
_ANCHOR: Final = re.compile(r"<[a-zA-Z][^<>]{0,300}?\b(?:id|name)\s*=\s*[\"']?([^\"'\s<>]{1,200})")
_BLOCKS: Final = frozenset(
    ["paragraph_open", "heading_open", "table_open", "bullet_list_open", "ordered_list_open"]
)
_CUSTOM_ID: Final = re.compile(r"\{:?\s*#([^\s}]{1,200})[^}]{0,200}\}\s*$")


@dataclass(frozen=True, slots=True)
class Link:
    """A link to something local or remote, as written; `wiki` for `[[…]]`."""

    target: str
    line: int
    label: str = ""
    wiki: WikiLink | None = None


@dataclass(frozen=True, slots=True)
class Code:
    """A code span in running text."""

    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement of a file.

    `headings` are those above it, outermost first; `block` numbers its paragraph, list or table
    within the file; `cells` is the number of cells of a row, else 0; `is_reference` is true below
    a heading with code, such as the name of a function. Lines count from 1.
    """

    path: str
    line: int
    end_line: int
    text: str
    headings: tuple[str, ...] = ()
    kind: StatementKind = "sentence"
    block: int = 0
    links: tuple[Link, ...] = ()
    cells: int = 0
    is_reference: bool = False

    @property
    def heading(self) -> str:
        """Return the headings as one text."""
        return " > ".join(self.headings)


@dataclass(slots=True)
class Document:
    """What was read of one file."""

    path: str
    statements: list[Statement] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    codes: list[Code] = field(default_factory=list)
    headings: list[str] = field(default_factory=list)
    ids: set[str] = field(default_factory=set)  # anchors that HTML or attributes name
    aliases: tuple[str, ...] = ()


def read_document(path: str, content: str) -> Document:
    """Return the statements, links and anchors of a Markdown text."""
    text = content.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")
    body = read_properties(text).body
    offset = text[: len(text) - len(body)].count("\n")
    document = Document(path)
    _Reader(document, offset).read(_PARSER.parse(body))
    return document


class _Heading(NamedTuple):
    level: int
    title: str
    has_code: bool


class _Reader:
    """Walks the tokens of a document and collects what it holds."""

    def __init__(self, document: Document, offset: int):
        self.document = document
        self.offset = offset
        self.above: list[_Heading] = []
        self.block = 0
        self.columns: list[str] = []
        self.cells: list[_Inline] = []
        self.depth = {"list_item": 0, "thead": 0, "blockquote": 0}

    def read(self, tokens: Sequence[Token]) -> None:
        for position, token in enumerate(tokens):
            name, _, end = token.type.rpartition("_")
            if name in self.depth:
                self.depth[name] += 1 if end == "open" else -1
            if token.level == 0 and token.type in _BLOCKS:
                self.block += 1
            elif token.type == "html_block":
                self.document.ids.update(_ANCHOR.findall(token.content))
            elif token.type == "inline":
                self._inline(token, tokens[position - 1])
            elif token.type == "tr_close":
                self._row()

    def _inline(self, token: Token, opened: Token) -> None:
        first = self.offset + (token.map[0] if token.map else 0) + 1
        inline = _Inline(token, first)
        self.document.links += inline.links
        self.document.codes += inline.codes
        self.document.ids.update(inline.ids)
        if opened.type == "heading_open":
            self._heading(int(opened.tag[1:]), inline.text, has_code=bool(inline.codes))
        elif opened.type in ("th_open", "td_open"):
            self.cells.append(inline)
        elif not self.depth["blockquote"]:
            kind: StatementKind = "item" if self.depth["list_item"] else "sentence"
            self._sentences(inline, kind)

    def _heading(self, level: int, text: str, *, has_code: bool) -> None:
        if found := _CUSTOM_ID.search(text):
            self.document.ids.add(found[1])
            text = text[: found.start()].rstrip()
        self.above = [heading for heading in self.above if heading.level < level]
        self.above.append(_Heading(level, text, has_code))
        self.document.headings.append(text)

    def _sentences(self, inline: _Inline, kind: StatementKind) -> None:
        for start, end in sentence_spans(inline.text):
            piece = inline.text[start:end]
            text = piece.strip()
            if text and len(text) <= MOST_CHARS:
                begin = start + len(piece) - len(piece.lstrip())
                self._add(inline, begin, begin + len(text), text, kind)

    def _add(self, inline: _Inline, begin: int, end: int, text: str, kind: StatementKind) -> None:
        self.document.statements.append(
            Statement(
                self.document.path,
                inline.line_at(begin),
                inline.line_at(end - 1),
                text,
                tuple(heading.title for heading in self.above if heading.title),
                kind,
                self.block,
                inline.links_within(begin, end),
                is_reference=any(heading.has_code for heading in self.above),
            )
        )

    def _row(self) -> None:
        cells, self.cells = self.cells, []
        texts = [cell.text.strip() for cell in cells]
        if self.depth["thead"]:
            self.columns = texts
            return
        if not cells or self.depth["blockquote"]:
            return
        first, *others = texts
        told = [
            f"{name} {text}".strip()
            for name, text in zip([*self.columns[1:], *[""] * len(others)], others, strict=False)
            if text
        ]
        text = f"{first}: {', '.join(told)}" if first and told else first or ", ".join(told)
        if text and len(text) <= MOST_CHARS:
            self.document.statements.append(
                Statement(
                    self.document.path, cells[0].first, cells[0].first, text,
                    tuple(heading.title for heading in self.above if heading.title),
                    "row", self.block,
                    tuple(link for cell in cells for link in cell.links), len(cells),
                    any(heading.has_code for heading in self.above),
                )
            )  # fmt: skip


class _Inline:
    """The running text of a block, with the line of each of its characters."""

    def __init__(self, token: Token, first: int):
        self.first = first
        self.links: list[Link] = []
        self.codes: list[Code] = []
        self.ids: set[str] = set()
        self.places: list[tuple[int, Link]] = []  # where in the text a link begins
        self._source, self._at, self._line = token.content, 0, first
        self._starts, self._lines = [0], [first]
        parts: list[str] = []
        self._length = 0
        opened: list[tuple[int, int, str, int]] = []
        for child in token.children or ():
            self._advance(child)
            if child.type in ("softbreak", "hardbreak"):
                self._append(parts, " ")
            elif child.type == "text":
                self._append(parts, child.content)
            elif child.type == "code_inline":
                self.codes.append(Code(child.content, self._line))
                self._append(parts, child.content)
            elif child.type == "html_inline":
                self.ids.update(_ANCHOR.findall(child.content))
            elif child.type == "image":
                self.links.append(Link(str(child.attrGet("src") or ""), self._line, "image"))
            elif child.type == "link_open":
                target = str(child.attrGet("href") or "")
                opened.append((len(parts), self._length, target, self._line))
            elif child.type == "link_close" and opened:
                first_part, begin, target, line = opened.pop()
                link = Link(target, line, "".join(parts[first_part:]))
                self.links.append(link)
                self.places.append((begin, link))
        self.text = "".join(parts)
        if "[[" in self._source:
            self._wiki_links()
        self.places.sort(key=itemgetter(0))

    def _append(self, parts: list[str], text: str) -> None:
        self._starts.append(self._length)
        self._lines.append(self._line)
        parts.append(text)
        self._length += len(text)

    def _advance(self, child: Token) -> None:
        """Move on in the source to where a piece of it stands.

        What is spelled otherwise there, such as an escape, is passed with the next piece.
        """
        is_break = child.type in ("softbreak", "hardbreak")
        piece = "\n" if is_break else child.content.partition("\n")[0][:_LOOKED_FOR]
        if child.type == "code_inline":
            piece = piece.partition(" ")[0]  # a line break in a span is read as a blank
        found = self._source.find(piece, self._at, self._at + _SEARCHED) if piece else -1
        if found < 0:
            return
        end = found + len(piece)
        self._line += self._source.count("\n", self._at, end)
        self._at = end

    def line_at(self, place: int) -> int:
        """Return the line of a character of the text."""
        return self._lines[bisect_right(self._starts, place) - 1]

    def links_within(self, begin: int, end: int) -> tuple[Link, ...]:
        """Return the links that begin in a part of the text."""
        first, last = (bisect_left(self.places, at, key=itemgetter(0)) for at in (begin, end))
        return tuple(link for _, link in self.places[first:last])

    def _wiki_links(self) -> None:
        at = 0
        for wiki in wiki_links(self._source):
            at = max(self.text.find(f"[[{wiki.target}", at), at)
            link = Link(wiki.target, self.line_at(at), wiki.label or wiki.target, wiki)
            self.links.append(link)
            self.places.append((at, link))


def slug(heading: str) -> str:
    """Return the letters and digits of a heading or anchor, by which they are compared.

    Generators of pages differ in what they do with punctuation and blanks.
    """
    folded = unicodedata.normalize("NFKC", heading).casefold()
    return "".join(character for character in folded if character.isalnum())


def all_statements(documents: Iterable[Document]) -> list[Statement]:
    """Return the statements of all documents in order."""
    return [statement for document in documents for statement in document.statements]
