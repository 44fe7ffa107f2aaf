"""Read the links of a note: wiki links, and Markdown links to files of notes, `[text](sub/a.md)`.

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
    if "](" in text:
        for match in _LINK.finditer(visible(text)):
            label = text[match.start(2) : match.end(2)]
            if (link := _link_of(match, label)) is not None:
                found.append((match.start(), match.end(), link))
    return sorted(found, key=lambda one: one[0])


def _link_of(match: re.Match[str], label: str) -> WikiLink | None:
    """Return the link of a match; None if it leads to no file of a note."""
    address = match[3] or match[4]
    if _ELSEWHERE.match(address):
        return None
    path, _, fragment = address.partition("#")
    target, heading = (unicodedata.normalize("NFC", unquote(part)) for part in (path, fragment))
    if not target.lower().endswith(EXTENSIONS) or not (target + heading).isprintable():
        return None
    target = target if target.startswith(_RELATIVE) else f"./{target}"
    if len(target) > TARGET_MAX_CHARS or len(heading) > HEADING_MAX_CHARS:
        return None  # longer than any path
    return WikiLink(target, heading.strip(), " ".join(label.split()), match[1] is not None)
