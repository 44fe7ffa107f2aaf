"""Read a Markdown note: its title, aliases, tags, properties, links and passages."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterable, Set
from dataclasses import dataclass

from memories.core.front_matter import Value, read_properties, texts_of
from memories.core.markdown import read_lines, without_comments
from memories.core.markdown_links import note_links
from memories.core.note_chunks import Chunk, chunk_note
from memories.core.note_paths import without_extension
from memories.core.wiki_links import WikiLink, inline_tags, normalise_tag

NOTE_MAX_CHARS = 200_000
TITLE_MAX_CHARS = 300
ALIAS_MAX_CHARS = 200
LINKS_MAX, TAGS_MAX, ALIASES_MAX = 5_000, 1_000, 100


class OverfullError(ValueError):
    """A note with more links, tags or aliases than are kept; the message is for people."""


@dataclass(frozen=True, slots=True)
class NoteReading:
    """What is read of one note."""

    title: str
    aliases: list[str]
    tags: list[str]
    properties: dict[str, Value]
    links: list[WikiLink]
    chunks: list[Chunk]


def note_hash(content: str) -> str:
    """Return the SHA-256 hex digest of a note's text, exactly as it is."""
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()


def read_note(path: str, content: str, given_title: str = "") -> NoteReading:
    """Read a note; raise `OverfullError` instead of leaving links, tags or aliases out.

    Comments, which editors do not show, are in no passage.
    """
    read = read_properties(content)
    properties, body = read.values, read.body
    # An outliner links a page by its title, whatever the name of its file.
    page_title = _stated_title(properties) if "title" in read.outlined else ""
    named = [*_named(properties, "aliases", "alias"), unicodedata.normalize("NFC", page_title)]
    aliases = [alias for alias in dict.fromkeys(named) if 0 < len(alias) <= ALIAS_MAX_CHARS]
    # Obsidian's tags have no blanks; those of an outliner may.
    named = _named(properties, "tags", "tag", spaced=properties.keys() - read.outlined)
    own_tags = [normalise_tag(tag) for tag in named]
    tags = sorted({*filter(None, own_tags), *inline_tags(body)})
    links = note_links(content)
    for name, found, most in (
        ("links", links, LINKS_MAX),
        ("tags", tags, TAGS_MAX),
        ("aliases", aliases, ALIASES_MAX),
    ):
        if len(found) > most:
            raise OverfullError(f"A note has at most {most:,} {name}; this one has {len(found):,}.")
    shown = without_comments(body)
    title = given_title.strip() or _title(path, shown, properties)
    return NoteReading(
        title=title,
        aliases=aliases,
        tags=tags,
        properties=properties,
        links=links,
        chunks=chunk_note(shown, title),
    )


def _title(path: str, body: str, properties: dict[str, Value]) -> str:
    """Return the title: of the properties, else the first heading, else the file's name."""
    heading = next((line.title for line in read_lines(body) if line.level and line.title), "")
    name = without_extension(path.rpartition("/")[2])
    return (_stated_title(properties) or heading or name)[:TITLE_MAX_CHARS]


def _stated_title(properties: dict[str, Value]) -> str:
    stated = properties.get("title")
    return stated.strip() if isinstance(stated, str) else ""


def _named(properties: dict[str, Value], *names: str, spaced: Set[str] = frozenset()) -> list[str]:
    """Return the texts of the properties with these names, each once, composed.

    Of those in `spaced` blanks part the texts, too.
    """
    found: Iterable[str] = (
        unicodedata.normalize("NFC", text)
        for name in names
        for key, value in properties.items()
        if key.lower() == name
        for text in texts_of(value, is_spaced=key in spaced)
    )
    return list(dict.fromkeys(found))
