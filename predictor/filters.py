"""Filters of the list of comparisons."""

from __future__ import annotations

import django_filters
from django.db.models import Q, QuerySet

from engram.kernel.filters import MomentFilter, ShareFilter, StrictFilterSet
from predictor.models import Comparison
from predictor.models.comparison import WINNERS

OUTCOMES = {winner: outcome for outcome, winner in WINNERS.items()}


class ComparisonFilter(StrictFilterSet):
    """Filters of `GET /predictor/comparisons`."""

    winner = django_filters.ChoiceFilter(
        method="by_winner",
        choices=[(winner, winner.title()) for winner in OUTCOMES],
        label="Who ranked better",
    )
    ema_updated = django_filters.ChoiceFilter(
        method="by_evidence",
        choices=[("true", "True"), ("false", "False")],
        label="Whether it moved the evidence",
    )
    min_margin = ShareFilter(method="by_margin", label="At least this far apart, either way")
    since = MomentFilter(field_name="created_at", lookup_expr="gte")
    until = MomentFilter(field_name="created_at", lookup_expr="lt")

    class Meta:
        model = Comparison
        fields: list[str] = []

    def by_winner(
        self, queryset: QuerySet[Comparison], name: str, value: str
    ) -> QuerySet[Comparison]:
        """Keep comparisons with this winner, ties, or void ones."""
        return queryset.filter(outcome=OUTCOMES[value])

    def by_evidence(
        self, queryset: QuerySet[Comparison], name: str, value: str
    ) -> QuerySet[Comparison]:
        """Keep comparisons that changed the evidence, or those that did not."""
        return queryset.filter(is_evidence=value == "true")

    def by_margin(
        self, queryset: QuerySet[Comparison], name: str, value: float
    ) -> QuerySet[Comparison]:
        """Keep comparisons whose margin is at least this large, in either direction."""
        return queryset.filter(Q(margin__gte=value) | Q(margin__lte=-value))
