"""Admin list of past recalls, while they are kept; read-only. A row leads to the recall's page."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.text import Truncator
from unfold.decorators import display

from engram.kernel.models import Role
from engram.kernel.staff import ShownAdmin, moment_column
from memories.models import PastRecall
from memories.services.recall.past_recalls import asked_in

WITHHELD = "(forgotten)"
QUERY_SHOWN = 300  # characters; the page of a memory cuts it, too
SESSION_SHOWN = 40  # characters of a session's key


@admin.register(PastRecall)
class PastRecallAdmin(ShownAdmin):
    """What was asked, by whom, and how much came back; a click leads to what came back and why."""

    roles = {"view": Role.READER}
    list_display = ["asked_for", "origin", "place", "by", "returned", "asked_at"]
    list_filter = ["origin"]
    ordering = ["-at", "-id"]
    empty_text = (
        "Each recall and each context of a task is kept for some days with its query, and with what"
        " it returned and why. The settings say for how long, and whether at all."
    )
    empty_next = ("How agents recall", "console:api-docs")

    asked_at = moment_column("at", "asked")

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> Any:
        """Return a change list that finds at once what may be shown of a page."""
        plain = super().get_changelist(request, **kwargs)

        class RecallList(plain):  # type: ignore[misc,valid-type]
            def get_results(self, request: HttpRequest) -> None:
                super().get_results(request)
                found = asked_in(self.result_list)
                for row in self.result_list:
                    row.shown = found[row.pk]

        return RecallList

    @display(description="query")
    def asked_for(self, row: Any) -> str:
        """Return the query, unless it is withheld."""
        query = row.shown.query
        text = WITHHELD if query is None else Truncator(query).chars(QUERY_SHOWN)
        return format_html('<span class="eg-cell">{}</span>', text)

    @display(description="project or scope")
    def place(self, row: PastRecall) -> str:
        """Return where was asked."""
        return row.asked.get("project") or row.asked.get("scope") or "–"

    @display(description="by")
    def by(self, row: Any) -> str:
        """Return who asked, and in which session if one is known."""
        session = Truncator(row.session_key).chars(SESSION_SHOWN)
        if row.shown.session:
            link = reverse("admin:memories_session_change", args=[row.shown.session])
            session = format_html('<a href="{}">{}</a>', link, session)
        parts = ((part,) for part in (row.shown.who, session and format_html("in {}", session)))
        said = format_html_join(" ", "{}", (part for part in parts if part[0]))
        return format_html('<span class="eg in-admin">{}</span>', said) if said else "not recorded"

    def show(self, request: HttpRequest, row: Any) -> HttpResponse:
        """Lead to the page of the recall, which withholds what may not be shown."""
        return redirect("console:past-recall", row.pk)
