"""Filters of the list of comparisons."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import django_filters
from django.db.models import Q, QuerySet
from drf_spectacular.utils import extend_schema_field

from engram.kernel.filters import MomentFilter, StrictFilterSet
from predictor.models import Comparison
from predictor.models.comparison import WINNERS

OUTCOMES = {winner: outcome for outcome, winner in WINNERS.items()}


@extend_schema_field(
    {"type": "number", "minimum": 0, "maximum": 1, "description": "This far apart, either way."}
)
class ShareFilter(django_filters.NumberFilter):
    """Compares with a number from 0 to 1, and tells so in the API's description."""

    def __init__(self, **kwargs: Any):
        super().__init__(min_value=0, max_value=1, **kwargs)

    def get_max_validator(self) -> None:
        """Return no second bound: what is over 1 is told once."""


class ComparisonFilter(StrictFilterSet):
    """`GET /predictor/comparisons` filters."""

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
        """Keep those that one of the two won, that were a tie, or void."""
        return queryset.filter(outcome=OUTCOMES[value])

    def by_evidence(
        self, queryset: QuerySet[Comparison], name: str, value: str
    ) -> QuerySet[Comparison]:
        """Keep those that moved the evidence, or those that did not."""
        return queryset.filter(is_evidence=value == "true")

    def by_margin(
        self, queryset: QuerySet[Comparison], name: str, value: Decimal
    ) -> QuerySet[Comparison]:
        """Keep those in which the two rankings were so far apart."""
        least: Any = float(value)
        return queryset.filter(Q(margin__gte=least) | Q(margin__lte=-least))
