"""Admin pages of merges and merge suggestions, read-only."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from unfold.decorators import display

from engram.kernel.staff import ReadOnlyAdmin, figure_column, moment_column
from memories.core.readable import with_names
from memories.core.shares import percent
from memories.models import Memory, Merge, MergeSuggestion, SuggestionStatus
from memories.services.gate.suggestions import in_status

SHOWN_CHARS = 120


def _cell(memory: Memory) -> str:
    """Return a link with the memory's content, unless it was forgotten."""
    text = "(forgotten)" if memory.forgotten_at else with_names(memory.content)
    short = text if len(text) <= SHOWN_CHARS else f"{text[: SHOWN_CHARS - 1]}…"
    url = reverse("console:memory", args=[memory.pk])
    return format_html('<a class="eg-cell" href="{}">{}</a>', url, short)


class GateAdmin(ReadOnlyAdmin):
    """Lists with links to the memories; people answer on the Gate page."""

    list_display_links = None

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Allow only the list: a detail page would show texts of forgotten memories."""
        return obj is None and super().has_view_permission(request)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Return the rows with their memories prefetched."""
        rows: QuerySet[Any] = super().get_queryset(request)
        return rows.select_related(*self.list_select_related)


@admin.register(Merge)
class MergeAdmin(GateAdmin):
    """Merged statements and their survivors."""

    empty_text = "When the gate merges a commit into a memory, the merge is listed here."
    list_display = ["survivor", "relation", "alike", "judged", "merged", "taken_apart"]
    list_filter = ["relation", "is_correct"]
    list_select_related = ["memory"]

    alike = figure_column("similarity", "alike", percent)
    merged = moment_column("created_at", "merged")
    taken_apart = moment_column("split_at", "split")

    @display(description="memory")
    def survivor(self, merge: Merge) -> str:
        """Return the surviving memory."""
        return _cell(merge.memory)

    @display(description="judged", label={"right": "success", "wrong": "danger"})
    def judged(self, merge: Merge) -> str | None:
        """Return the judgement of the audit."""
        return {True: "right", False: "wrong"}.get(merge.is_correct)  # type: ignore[arg-type]


class SuggestionStatusFilter(admin.SimpleListFilter):
    """Filter by present status: an open suggestion can count as lapsed."""

    title = "status"
    parameter_name = "status"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Return the statuses."""
        return list(SuggestionStatus.choices)

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:
        """Keep the suggestions of the status."""
        status = self.value()
        if status not in SuggestionStatus.values:
            return queryset
        return queryset.filter(pk__in=in_status(status, timezone.now()).values("pk"))


@admin.register(MergeSuggestion)
class MergeSuggestionAdmin(GateAdmin):
    """Merge suggestions and their answers."""

    empty_text = (
        "Pairs that are probably duplicates are listed here, and answered on the Gate page."
    )
    list_display = [
        "one", "two", "relation", "present_status", "detected_by", "suggested_at", "decided_by",
    ]  # fmt: skip
    list_filter = [SuggestionStatusFilter, "relation"]
    list_select_related = ["memory", "other"]

    suggested_at = moment_column("created_at", "suggested")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Return the suggestions, annotated with whether they can be answered now."""
        answerable = in_status(SuggestionStatus.OPEN, timezone.now()).filter(pk=OuterRef("pk"))
        rows = super().get_queryset(request).annotate(is_answerable=Exists(answerable))
        found: QuerySet[Any] = rows
        return found

    @display(description="status", ordering="status")
    def present_status(self, suggestion: Any) -> str:
        """Return the status; an open suggestion that cannot be answered now counts as lapsed."""
        is_lapsed = suggestion.status == SuggestionStatus.OPEN and not suggestion.is_answerable
        status = SuggestionStatus.LAPSED if is_lapsed else SuggestionStatus(suggestion.status)
        return str(status.label)

    @display(description="memory")
    def one(self, suggestion: MergeSuggestion) -> str:
        """Return the first memory."""
        return _cell(suggestion.memory)

    @display(description="and")
    def two(self, suggestion: MergeSuggestion) -> str:
        """Return the second memory."""
        return _cell(suggestion.other)
