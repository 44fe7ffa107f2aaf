"""Show Markdown in pages: as readable text, whose links lead to their notes."""

from __future__ import annotations

from collections.abc import Mapping

from django import template
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from memories.core.readable import readable, readable_pieces
from memories.core.wiki_links import WikiLink
from memories.models import LinkReason, NoteLink

register = template.Library()
register.filter("readable", readable)


@register.simple_tag
def linked_text(text: str, targets: Mapping[tuple[str, str], NoteLink]) -> SafeString:
    """Return a text with its links, by (target, heading), as links to pages."""
    return format_html_join(
        "", "{}", ((_piece(part, link, targets),) for part, link in readable_pieces(text))
    )


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
