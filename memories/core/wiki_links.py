"""Read the wiki links and tags of a text.

Links are `[[path#heading|label]]` and `![[embed]]`, tags `#tag` and `#[[several words]]`. Code,
`%% comments %%` and `<!-- comments -->` are not read. Block references of Logseq, `((id))`, name no
note and are no links.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

from memories.core.markdown import mask_comments, without_code

TARGET_MAX_CHARS = 400
HEADING_MAX_CHARS = 300
TAG_MAX_CHARS = 100
_LINK = re.compile(
    r"(!|\{\{embed )?(?<!\\)(?<!(?<![\w\\])#)\[\[([^\[\]\n|#\x00]{0,400})"
    r"(?:#([^\[\]\n|\x00]{0,300}))?(?:\|([^\[\]\n\x00]{0,300}))?\]\]"
)
# `#[[several words]]` is no link behind whatever sign: "**#[[two words]]**".
_TAG = re.compile(
    r"(?<![^\s(,])#([\w/-]{1,100})(?![\w/-])|(?<![\w\\])#\[\[([^\[\]\n|#\x00]{1,100})\]\]"
)
_MARKDOWN_LINK = re.compile(r"\[[^\[\]\n]{0,300}\]\([^()\n]{0,2000}\)")
_MASK = "\x00"


class WikiLink(NamedTuple):
    """One link as written; `heading` is a heading or, with `^`, a block."""

    target: str
    heading: str = ""
    label: str = ""
    is_embed: bool = False


def wiki_links(text: str) -> list[WikiLink]:
    """Return the links of a text in their order, equal ones once."""
    return list(dict.fromkeys(link for _, _, link in located_wiki_links(text)))


def located_wiki_links(text: str) -> Iterator[tuple[int, int, WikiLink]]:
    """Yield the begin, the end and the link for each link of a text with unified line breaks."""
    for match in _LINK.finditer(visible(text)) if "[[" in text else ():
        if (link := _link_of(match)) is not None:
            yield match.start(), match.end(), link


def _link_of(match: re.Match[str]) -> WikiLink | None:
    """Return the link of a match; None if it names nothing."""
    target = unicodedata.normalize("NFC", match[2].rstrip("\\").strip())
    heading = (match[3] or "").rstrip("\\").strip()
    if not (target or heading):
        return None
    return WikiLink(target, heading, (match[4] or "").strip(), match[1] is not None)


def visible(text: str) -> str:
    """Return a text with code and comments masked, positions kept."""
    return mask_comments(without_code(text))


def inline_tags(text: str) -> list[str]:
    """Return the `#tags` of a text, each once, without case.

    A number is no tag, and nothing within a link is one: there `#` begins a heading.
    """
    if "#" not in text:
        return []
    outside = visible(text)
    for link in (_LINK, _MARKDOWN_LINK):
        outside = link.sub(lambda found: _MASK * len(found[0]), outside)
    found = (normalise_tag(match[1] or match[2]) for match in _TAG.finditer(outside))
    return list(dict.fromkeys(tag for tag in found if tag))


def normalise_tag(text: str) -> str:
    """Return a tag without `#` and case; "" if it is none."""
    tag = unicodedata.normalize("NFC", text.strip().lstrip("#").strip("/ ").casefold())
    is_number = tag.replace("-", "").replace("/", "").isdigit()
    return "" if is_number or not tag.isprintable() or len(tag) > TAG_MAX_CHARS else tag
