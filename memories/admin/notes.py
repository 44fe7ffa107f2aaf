"""Admin pages of notes: search, read the source, delete."""

from __future__ import annotations

import json
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.html import format_html
from unfold.decorators import action, display

from engram.kernel.list_filters import TextFilter
from engram.kernel.models import Role
from engram.kernel.pages import has_role, staff_of
from engram.kernel.pagination import ByPosition, page_of
from engram.kernel.staff import ShownAdmin, moment_column
from memories.core.wiki_links import normalise_tag
from memories.models import Note
from memories.services.notes.delete import delete_note
from memories.services.notes.find import named, tagged, with_counts
from memories.services.notes.reading import PASSAGES_A_PAGE, chunks_of, read_passages


class NoteTagFilter(TextFilter):
    """Filter by one tag, with those below it."""

    title = "tag"
    parameter_name = "tag"

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:
        """Keep notes with the tag, or with one below it."""
        tag = (self.value() or "").replace("\x00", "")
        return queryset.filter(tagged(tag)) if normalise_tag(tag) else queryset


def _shown(value: Any) -> str:
    """Return the value of a property as text: a list with commas, a mapping as JSON."""
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return ", ".join(value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


@admin.register(Note)
class NoteAdmin(ShownAdmin):
    """Notes, read-only; agents and imports write them."""

    roles = {"view": Role.READER, "act": Role.REVIEWER}
    list_display = ["shown", "place", "passages", "version", "changed"]
    list_filter = [NoteTagFilter]
    search_fields = ["path"]
    search_help_text = "Part of the path, the title or an alias"
    ordering = ["-updated_at", "-id"]
    actions = ["remove"]
    empty_text = "Notes come through the API, or from a folder with `import_notes`."

    changed = moment_column("updated_at", "changed")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Note]:
        """Return notes with the counts of their passages, without their texts."""
        return with_counts(Note.objects.defer("content", "properties")).order_by(*self.ordering)

    @display(description="note", ordering="title")
    def shown(self, note: Note) -> str:
        """Return the title."""
        return format_html('<span class="eg-cell">{}</span>', note.title)

    @display(description="path", ordering="path")
    def place(self, note: Note) -> str:
        """Return the path."""
        return format_html('<span class="eg-path">{}</span>', note.path)

    @display(description="passages")
    def passages(self, note: Any) -> str:
        """Return the number of passages, and of those that wait to be embedded."""
        waiting = f", {note.pending_count} waiting" if note.pending_count else ""
        return f"{note.chunk_count}{waiting}"

    def name_of(self, row: Note) -> str:
        """Return the path, for the confirmation page."""
        return row.path

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Note], search_term: str
    ) -> tuple[QuerySet[Note], bool]:
        """Find notes by part of the path, the title or an alias."""
        words = search_term.replace("\x00", "").strip()
        return (queryset.filter(named(words)) if words else queryset), False

    def show(self, request: HttpRequest, note: Any) -> HttpResponse:
        """Show one note, read-only: passages, the memories beside them, and its source."""
        page = page_of(chunks_of(note), request, size=PASSAGES_A_PAGE, pages=ByPosition)
        model = staff_of(request).workspace.embedding_model
        passages = read_passages(note, page.rows, model, timezone.now())
        context = {
            **self.admin_site.each_context(request),
            "title": note.title or note.path,
            "opts": self.opts,
            "note": note,
            "tags": [row.tag for row in note.tags.all()],
            "properties": [(name, _shown(value)) for name, value in note.properties.items()],
            "page": page,
            "passages": passages,
            "links": passages.links,
            "may_act": has_role(request, Role.REVIEWER),
        }
        return TemplateResponse(request, "admin/memories/note/detail.html", context)

    @action(description="Delete", permissions=["act"])
    def remove(self, request: HttpRequest, rows: QuerySet[Note]) -> HttpResponse | None:
        """Delete the selected notes."""
        staff = staff_of(request)

        def delete(note: Note) -> None:
            delete_note(staff.workspace, note.path, actor=staff.actor, now=timezone.now())

        return self.confirm(
            request,
            rows,
            question="Delete {n} notes?",
            consequence="They are deleted for good, and links to them lead nowhere. The next import"
            " of a folder that still has them brings them back.",
            button="Delete",
            done="{n} notes deleted.",
            work=lambda chosen: self.one_by_one(request, list(chosen), delete),
        )
