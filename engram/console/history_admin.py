"""The admin of history, read-only: what happened, to what, by whom, in words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html, format_html_join

from engram.console.event_fields import as_stored, fields_of, kind_in_words
from engram.console.event_objects import PAGES
from engram.console.feed import as_message, card_texts, memory_texts, names_of, shorten
from engram.console.history_filters import ActorFilter, HappenedFilter, KindFilter, SinceFilter
from engram.console.subjects import subjects_of
from engram.console.wording import WORDS, words_for
from engram.kernel.labels import UNBROKEN
from engram.kernel.literals import row_id
from engram.kernel.models import Event
from engram.kernel.staff import ReadOnlyAdmin, format_moment

_GONE = {"note.deleted", "memory.erased", "session.deleted"}


@admin.register(Event)
class EventAdmin(ReadOnlyAdmin):
    """History: events are never changed."""

    list_display = ["event_time", "happened", "about", "by"]
    list_display_links = ["event_time"]
    list_filter = [
        HappenedFilter, SinceFilter, ("actor_kind", ActorFilter), ("object_type", KindFilter),
    ]  # fmt: skip
    search_fields = ["object_id"]
    empty_text = (
        "Everything that happens to memories, conflicts, settings and members is told here, with"
        " who did it."
    )
    empty_next = ("Commit the first memory", "console:dashboard")
    search_help_text = "What happened, such as “memory forgotten”, or who did it"
    ordering = ["-seq"]

    def get_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        """Show the event in words first, then what it is stored as."""
        session = ["session_key"] if obj and obj.session_key else []
        return ["at", "happened", "about", "by", *session, "details", "stored"]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        """Change none of them."""
        return self.get_fields(request, obj)

    def get_changelist_instance(self, request: HttpRequest) -> ChangeList:
        """Return the page of the list, with the texts of what its events are about."""
        found: ChangeList = super().get_changelist_instance(request)
        found.title = "History"
        found.result_list = _with_texts(found.result_list)
        return found

    def get_object(self, request: HttpRequest, object_id: str, from_field: Any = None) -> Any:
        """Return an event with the text of what it is about."""
        found = super().get_object(request, object_id, from_field)
        return None if found is None else _with_texts([found])[0]

    def heading_of(self, row: Any) -> str:
        """Return what happened, and when."""
        return f"{self.happened(row)}, {format_moment(row.at)}"

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Event], search_term: str
    ) -> tuple[QuerySet[Event], bool]:
        """Find events by the words of what happened, or by exact type, actor or object."""
        term = search_term.strip()
        if not term:
            return queryset, False
        told = [kind for kind, words in WORDS.items() if term.lower() in words.lower()]
        found = (
            queryset.filter(type__in=[term, *told])
            | queryset.filter(object_id=term)
            | queryset.filter(actor_label=term)
        )
        return found, False

    @admin.display(description="when", ordering="at")
    def event_time(self, event: Event) -> str:
        """Return the time, in one line: the texts beside it are long."""
        return format_moment(event.at).replace(" ", UNBROKEN)

    @admin.display(description="what happened", ordering="type")
    def happened(self, event: Any) -> str:
        """Return the event in words."""
        return words_for(event.type, event.data, event.card_names)

    @admin.display(description="about")
    def about(self, event: Any) -> str:
        """Return the name or text of the object, with a link where it has a page."""
        words = event.object_text or _name_of(event) or kind_in_words(event.object_type)
        route = PAGES.get(event.object_type)
        if route is None or event.type in _GONE or row_id(event.object_id) is None:
            return str(words)
        address = reverse(route, args=[event.object_id])
        return format_html('<a class="eg-cell" href="{}">{}</a>', address, words)

    @admin.display(description="details")
    def details(self, event: Event) -> str:
        """Return the data of the event, field by field."""
        rows = format_html_join("", "<dt>{}</dt><dd>{}</dd>", fields_of(event))
        return format_html('<dl class="eg-fields">{}</dl>', rows) if rows else "nothing more"

    @admin.display(description="as the API has it")
    def stored(self, event: Event) -> str:
        """Return the event as it is stored, folded."""
        return format_html(
            "<details><summary>Type, object and data</summary>"
            '<pre class="eg-stored" tabindex="0">{}</pre></details>',
            as_stored(event),
        )

    @admin.display(description="by", ordering="actor_label")
    def by(self, event: Event) -> str:
        """Return the name of who did it."""
        return event.actor_label or event.actor_kind


def _with_texts(events: Iterable[Event]) -> list[Any]:
    """Return events with `object_text`, "" where nothing may be shown; a few queries at most."""
    rows: list[Any] = list(events)
    memories = memory_texts(_ids(rows, "memory"))
    names = names_of(_ids(rows, "conflict"))
    cards = card_texts(names)
    subjects = subjects_of([as_message(row) for row in rows])
    for row in rows:
        row.card_names = names.get(row.object_id)
        known = memories if row.object_type == "memory" else cards
        text = known.get(row.object_id, {}).get("text", "")
        row.object_text = text or shorten(subjects.get(row.seq, ""))
    return rows


def _ids(events: Iterable[Event], kind: str) -> set[UUID]:
    found = (row_id(event.object_id) for event in events if event.object_type == kind)
    return {one for one in found if one is not None}


def _name_of(event: Event) -> str:
    """Return a name that the event itself records; ids and texts of memories are none."""
    data = event.data if isinstance(event.data, dict) else {}
    return str(data.get("path") or data.get("name") or event.session_key)
