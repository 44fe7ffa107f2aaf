"""Filters of the admin's list of conflicts."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils import timezone

from conflicts.core.rules.registry import RULES
from conflicts.core.titles import title_of
from conflicts.models import Decision
from conflicts.models.card import ConflictStatus
from conflicts.models.decision import Verdict
from conflicts.services.cards.queue import found_by_rule
from engram.kernel.list_filters import DefaultedFilter
from engram.kernel.models import Membership
from engram.kernel.pages import staff_of

FINDERS = {"rules": "Rules", "narrative": "Language model", "agent": "Agent", "person": "Person"}


class ConflictStatusFilter(DefaultedFilter):
    """Filter by status; open cards by default."""

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
    """Filter by finder."""

    title = "found by"
    parameter_name = "found_by"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Offer the finders."""
        return list(FINDERS.items())

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:
        """Keep cards that the finder found."""
        value = self.value()
        return queryset.filter(detected_by__contains=[value]) if value else queryset


class RuleFilter(admin.SimpleListFilter):
    """By the rule that opened it, or found it later."""

    title = "rule"
    parameter_name = "rule"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Offer the rules."""
        return [(rule.id, title_of(rule.id)) for rule in RULES]

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:
        """Keep cards that the rule found."""
        value = self.value()
        if not value:
            return queryset
        known = {key for key, _ in self.lookup_choices}
        return queryset.filter(found_by_rule(value)) if value in known else queryset.none()


class AssigneeFilter(admin.SimpleListFilter):
    """Filter by assignee."""

    title = "assigned to"
    parameter_name = "assignee"
    nobody = "nobody"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Offer nobody, and the members of the workspace."""
        members = Membership.objects.filter(workspace=staff_of(request).workspace)
        named = members.order_by("user__username").values_list("user_id", "user__username")
        return [(self.nobody, "Nobody"), *((str(pk), name) for pk, name in named[:100])]

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:
        """Keep cards of the member."""
        value = self.value()
        if not value:
            return queryset
        if value == self.nobody:
            return queryset.filter(assignee=None)
        known = {key for key, _ in self.lookup_choices}
        return queryset.filter(assignee=value) if value in known else queryset.none()


class VerdictFilter(admin.SimpleListFilter):
    """Filter by the current verdict."""

    title = "verdict"
    parameter_name = "verdict"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Offer the verdicts."""
        return list(Verdict.choices)

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:
        """Keep cards that were decided so."""
        if not self.value():
            return queryset
        current = Decision.objects.filter(undone_at=None, verdict=self.value())
        return queryset.filter(pk__in=current.values("conflict_id"))


class OpenedFilter(admin.SimpleListFilter):
    """Filter by the time a card was opened."""

    title = "opened"
    parameter_name = "opened"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Offer periods."""
        return [("1", "In a day"), ("7", "In a week"), ("30", "In 30 days"), ("90", "In 90 days")]

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:
        """Keep cards of the period."""
        days = self.value() or ""
        if days not in {key for key, _ in self.lookup_choices}:
            return queryset
        return queryset.filter(created_at__gte=timezone.now() - timedelta(days=int(days)))
