"""Filters of the list of conflicts."""

from __future__ import annotations

from uuid import UUID

import django_filters
from django.db.models import QuerySet

from conflicts.core.rules.registry import RULES
from conflicts.models import Conflict, ConflictMember
from conflicts.models.card import ConflictKind, ConflictStatus, Severity
from conflicts.services.cards.queue import found_by_rule
from engram.kernel.filters import MomentFilter, StateFilter, StrictFilterSet
from memories.models import Memory
from memories.models.memory import in_scope


class ConflictFilter(StrictFilterSet):
    """Filters of `GET /conflicts`."""

    status = StateFilter(ConflictStatus.choices, label="Status (default: all)")
    kind = django_filters.ChoiceFilter(choices=ConflictKind.choices)
    severity = django_filters.ChoiceFilter(choices=Severity.choices)
    rule = django_filters.ChoiceFilter(
        choices=[(rule.id, rule.meaning) for rule in RULES],
        method="by_rule",
        label="A rule that found it: the first or a further one",
    )
    scope = django_filters.CharFilter(method="by_scope", label="A scope of a member, or below")
    memory_id = django_filters.UUIDFilter(method="by_memory", label="A member")
    since = MomentFilter(field_name="created_at", lookup_expr="gte")

    class Meta:
        model = Conflict
        fields: list[str] = []

    def by_rule(self, queryset: QuerySet[Conflict], name: str, value: str) -> QuerySet[Conflict]:
        """Keep cards that the rule opened, or found later."""
        return queryset.filter(found_by_rule(value))

    def by_scope(self, queryset: QuerySet[Conflict], name: str, value: str) -> QuerySet[Conflict]:
        """Keep cards with a member in the scope or below."""
        inside = Memory.objects.filter(in_scope(value.strip("/")))
        members = ConflictMember.objects.filter(memory__in=inside)
        return queryset.filter(pk__in=members.values("conflict_id"))

    def by_memory(self, queryset: QuerySet[Conflict], name: str, value: UUID) -> QuerySet[Conflict]:
        """Keep cards with this member."""
        members = ConflictMember.objects.filter(memory=value)
        return queryset.filter(pk__in=members.values("conflict_id"))
