"""Admin list of what agents reported as missing from memory, or as wrong; read-only."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.html import format_html
from unfold.decorators import display

from engram.kernel.list_filters import DefaultedFilter
from engram.kernel.models import Role
from engram.kernel.pages import has_role
from engram.kernel.staff import ShownAdmin, moment_column
from memories.models import ReportItem, ReportKind
from memories.services.sessions.reported import (
    WITH_TEXT,
    containing,
    said_by_agents,
    visible_texts,
)

WITHHELD = "(forgotten)"


class KindFilter(DefaultedFilter):
    """Filter by what a report says; what was missing by default."""

    title = "report"
    parameter_name = "kind"
    default = ReportKind.MISSING.value

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Return the kinds, what was missing first."""
        kinds = [(kind.value, str(kind.label)) for kind in reversed(WITH_TEXT)]
        return [*kinds, (self.all_value, "All")]

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:
        """Keep the reports of the kind."""
        chosen = self.value()
        return queryset if chosen == self.all_value else queryset.filter(kind=chosen)


@admin.register(ReportItem)
class ReportItemAdmin(ShownAdmin):
    """What agents had to find out, and what they found wrong; a click leads to the session."""

    roles = {"view": Role.READER}
    list_display = ["says", "about", "place", "by", "reported", "answer"]
    list_filter = [KindFilter]
    search_fields = ["text"]
    search_help_text = "Part of what was said"
    ordering = ["-created_at", "-id"]
    empty_text = (
        "At the end of a session an agent may say what it had to find out because no memory said"
        " it; that comes here. Its wrong memories wait in the inbox, too."
    )
    empty_next = ("How a session ends", "console:api-docs")

    reported = moment_column("created_at", "reported")

    def get_queryset(self, request: HttpRequest) -> QuerySet[ReportItem]:
        """Return all that was missing or wrong, with sessions and memories."""
        return said_by_agents()

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[ReportItem], search_term: str
    ) -> tuple[QuerySet[ReportItem], bool]:
        """Find reports by their text; what is withheld is not searched."""
        words = search_term.replace("\x00", "").strip()
        return (containing(queryset, words) if words else queryset), False

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> Any:
        """Return a change list that finds at once which texts of a page are withheld."""
        plain = super().get_changelist(request, **kwargs)

        class ReportList(plain):  # type: ignore[misc,valid-type]
            def get_results(self, request: HttpRequest) -> None:
                super().get_results(request)
                texts = visible_texts(self.result_list)
                may_write = has_role(request, Role.REVIEWER)
                for item in self.result_list:
                    item.shown, item.may_write = texts[item.pk], may_write

        return ReportList

    @display(description="says")
    def says(self, item: Any) -> str:
        """Return the text, unless it is withheld."""
        text = getattr(item, "shown", None)
        return format_html('<span class="eg-cell">{}</span>', WITHHELD if text is None else text)

    @display(description="about")
    def about(self, item: ReportItem) -> str:
        """Return the wrong memory as a link."""
        if item.memory_id is None:
            return "missing"
        link = reverse("console:memory", args=[item.memory_id])
        return format_html('<span class="eg in-admin"><a href="{}">wrong memory</a></span>', link)

    @display(description="next step")
    def answer(self, item: Any) -> str:
        """Return the way to a memory that says it; a person makes a sentence of it."""
        text = getattr(item, "shown", None)
        if item.kind != ReportKind.MISSING or text is None or not item.may_write:
            return ""
        typed = {"content": text, "scope": item.session.scope, "project": item.session.project}
        page = f"{reverse('console:memory-new')}?{urlencode(typed)}"
        return format_html('<span class="eg in-admin"><a href="{}">Write a memory</a></span>', page)

    @display(description="project")
    def place(self, item: ReportItem) -> str:
        """Return the project or scope of the session."""
        return item.session.project or item.session.scope or "–"

    @display(description="agent")
    def by(self, item: ReportItem) -> str:
        """Return who reported it."""
        return item.session.agent or "–"

    def show(self, request: HttpRequest, item: Any) -> HttpResponse:
        """Lead to the session in which it was said."""
        return redirect("admin:memories_session_change", item.session_id)
