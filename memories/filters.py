"""Filters of `GET /memories`."""

from __future__ import annotations

from typing import Any

import django_filters
from django.db.models import QuerySet

from engram.kernel.filters import MomentFilter, StateFilter, StrictFilterSet
from memories.core.text import terms
from memories.models import (
    Kind,
    Memory,
    Provenance,
    Review,
    ReviewStatus,
    State,
)
from memories.models.memory import in_scope
from memories.services.index.filters import with_tag, with_words


class MemoryFilter(StrictFilterSet):
    """`GET /memories` filters; the state defaults to active."""

    q = django_filters.CharFilter(method="by_words", max_length=500, label="Full text: all words")
    scope = django_filters.CharFilter(method="by_scope", label="A scope and all below it")
    project = django_filters.CharFilter(field_name="project")
    kind = django_filters.ChoiceFilter(choices=Kind.choices)
    provenance = django_filters.ChoiceFilter(choices=Provenance.choices)
    agent = django_filters.CharFilter(field_name="agent")
    session_key = django_filters.CharFilter(field_name="session_key")
    tag = django_filters.CharFilter(method="by_tag", label="One tag")
    state = StateFilter(State.choices, keep="in_state", label="State (default: active)")
    trust = django_filters.ChoiceFilter(
        method="by_trust",
        choices=[("pending", "Pending")],
        label="pending: a review is pending (memories in any state)",
    )
    created_after = MomentFilter(field_name="created_at", lookup_expr="gte")
    created_before = MomentFilter(field_name="created_at", lookup_expr="lt")

    class Meta:
        model = Memory
        fields: list[str] = []

    def filter_queryset(self, queryset: Any) -> Any:
        """Keep active memories if no state is given."""
        filters = self.form.cleaned_data
        if not (filters.get("state") or filters.get("trust")):
            queryset = queryset.recallable()
        return super().filter_queryset(queryset)

    def by_words(self, queryset: QuerySet[Memory], name: str, value: str) -> QuerySet[Memory]:
        """Keep memories that contain all words (stemmed)."""
        words = terms(value)
        return with_words(queryset, words) if words else queryset.none()

    def by_scope(self, queryset: QuerySet[Memory], name: str, value: str) -> QuerySet[Memory]:
        """Keep memories in the scope or below."""
        return queryset.filter(in_scope(value.strip("/")))

    def by_tag(self, queryset: QuerySet[Memory], name: str, value: str) -> QuerySet[Memory]:
        """Keep memories with the tag."""
        return with_tag(queryset, value)

    def in_state(self, queryset: Any, value: str) -> Any:
        """Keep memories whose strongest state is `value`."""
        return queryset.in_state(value)

    def by_trust(self, queryset: QuerySet[Memory], name: str, value: str) -> QuerySet[Memory]:
        """Keep memories with a pending review."""
        waiting = Review.objects.filter(status=ReviewStatus.PENDING)
        return queryset.filter(pk__in=waiting.values("memory_id"))
