"""Read the links of a note: wiki links, and Markdown links to files of notes, `[text](sub/a.md)`.

The address may stand elsewhere, as `[id]: sub/a.md`; `[text][id]`, `[id][]`, `[id]` are links then.
The path of a Markdown link is relative to the note, with `/` before it to the top, and may be
percent-encoded. Addresses with a scheme or a host, and files that are no Markdown, are no links of
notes. Time is linear in the text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from urllib.parse import unquote

from memories.core.note_paths import EXTENSIONS
from memories.core.wiki_links import (
    HEADING_MAX_CHARS,
    TARGET_MAX_CHARS,
    WikiLink,
    located_wiki_links,
    visible,
)

_LINK = re.compile(
    r"(!)?(?<!\\)\[([^\[\]]{0,300})\]\([ \t]?"
    r"(?:<([^<>\n\x00]{1,2000})>"
    r"|((?:[^()\s<>\[\]\x00]|\([^()\s<>\[\]\x00]{0,100}\)){1,2000}))"
    r"(?:[ \t]\"[^\"\n]{0,300}\")?[ \t]?\)"
)
_DEFINITION = re.compile(
    r"^ {0,3}\[(?!\^)([^\[\]\n\x00]{1,300})\]:[ \t]*"
    r"(?:<([^<>\n\x00]{1,2000})>|([^\s<>\x00]{1,2000}))",
    re.MULTILINE,
)
_REFERENCE = re.compile(
    r"(?<![\[\\])(!)?(?<!\\)\[([^\[\]\n]{1,300})\](?:\[([^\[\]\n\x00]{0,300})\])?(?![\[(:\]])"
)
_ELSEWHERE = re.compile(r"\A(?:[A-Za-z][A-Za-z0-9+.-]*+:|//)")
_RELATIVE = ("./", "../", "/")


def note_links(text: str) -> list[WikiLink]:
    """Return the links of a note's text in their order, equal ones once."""
    return list(dict.fromkeys(link for _, _, link in _located(_unified(text))))


def pieces(text: str) -> Iterator[tuple[str, WikiLink | None]]:
    """Yield a text in pieces, each link of it as a piece of its own with the link."""
    text = _unified(text)
    kept_to = 0
    for begin, end, link in _located(text):
        yield text[kept_to:begin], None
        yield text[begin:end], link
        kept_to = end
    yield text[kept_to:], None


def _unified(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _located(text: str) -> list[tuple[int, int, WikiLink]]:
    """Return the begin, the end and the link of all links, in their order; none overlap.

    Neither the label nor the path of a Markdown link holds brackets.
    """
    found = list(located_wiki_links(text))
    if "](" in text or "]:" in text:
        outside = visible(text)
        for match in _LINK.finditer(outside):
            label = text[match.start(2) : match.end(2)]
            link = _link_to(match[3] or match[4], label, is_embed=match[1] is not None)
            if link is not None:
                found.append((match.start(), match.end(), link))
        found += _references(text, outside)
    return sorted(found, key=lambda one: one[0])


def _references(text: str, outside: str) -> Iterator[tuple[int, int, WikiLink]]:
    """Yield the links whose address stands elsewhere; of several definitions the first counts."""
    addresses: dict[str, str] = {}
    for definition in _DEFINITION.finditer(outside):
        addresses.setdefault(_id_of(definition[1]), definition[2] or definition[3])
    for match in _REFERENCE.finditer(outside) if addresses else ():
        label = text[match.start(2) : match.end(2)]
        address = addresses.get(_id_of(match[3] or label))
        link = address and _link_to(address, label, is_embed=match[1] is not None)
        if link:
            yield match.start(), match.end(), link


def _id_of(text: str) -> str:
    return " ".join(text.split()).casefold()


def _link_to(address: str, label: str, *, is_embed: bool) -> WikiLink | None:
    """Return the link to an address; None if it leads to no file of a note."""
    if _ELSEWHERE.match(address):
        return None
    path, _, fragment = address.partition("#")
    target, heading = (unicodedata.normalize("NFC", unquote(part)) for part in (path, fragment))
    if not target.lower().endswith(EXTENSIONS) or not (target + heading).isprintable():
        return None
    target = target if target.startswith(_RELATIVE) else f"./{target}"
    if len(target) > TARGET_MAX_CHARS or len(heading) > HEADING_MAX_CHARS:
        return None  # longer than any path
    return WikiLink(target, heading.strip(), " ".join(label.split()), is_embed)
