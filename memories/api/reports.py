"""API view of what agents reported at the end of their sessions: what was wrong or missing."""

from __future__ import annotations

from typing import Any

import django_filters
from drf_spectacular.utils import extend_schema
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from engram.kernel.api import WorkspaceView
from engram.kernel.filters import MomentFilter, StrictFilterSet
from engram.kernel.pagination import NewestFirst
from memories.models import ReportItem
from memories.serializers import report as shapes
from memories.services.sessions.reported import WITH_TEXT, containing, said_by_agents

WORDS_MAX_CHARS = 200


class ReportFilter(StrictFilterSet):
    """`GET /session-reports` filters."""

    kind = django_filters.ChoiceFilter(choices=[(kind.value, kind.label) for kind in WITH_TEXT])
    q = django_filters.CharFilter(
        method="by_words", max_length=WORDS_MAX_CHARS, label="Part of the text"
    )
    session_key = django_filters.CharFilter(field_name="session__session_key")
    project = django_filters.CharFilter(field_name="session__project")
    memory_id = django_filters.UUIDFilter(field_name="memory")
    since = MomentFilter(field_name="created_at", lookup_expr="gte", label="Reported since")

    class Meta:
        model = ReportItem
        fields: list[str] = []

    def by_words(self, queryset: Any, name: str, value: str) -> Any:
        """Keep what contains the words; what is withheld is not searched."""
        return containing(queryset, value)


class SessionReports(WorkspaceView, ListAPIView):  # type: ignore[type-arg]
    """`GET /session-reports`."""

    serializer_class = shapes.ReportItemSerializer
    filterset_class = ReportFilter
    pagination_class = NewestFirst

    def get_queryset(self) -> Any:
        """Return all that was wrong or missing."""
        return said_by_agents()

    @extend_schema(responses=shapes.ReportItemSerializer(many=True))
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """List what agents reported as missing from memory, or as wrong, newest first."""
        page = self.paginate_queryset(self.filter_queryset(self.get_queryset())) or []
        return self.get_paginated_response(shapes.present_items(page))
