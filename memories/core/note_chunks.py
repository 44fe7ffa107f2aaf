"""Cut a note into passages under its headings, each short enough to be embedded whole.

The same passage under the same headings has the same hash in every version of the note, so that its
vector can be kept. Lengths are counted in weights, about a quarter of a token each: the local model
reads 256 tokens, and of punctuation and non-Latin scripts each character is a token.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from memories.core.markdown import Line, headings_above, read_lines

CHUNK_WEIGHT = 850  # some 210 tokens, which leaves room for the heading
CHUNKS_BY_HEADING = 1_000  # of a note with more, neighbouring sections are joined
_LEAST_JOINED = CHUNK_WEIGHT // 4  # so that no text makes a passage of each short section
_BETWEEN_ENDS = CHUNK_WEIGHT / 2  # mean weight from one section that ends a passage to the next
TITLE_CHARS = 150  # of each heading above a passage
CONTEXT_CHARS = 120  # of the headings that are embedded with a passage
HEADING_SEPARATOR = " > "
_HEAVY = re.compile(r"[^A-Za-z0-9\s]")
_HEAVY_WEIGHT = 4
_SENTENCE_END = re.compile(r"(?<=[.!?])[ \t]+")
_WORD = re.compile(r"\S+\s*|\s+")


class Chunk(NamedTuple):
    """One passage; `context`, embedded before it, is the end of its headings or the title."""

    heading: str
    text: str
    context: str

    @property
    def embedded(self) -> str:
        """Return the text to embed."""
        return embedded_text(self.context, self.text)

    @property
    def text_hash(self) -> str:
        """Return the SHA-256 hex digest of the text to embed."""
        return hashlib.sha256(self.embedded.encode("utf-8", "surrogatepass")).hexdigest()


def context_of(heading: str, title: str) -> str:
    """Return what is embedded before a passage: the end of its headings, or the note's title."""
    return (heading or title)[-CONTEXT_CHARS:].strip()


def embedded_text(context: str, text: str) -> str:
    """Return the text to embed of a passage."""
    return f"{context}\n{text}" if context else text


class _Section(NamedTuple):
    """The lines of one section with the titles above them."""

    titles: tuple[str, ...]
    lines: list[Line]


def chunk_note(body: str, title: str = "") -> list[Chunk]:
    """Return the passages of a note's body in order; none for a body of blanks."""
    sections = list(_sections(body))
    chunks = [chunk for section in sections for chunk in _chunks_of(section, title)]
    if len(chunks) <= CHUNKS_BY_HEADING:
        return chunks
    return list(_joined(sections, title))


def weight(text: str) -> int:
    """Return the length of a text in weights."""
    return len(text) + (_HEAVY_WEIGHT - 1) * sum(1 for _ in _HEAVY.finditer(text))


def _sections(body: str) -> Iterator[_Section]:
    """Yield the sections that hold text, and headings without text below them."""
    section = _Section((), [])
    is_bare = False  # whether the section begins with a heading and has no text yet
    for line, titles in headings_above(read_lines(body)):
        if line.level:
            if section.lines or (is_bare and len(titles) <= len(section.titles)):
                yield section
            # A heading that is cut in the path is kept whole in the text.
            kept = [line] if len(line.title) > TITLE_CHARS else []
            section, is_bare = _Section(titles, kept), True
        elif line.text.strip() or section.lines:
            section.lines.append(line)
            is_bare = False
    if section.lines or is_bare:
        yield section


def _chunks_of(section: _Section, title: str) -> Iterator[Chunk]:
    """Yield the passages of one section; of one without text, its heading."""
    titles = section.titles
    if not section.lines:
        *above, own = titles
        if own:
            yield _chunk(tuple(above), own, title)
        return
    for text in _packed(_blocks(section.lines)):
        yield _chunk(titles, text, title)


def _chunk(titles: tuple[str, ...], text: str, title: str) -> Chunk:
    heading = HEADING_SEPARATOR.join(one[:TITLE_CHARS] for one in titles if one)
    return Chunk(heading, text, context_of(heading, title))


def _joined(sections: Iterable[_Section], title: str) -> Iterator[Chunk]:
    """Yield passages of several sections each, with their headings in the text.

    Where a passage ends depends on the text of its last section, not on how many came before it: a
    section that is added changes the passages around it alone.
    """
    titles: tuple[str, ...] = ()
    lines: list[Line] = []
    size = 0
    for section in sections:
        own = section.titles[-1] if section.titles else ""
        head = [Line(f"{'#' * len(section.titles)} {own}")] if own else []
        text = "\n".join(line.text for line in [*head, *section.lines])
        added = weight(text)
        if lines and size + added > CHUNK_WEIGHT:
            yield from _chunks_of(_Section(titles, lines), title)
            lines, size = [], 0
        if not lines:
            titles = section.titles[:-1]
        lines += [*head, *section.lines]
        size += added
        if size >= _LEAST_JOINED and _ends_passage(text, added):
            yield from _chunks_of(_Section(titles, lines), title)
            lines, size = [], 0
    if lines:
        yield from _chunks_of(_Section(titles, lines), title)


def _ends_passage(text: str, own_weight: int) -> bool:
    """Return whether a section ends a passage by its text: of longer ones more do."""
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:4]) / 2**32 < own_weight / _BETWEEN_ENDS


def _blocks(lines: Iterable[Line]) -> Iterator[str]:
    """Yield the paragraphs, and blocks of code, of a section, each with its line breaks."""
    block: list[str] = []
    is_code = False
    for line in lines:
        if block and line.is_code != is_code:
            yield "\n".join(block) + "\n"
            block = []
        is_code = line.is_code
        block.append(line.text)
        if not is_code and not line.text.strip():
            yield "\n".join(block) + "\n"
            block = []
    if block:
        yield "\n".join(block)


def _packed(blocks: Iterable[str]) -> Iterator[str]:
    """Join neighbouring pieces up to the weight of a passage; yield the passages, trimmed."""
    parts: list[str] = []
    size = 0
    for piece in (piece for block in blocks for piece in _pieces(block)):
        added = weight(piece)
        if parts and size + added > CHUNK_WEIGHT:
            yield from _trimmed("".join(parts))
            parts, size = [], 0
        parts.append(piece)
        size += added
    yield from _trimmed("".join(parts))


def _trimmed(text: str) -> Iterator[str]:
    if text.strip():
        yield text.strip("\n").rstrip()


def _pieces(block: str) -> Iterator[str]:
    """Yield a block whole if it fits, else its lines, sentences, words, or cuts of these."""
    if weight(block) <= CHUNK_WEIGHT:
        yield block
        return
    for line in block.splitlines(keepends=True):
        if weight(line) <= CHUNK_WEIGHT:
            yield line
            continue
        for sentence in _split_after(_SENTENCE_END, line):
            if weight(sentence) <= CHUNK_WEIGHT:
                yield sentence
                continue
            for word in _WORD.findall(sentence):
                yield from _cut(word)


def _split_after(pattern: re.Pattern[str], text: str) -> Iterator[str]:
    kept_to = 0
    for match in pattern.finditer(text):
        yield text[kept_to : match.end()]
        kept_to = match.end()
    yield text[kept_to:]


def _cut(word: str) -> Iterator[str]:
    if weight(word) <= CHUNK_WEIGHT:
        yield word
        return
    step = CHUNK_WEIGHT // _HEAVY_WEIGHT
    for start in range(0, len(word), step):
        yield word[start : start + step]
