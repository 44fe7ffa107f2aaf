"""Show notes and memories in pages: Markdown as readable text, links by names, to their notes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from django import template
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from memories.core.readable import (
    Piece,
    linked_pieces,
    readable,
    readable_pieces,
    with_names,
)
from memories.core.wiki_links import WikiLink
from memories.models import LinkReason, NoteLink

register = template.Library()
register.filter("readable", readable)
register.filter("with_names", with_names)


@register.simple_tag
def linked_text(text: str, targets: Mapping[tuple[str, str], NoteLink]) -> SafeString:
    """Return a text with its links, by (target, heading), as links to pages."""
    return _joined(readable_pieces(text), targets)


@register.simple_tag
def linked_statement(text: str, targets: Mapping[tuple[str, str], NoteLink]) -> SafeString:
    """Return a memory's text as it is, with its links, by (target, heading), as links to pages."""
    return _joined(linked_pieces(text), targets)


def _joined(pieces: Iterable[Piece], targets: Mapping[tuple[str, str], NoteLink]) -> SafeString:
    return format_html_join("", "{}", ((_piece(part, link, targets),) for part, link in pieces))


def _piece(
    part: str, link: WikiLink | None, targets: Mapping[tuple[str, str], NoteLink]
) -> SafeString | str:
    known = targets.get((link.target, link.heading)) if link else None
    if known is None:
        return part
    if known.reason == LinkReason.ATTACHMENT:
        return format_html('<span title="{}">{}</span>', known.get_reason_display(), part)
    if known.note_id is None:
        return format_html(
            '<span class="leads-nowhere" title="{}">{}</span>', known.get_reason_display(), part
        )
    page = reverse("console:note", args=[known.note_id])
    return format_html('<a href="{}">{}</a>', page, part)
