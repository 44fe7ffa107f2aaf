"""Show Markdown to readers: as plain text, without the signs of formatting, links by their names.

Blocks stay: an item begins with a bullet, a row of a table has its cells side by side. Code stays
as it is, without its fences. What comes out is text, never HTML.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from memories.core.drift.passages import name_of
from memories.core.markdown import Line, read_lines
from memories.core.markdown_links import pieces
from memories.core.wiki_links import WikiLink

_LINK: Final = "\x00"  # stands for a link; no stored text has it
_CODE: Final = "\x01"  # stands for a span of code
_SPAN: Final = re.compile(r"(?<!`)`([^`\n]{1,300})`(?!`)")
_SIGNS: Final = (
    (re.compile(r"^[ \t]*>[ \t>]*(?:\[![\w-]{1,30}\][+-]?[ \t]?)?"), ""),
    (re.compile(r"^([ \t]*)[-*+][ \t]+(?!\[)"), "\\1• "),
    (re.compile(r"^([ \t]*)[-*+][ \t]+\[[xX]\][ \t]"), "\\1☑ "),
    (re.compile(r"^([ \t]*)[-*+][ \t]+\[[ <>/-]\][ \t]"), "\\1☐ "),
    (re.compile(r"^([ \t]*)[-*+][ \t]+"), "\\1• "),
    (re.compile(r"!?\[([^\[\]\n]{1,300})\]\([^()\s]{0,500}\)"), "\\1"),
    (re.compile(r"(?<![\w*\\])(\*{1,3})(?![\s*])([^*\n]{1,300})(?<!\s)\1(?![\w*])"), "\\2"),
    (re.compile(r"(?<![\w*\\])(\*{1,3})(?![\s*])([^*\n]{1,300})(?<!\s)\1(?![\w*])"), "\\2"),
    (re.compile(r"(?<![\w\\])(_{1,3})(?![\s_])([^_\n]{1,300})(?<!\s)\1(?!\w)"), "\\2"),
    (re.compile(r"(?<!\\)(~~|==)(?![\s~=])([^~=\n]{1,300})(?<!\s)\1"), "\\2"),
)
_CELLS: Final = re.compile(r"[ \t]\|[ \t]")
_OF_TABLES: Final = frozenset("|:- \t")  # signs of the line below the head of a table


class Piece(NamedTuple):
    """A run of text as readers see it; `link` is what it links."""

    text: str
    link: WikiLink | None = None


def readable(text: str) -> str:
    """Return Markdown as plain text in its lines, each link as its label or name."""
    return "".join(piece.text for piece in readable_pieces(text)).strip()


def readable_pieces(text: str) -> list[Piece]:
    """Return Markdown as plain text in pieces, each link as a piece of its own."""
    links: list[WikiLink] = []
    marked: list[str] = []
    for part, link in pieces(text.replace(_LINK, "").replace(_CODE, "")):
        marked.append(part if link is None else _LINK)
        links += [] if link is None else [link]
    lines = [line for line in read_lines("".join(marked)) if not line.is_fence]
    texts = "\n".join(_block(line) for line in lines if not _is_rule(line)).split(_LINK)
    found = [Piece(texts[0])]
    for link, rest in zip(links, texts[1:], strict=False):
        found += [Piece(_shown(link), link), Piece(rest)]
    return [piece for piece in found if piece.text]


def linked_pieces(text: str) -> list[Piece]:
    """Return a text as it is, in pieces, each of its links by the label or name, apart."""
    found = (Piece(_shown(link) if link else part, link) for part, link in pieces(text))
    return [piece for piece in found if piece.text]


def with_names(text: str) -> str:
    """Return a text as it is, but for links, in whose place stand their labels or names."""
    return "".join(piece.text for piece in linked_pieces(text)) if "[" in text else text


def _is_rule(line: Line) -> bool:
    """Return whether a line divides, and says nothing: "---", "***", "|---|---|"."""
    text = line.text.strip()
    if line.is_code or line.level or len(text) < 3:
        return False
    return ("---" in text and set(text) <= _OF_TABLES) or not text.strip("*") or not text.strip("_")


def _block(line: Line) -> str:
    """Return a line without the signs of its block and of emphasis, spans of code as they are."""
    if line.is_code:
        return line.text
    text = line.title if line.level else line.text
    spans = _SPAN.findall(text)
    text = _SPAN.sub(_CODE, text)
    if not line.level and text.lstrip().startswith("|"):
        text = _CELLS.sub(" · ", text.strip(" \t|"))
    for signs, kept in _SIGNS:
        text = signs.sub(kept, text)
    plain = text.split(_CODE)
    return plain[0] + "".join(span + rest for span, rest in zip(spans, plain[1:], strict=True))


def _shown(link: WikiLink) -> str:
    """Return the label of a link, or the name of what it links."""
    under = f" › {link.heading.lstrip('^')}" if link.target and link.heading else ""
    return link.label or name_of(f"{link.target}#{link.heading}") + under
