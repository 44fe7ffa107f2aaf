"""Admin list of prediction errors, read-only: people answer them in the inbox."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.html import format_html
from unfold.decorators import display

from engram.kernel.list_filters import DefaultedFilter
from engram.kernel.models import Role
from engram.kernel.staff import RoleAdmin, moment_column
from memories.models import PredictionError
from memories.services.drift.asked import queries_of_forgotten
from memories.services.drift.find import all_errors, confirmed

SHOWN_CHARS = 120
FORGOTTEN = "(forgotten)"


class OpenFilter(DefaultedFilter):
    """Filter by whether an error is resolved; open ones by default."""

    title = "state"
    parameter_name = "state"
    default = "open"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Return the states, open first."""
        return [("open", "Open"), ("resolved", "Resolved"), (self.all_value, "All")]

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:
        """Keep the errors of the state."""
        chosen = self.value()
        if chosen == self.all_value:
            return queryset
        return queryset.filter(resolved_at__isnull=chosen != "resolved")


@admin.register(PredictionError)
class PredictionErrorAdmin(RoleAdmin):
    """Prediction errors that are listed; a click leads to the card, or to the note."""

    roles = {"view": Role.READER}
    list_display = ["about", "kind", "place", "by", "weighs", "condition", "found"]
    list_filter = [OpenFilter, "error_type"]
    search_fields = ["note_path"]
    search_help_text = "Part of a note's path, a source, or a memory that is not forgotten"
    ordering = ["-detected_at", "-id"]
    empty_text = (
        "What speaks against a memory comes here: a note that no longer carries it, or evidence"
        " from outside; and tasks that no note fits."
    )
    empty_next = ("Notes", "console:notes")

    found = moment_column("detected_at", "found")

    def get_queryset(self, request: HttpRequest) -> QuerySet[PredictionError]:
        """Return the listed errors with their memories."""
        return confirmed(all_errors()).select_related("memory", "note").order_by(*self.ordering)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[PredictionError], search_term: str
    ) -> tuple[QuerySet[PredictionError], bool]:
        """Find errors by path, source, or memory; a forgotten memory and tasks are not searched."""
        words = search_term.replace("\x00", "").strip()
        if not words:
            return queryset, False
        known = Q(memory__content__icontains=words, memory__forgotten_at=None)
        return queryset.filter(
            known | Q(note_path__icontains=words) | Q(source__icontains=words)
        ), False

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> Any:
        """Return a change list that finds at once which tasks of a page state forgotten text."""
        plain = super().get_changelist(request, **kwargs)

        class ErrorList(plain):  # type: ignore[misc,valid-type]
            def get_results(self, request: HttpRequest) -> None:
                super().get_results(request)
                withheld = queries_of_forgotten(self.result_list)
                for error in self.result_list:
                    error.is_task_withheld = error.pk in withheld

        return ErrorList

    @display(description="memory or task")
    def about(self, error: Any) -> str:
        """Return the memory's content, or the task that met the note, cut."""
        if error.memory is not None:
            text = FORGOTTEN if error.memory.forgotten_at else error.memory.content
        else:
            text = FORGOTTEN if getattr(error, "is_task_withheld", True) else error.query
        cut = text if len(text) <= SHOWN_CHARS else f"{text[: SHOWN_CHARS - 1]}…"
        return format_html('<span class="eg-cell">{}</span>', cut)

    @display(description="says", ordering="error_type")
    def kind(self, error: PredictionError) -> str:
        """Return what the error says."""
        return error.get_error_type_display()

    @display(description="note", ordering="note_path")
    def place(self, error: PredictionError) -> str:
        """Return the path of the note."""
        return format_html('<span class="eg-path">{}</span>', error.note_path or "–")

    @display(description="source", ordering="source")
    def by(self, error: PredictionError) -> str:
        """Return who found it."""
        return error.source

    @display(description="weight", ordering="weight")
    def weighs(self, error: PredictionError) -> str:
        """Return how strong the signal is."""
        return f"{error.weight:.2f}"

    @display(description="state", label={"open": "warning"})
    def condition(self, error: PredictionError) -> str:
        """Return how the error ended."""
        return "open" if error.resolved_at is None else error.resolution.replace("_", " ")

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """Lead to the card of an error about a memory, or to the note of another one."""
        if not self.has_view_permission(request) or request.method != "GET":
            raise PermissionDenied
        error = self.get_object(request, unquote(object_id))
        if error is None:
            raise Http404
        if error.memory_id is not None:
            return redirect(f"{reverse('console:inbox')}?item=drift:{error.pk}")
        if error.note_id is None:
            raise Http404
        return redirect("console:note", error.note_id)
