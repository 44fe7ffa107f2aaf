"""Admin of conflicts: list, detail page, actions on one or many cards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.contrib import admin
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied
from django.db.models import Case, IntegerField, QuerySet, Value, When
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.html import format_html
from unfold.decorators import action, display

from conflicts.admin import bulk
from conflicts.admin.filters import (
    AssigneeFilter,
    ConflictStatusFilter,
    FinderFilter,
    OpenedFilter,
    RuleFilter,
    VerdictFilter,
)
from conflicts.models import Conflict
from conflicts.services.cards import queue, show
from conflicts.services.cards.naming import name_cards
from engram.kernel.models import Membership, Role
from engram.kernel.pages import has_role, staff_of
from engram.kernel.staff import ShownAdmin, moment_column
from memories.core.shares import percent

URGENCY = Case(
    *(When(severity=severity, then=Value(rank)) for severity, rank in queue.URGENCY.items()),
    default=Value(len(queue.URGENCY)),
    output_field=IntegerField(),
)


@admin.register(Conflict)
class ConflictAdmin(ShownAdmin):
    """Admin of cards; verdicts use the same services as the API."""

    roles = {"view": Role.READER, "act": Role.REVIEWER}
    list_display = [
        "shown", "status_label", "severity_label", "kind", "found_by", "sureness", "assignee",
        "opened_at",
    ]  # fmt: skip
    list_filter = [
        ConflictStatusFilter,
        "kind",
        "severity",
        FinderFilter,
        RuleFilter,
        AssigneeFilter,
        VerdictFilter,
        OpenedFilter,
    ]
    list_select_related = ["assignee"]
    empty_text = "When two memories cannot both be true, the question to a person appears here."
    search_fields = ["question"]
    search_help_text = "Words of the question or of a memory"
    actions = ["resolve", "dismiss", "snooze", "assign"]

    opened_at = moment_column("created_at", "opened")

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> Any:
        """Return a change list that names all cards of a page by one query."""
        plain = super().get_changelist(request, **kwargs)

        class CardList(plain):  # type: ignore[misc,valid-type]
            def get_results(self, request: HttpRequest) -> None:
                super().get_results(request)
                names = name_cards(self.result_list)
                for card in self.result_list:
                    card.heading = names[card.pk].heading

        return CardList

    @display(description="question")  # not sortable: the order would reveal withheld texts
    def shown(self, card: Any) -> str:
        """Return the heading, which quotes nothing forgotten."""
        return format_html('<span class="eg-cell">{}</span>', card.heading)

    @display(
        description="status",
        ordering="status",
        label={"Open": "warning", "Resolved": "success", "Snoozed": "info"},
    )
    def status_label(self, card: Conflict) -> str:
        """Return the status."""
        return str(card.get_status_display())

    @display(
        description="severity", ordering=URGENCY, label={"High": "danger", "Medium": "warning"}
    )
    def severity_label(self, card: Conflict) -> str:
        """Return the severity."""
        return str(card.get_severity_display())

    @display(description="found by")
    def found_by(self, card: Conflict) -> str:
        """Return who found it."""
        return ", ".join(card.detected_by)

    @display(description="confidence", ordering="confidence")
    def sureness(self, card: Conflict) -> str:
        """Return how sure the detector was."""
        return percent(card.confidence)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Conflict], search_term: str
    ) -> tuple[QuerySet[Conflict], bool]:
        """Find cards by words of their question or their memories."""
        term = search_term.replace("\0", "").strip()
        if not term:
            return queryset, False
        found = queue.cards(queue.CardFilter(status=queue.ALL, text=term)).order_by().values("pk")
        return queryset.filter(pk__in=found), False

    def show(self, request: HttpRequest, card: Any) -> HttpResponse:
        """Show one card, by the template of the console's page."""
        staff = staff_of(request)
        context = {
            **self.admin_site.each_context(request),
            "title": "Conflict",
            "opts": self.opts,
            "view": show.show(card, now=timezone.now()),
            "may_decide": has_role(request, Role.REVIEWER),
            "role": staff.actor.role,
            "members": Membership.objects.filter(workspace=staff.workspace).select_related("user"),
            "back": request.path,
            "onward": request.path,
            "typed": {},
            "kept": set(),
        }
        return TemplateResponse(request, "admin/conflicts/conflict/detail.html", context)

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: Any = None
    ) -> HttpResponse:
        """Redirect to the card, which shows its history; Django's own log is not written."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        card = self.get_object(request, unquote(object_id))
        if card is None:
            raise Http404
        return redirect("admin:conflicts_conflict_change", card.pk)

    @action(description="Decide…", permissions=["act"])
    def resolve(self, request: HttpRequest, rows: QuerySet[Conflict]) -> HttpResponse | None:
        """Give several cards one verdict."""
        return self._together(request, "resolve", rows)

    @action(description="Dismiss: not a conflict", permissions=["act"])
    def dismiss(self, request: HttpRequest, rows: QuerySet[Conflict]) -> HttpResponse | None:
        """Dismiss several cards."""
        return self._together(request, "dismiss", rows)

    @action(description="Snooze…", permissions=["act"])
    def snooze(self, request: HttpRequest, rows: QuerySet[Conflict]) -> HttpResponse | None:
        """Hide several cards from the queue until a day."""
        return self._together(request, "snooze", rows)

    @action(description="Assign…", permissions=["act"])
    def assign(self, request: HttpRequest, rows: QuerySet[Conflict]) -> HttpResponse | None:
        """Assign several cards to a member."""
        return self._together(request, "assign", rows)

    def _together(
        self, request: HttpRequest, verb: str, rows: QuerySet[Conflict]
    ) -> HttpResponse | None:
        context = {**self.admin_site.each_context(request), "opts": self.opts}
        return bulk.run(request, verb, rows, _names, context)


def _names(cards: Sequence[Conflict]) -> list[str]:
    """Return the cards' headings, with a placeholder where one might quote a forgotten memory."""
    names = name_cards(cards)
    return [names[card.pk].heading for card in cards]
