"""Filters of the lists of conflicts and of questions."""

from __future__ import annotations

from uuid import UUID

import django_filters
from django.db.models import QuerySet

from conflicts.core.rules.registry import RULES
from conflicts.models import Conflict, ConflictMember
from conflicts.models.card import ConflictKind, ConflictStatus, Severity
from conflicts.services.cards.queue import found_by_rule
from conflicts.services.questions.select import (
    AS_OF_MEANING,
    TEXT_MAX_CHARS,
    Wanted,
    refuse_many_words,
)
from engram.kernel.filters import MomentFilter, PastMomentFilter, StateFilter, StrictFilterSet
from memories.models import Memory, MemoryAnswer
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


class QuestionFilter(StrictFilterSet):
    """Filters of `GET /questions`; the rows are selected by `wanted`."""

    q = django_filters.CharFilter(
        max_length=TEXT_MAX_CHARS,
        validators=[refuse_many_words],
        label="Words that a question and one of its answers, also a former one, have, all of them",
    )
    scope = django_filters.CharFilter(
        max_length=300, label="The scope of a memory that answers it, or below"
    )
    disputed = django_filters.ChoiceFilter(
        choices=[("true", "True"), ("false", "False")],
        label="Whether a card asks which answer holds",
    )
    as_of = PastMomentFilter(label=AS_OF_MEANING)

    class Meta:
        model = MemoryAnswer
        fields: list[str] = []

    @property
    def wanted(self) -> Wanted:
        """Return the filters; only after `is_valid`."""
        fields = self.form.cleaned_data
        return Wanted(
            text=fields["q"],
            scope=fields["scope"],
            is_disputed={"true": True, "false": False}.get(fields["disputed"]),
            as_of=fields["as_of"],
        )
