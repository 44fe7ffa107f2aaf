"""The admin of conflicts: found, decided one by one or dismissed together; runs are read."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied
from django.db.models import Exists, OuterRef, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.html import format_html
from unfold.contrib.filters.admin import ChoicesDropdownFilter
from unfold.decorators import action, display

from conflicts.models import Conflict, ConflictMember, DetectionRun
from conflicts.models.card import ConflictStatus
from conflicts.models.decision import Verdict
from conflicts.services import queue, show
from conflicts.services.resolve import resolve
from engram.kernel.models import Membership, Role
from engram.kernel.pages import has_role, staff_of
from engram.kernel.staff import (
    DefaultedFilter,
    ReadOnlyAdmin,
    RoleAdmin,
    moment_column,
    seconds_column,
)

WAITING = (ConflictStatus.OPEN, ConflictStatus.SNOOZED)
FINDERS = ("rules", "narrative", "agent", "person")


class StatusFilter(DefaultedFilter):
    """By status; open ones unless asked otherwise."""

    title = "status"
    parameter_name = "status"
    default = ConflictStatus.OPEN

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Offer the statuses."""
        return [*ConflictStatus.choices, (self.all_value, "All")]

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:
        """Keep cards of the status."""
        is_all = self.value() == self.all_value
        return queryset if is_all else queryset.filter(status=self.value())


class FinderFilter(admin.SimpleListFilter):
    """By who found it."""

    title = "found by"
    parameter_name = "found_by"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Offer the finders."""
        return [(finder, finder.title()) for finder in FINDERS]

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:
        """Keep cards that the finder found."""
        value = self.value()
        return queryset.filter(detected_by__contains=[value]) if value else queryset


@admin.register(Conflict)
class ConflictAdmin(RoleAdmin):
    """Cards; verdicts go through the same services as everywhere."""

    roles = {"view": Role.READER, "act": Role.REVIEWER}
    list_display = [
        "shown", "status_label", "severity_label", "kind", "found_by", "assignee", "opened_at",
    ]  # fmt: skip
    list_filter = [
        StatusFilter,
        ("kind", ChoicesDropdownFilter),
        ("severity", ChoicesDropdownFilter),
        FinderFilter,
    ]
    list_select_related = ["assignee"]
    empty_text = "When two memories cannot both be true, the question to a person stands here."
    search_fields = ["question"]
    search_help_text = "Words of the question or of a memory"
    actions = ["dismiss"]

    opened_at = moment_column("created_at", "opened")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Conflict]:
        """Return cards with the mark of those whose question may not be shown."""
        forgotten = ConflictMember.objects.filter(conflict=OuterRef("pk")).exclude(
            memory__forgotten_at=None
        )
        found: QuerySet[Conflict] = super().get_queryset(request)
        return found.annotate(is_withheld=Exists(forgotten))

    @display(description="question")  # not ordered by: the order would tell withheld texts
    def shown(self, card: Conflict) -> str:
        """Return the question, unless it may quote something forgotten."""
        return format_html('<span class="eg-cell">{}</span>', self.name_of(card))

    def name_of(self, row: Any) -> str:
        """Return the question, unless it may quote something forgotten."""
        return show.WITHHELD if row.is_withheld else str(row.question)

    @display(
        description="status",
        ordering="status",
        label={"Open": "warning", "Resolved": "success", "Snoozed": "info"},
    )
    def status_label(self, card: Conflict) -> str:
        """Return the status."""
        return str(card.get_status_display())

    @display(
        description="severity", ordering="severity", label={"High": "danger", "Medium": "warning"}
    )
    def severity_label(self, card: Conflict) -> str:
        """Return the severity."""
        return str(card.get_severity_display())

    @display(description="found by")
    def found_by(self, card: Conflict) -> str:
        """Return who found it."""
        return ", ".join(card.detected_by)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Conflict], search_term: str
    ) -> tuple[QuerySet[Conflict], bool]:
        """Find cards by words of their question or their memories."""
        term = search_term.strip()
        if not term:
            return queryset, False
        found = queue.cards(queue.Wanted(status=queue.ALL, text=term)).order_by().values("pk")
        return queryset.filter(pk__in=found), False

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """Show one card, with the buttons of the console's page."""
        if not self.has_view_permission(request) or request.method != "GET":
            raise PermissionDenied
        card = self.get_object(request, unquote(object_id))
        if card is None:
            raise Http404
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

    @action(description="Dismiss: not a conflict", permissions=["act"])
    def dismiss(self, request: HttpRequest, rows: QuerySet[Conflict]) -> HttpResponse | None:
        """Say of several cards that the detector was wrong."""
        staff = staff_of(request)

        def work(chosen: QuerySet[Conflict]) -> int:
            return self.one_by_one(
                request,
                chosen,
                lambda card: resolve(
                    staff.workspace,
                    card.pk,
                    verdict=Verdict.DISMISS,
                    version=card.version,
                    actor=staff.actor,
                    now=timezone.now(),
                ),
            )

        return self.confirmed(
            request,
            rows.filter(status__in=WAITING),
            question="Dismiss {n} conflicts?",
            consequence="Their memories stay as they are, and the detective does not ask about "
            "these pairs again unless a statement changes. Each can be undone by itself.",
            button="Dismiss",
            done="{n} conflicts dismissed.",
            work=work,
        )


@admin.register(DetectionRun)
class DetectionRunAdmin(ReadOnlyAdmin):
    """What the detective did."""

    list_display = [
        "read_at", "status_label", "reason", "trigger_count", "facts_considered", "opened",
        "joined", "skipped", "lag", "duration", "model",
    ]  # fmt: skip
    list_filter = ["status", "reason"]
    empty_text = "The detective reads what is new within seconds of a commit; its runs stand here."

    read_at = moment_column("created_at", "read")
    lag = seconds_column("lag_seconds", "lag")
    duration = seconds_column("duration_seconds", "duration")

    @display(
        description="status",
        ordering="status",
        label={"done": "success", "failed": "danger", "running": "info"},
    )
    def status_label(self, run: DetectionRun) -> str:
        """Return how the run ended."""
        return str(run.status)
