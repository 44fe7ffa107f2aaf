"""The admin of history: read only."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from engram.kernel.models import Event
from engram.kernel.staff import ReadOnlyAdmin, moment_column


@admin.register(Event)
class EventAdmin(ReadOnlyAdmin):
    """History: events are never changed."""

    list_display = ["event_time", "type", "actor_label", "actor_kind", "object_type", "object_id"]
    list_display_links = ["event_time"]
    event_time = moment_column("at", "at")
    list_filter = ["actor_kind", "object_type"]
    search_fields = ["object_id"]
    search_help_text = "A type such as memory.forgotten, an actor, or an object's id"
    ordering = ["-seq"]

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Event], search_term: str
    ) -> tuple[QuerySet[Event], bool]:
        """Find events by exact type, actor or object."""
        term = search_term.strip()
        if not term:
            return queryset, False
        found = (
            queryset.filter(type=term)
            | queryset.filter(object_id=term)
            | queryset.filter(actor_label=term)
        )
        return found, False
