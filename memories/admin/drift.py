"""Admin list of prediction errors, read-only: people answer them in the inbox."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.decorators import display

from engram.kernel.list_filters import DefaultedFilter
from engram.kernel.models import Role
from engram.kernel.staff import ShownAdmin, moment_column
from memories.core.readable import readable
from memories.core.shares import percent
from memories.models import ErrorType, PredictionError
from memories.models.drift import OF_NOTES, WEIGHT_MAX
from memories.services.drift.asked import queries_of_forgotten
from memories.services.drift.find import all_errors, confirmed

SHOWN_CHARS = 120
TASKS = "memories_predictionerror_tasks"  # the route of the list of tasks that no note fits
LIST = "memories_predictionerror_changelist"
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


class KindFilter(admin.SimpleListFilter):
    """Filter by what an error says, of those that the list may have."""

    title = "says"
    parameter_name = "error_type"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Return the kinds of the list."""
        return [(k, str(k.label)) for k in ErrorType if (k in OF_NOTES) == _is(request, TASKS)]

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:
        """Keep the errors of the kind."""
        return queryset.filter(error_type=self.value()) if self.value() else queryset


def _is(request: HttpRequest, route: str) -> bool:
    return request.resolver_match is not None and request.resolver_match.url_name == route


def _cell(text: str) -> SafeString:
    cut = text if len(text) <= SHOWN_CHARS else f"{text[: SHOWN_CHARS - 1]}…"
    return format_html('<span class="eg-cell">{}</span>', cut)


@admin.register(PredictionError)
class PredictionErrorAdmin(ShownAdmin):
    """Two lists of prediction errors: memories in doubt, and tasks that no note fits.

    A click leads to the card, or to the note.
    """

    roles = {"view": Role.READER}
    list_display = ["about", "kind", "place", "by", "weighs", "condition", "found"]
    list_filter = [OpenFilter, KindFilter]
    search_fields = ["note_path"]
    search_help_text = "Part of a note's path, a source, or a memory that is not forgotten"
    ordering = ["-detected_at", "-id"]
    noun = "memory in doubt|memories in doubt"
    empty_text = (
        "What speaks against a memory comes here: a note that no longer carries it, or evidence"
        " from outside."
    )
    empty_next = ("Notes", "console:notes")

    found = moment_column("detected_at", "found")

    def get_urls(self) -> list[Any]:
        """Add the list of tasks."""
        tasks = self.admin_site.admin_view(self.changelist_view)
        return [path("tasks/", tasks, name=TASKS), *super().get_urls()]

    def get_list_display(self, request: HttpRequest) -> list[str]:
        """Name the first column by what the list has."""
        first = "task" if _is(request, TASKS) else "about"
        return [first, *self.list_display[1:]]

    def get_queryset(self, request: HttpRequest) -> QuerySet[PredictionError]:
        """Return the listed errors with their memories; on the lists those of the list."""
        found = confirmed(all_errors()).select_related("memory", "note").order_by(*self.ordering)
        if _is(request, TASKS):
            return found.filter(error_type__in=OF_NOTES)
        return found.exclude(error_type__in=OF_NOTES) if _is(request, LIST) else found

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
            if _is(request, TASKS):
                noun = "task that no note fits|tasks that no note fits"
                empty_text = (
                    "When no note is near to what an agent asked, twice, the task comes here."
                )

            def get_results(self, request: HttpRequest) -> None:
                super().get_results(request)
                withheld = queries_of_forgotten(self.result_list)
                for error in self.result_list:
                    error.is_task_withheld = error.pk in withheld

        return ErrorList

    @display(description="memory")
    def about(self, error: Any) -> str:
        """Return the memory's content, cut."""
        return _cell(FORGOTTEN if error.memory.forgotten_at else readable(error.memory.content))

    @display(description="task")
    def task(self, error: Any) -> str:
        """Return the task that met the note, cut."""
        return _cell(FORGOTTEN if getattr(error, "is_task_withheld", True) else error.query)

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
        """Return how sure the comparison with the note is, or how much a signal weighs."""
        if error.error_type == ErrorType.MEMORY_DRIFT:
            return f"{percent(error.weight)} sure"
        return f"{error.weight:.1f} of {WEIGHT_MAX:g}".replace(".0 ", " ")

    @display(description="state", label={"open": "warning"})
    def condition(self, error: PredictionError) -> str:
        """Return how the error ended."""
        return "open" if error.resolved_at is None else error.resolution.replace("_", " ")

    def show(self, request: HttpRequest, error: Any) -> HttpResponse:
        """Lead to the card of an error about a memory, or to the note of another one."""
        if error.memory_id is not None:
            return redirect(f"{reverse('console:inbox')}?item=drift:{error.pk}")
        if error.note_id is None:
            raise Http404
        return redirect("console:note", error.note_id)
