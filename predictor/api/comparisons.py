"""Comparisons of the two rankings, and everything that is recorded of one session."""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.generics import ListAPIView
from rest_framework.pagination import LimitOffsetPagination
from rest_framework.request import Request
from rest_framework.response import Response

from engram.kernel.api import WorkspaceView
from engram.kernel.models import Role
from engram.kernel.pagination import MAX_LIMIT, asked_number
from engram.kernel.refusals import MissingError
from memories.api.sessions import KEY
from memories.services.sessions.prompts import NO_SUCH_SESSION
from predictor.filters import ComparisonFilter
from predictor.models import Comparison
from predictor.serializers.comparison import ComparisonSerializer
from predictor.serializers.record import (
    AuditSerializer,
    InspectedComparisonSerializer,
    present_audit,
    present_inspected,
)
from predictor.services.status.records import record_of, record_of_comparison

MAX_OFFSET = 1_000_000_000


class LimitOffset(LimitOffsetPagination):
    """Pages by `limit` and `offset`, with the count; a wrong number is an error, no default."""

    query_names = frozenset({"limit", "offset"})
    default_limit = 50
    max_limit = MAX_LIMIT

    def get_limit(self, request: Request) -> int:
        """Return the page size."""
        return asked_number(request, "limit", least=1, most=MAX_LIMIT, default=self.default_limit)

    def get_offset(self, request: Request) -> int:
        """Return how many rows are skipped."""
        return asked_number(request, "offset", least=0, most=MAX_OFFSET, default=0)

    def get_previous_link(self) -> str | None:
        """Return the page before; from beyond the end that is the last one with rows."""
        self.offset = min(self.offset or 0, self.count or 0)
        link: str | None = super().get_previous_link()
        return link

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        """Describe the parameters with their bounds."""
        parameters: list[dict[str, Any]] = super().get_schema_operation_parameters(view)
        for parameter in parameters:
            is_limit = parameter["name"] == "limit"
            parameter["schema"] |= (
                {"minimum": 1, "maximum": MAX_LIMIT, "default": self.default_limit}
                if is_limit
                else {"minimum": 0, "maximum": MAX_OFFSET, "default": 0}
            )
        return parameters


class Comparisons(WorkspaceView, ListAPIView):  # type: ignore[type-arg]
    """The comparisons of the workspace."""

    serializer_class = ComparisonSerializer
    filterset_class = ComparisonFilter
    pagination_class = LimitOffset

    def get_queryset(self) -> Any:
        """Return all comparisons, newest first."""
        return Comparison.objects.select_related("session").defer(
            "evidence", "session__transcript", "session__context", "session__context_embedding"
        )

    @extend_schema(responses=ComparisonSerializer(many=True))
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """List comparisons, newest first."""
        return super().list(request, *args, **kwargs)


class ComparisonDetail(WorkspaceView):
    """One comparison."""

    @extend_schema(responses=InspectedComparisonSerializer)
    def get(self, request: Request, comparison_id: UUID) -> Response:
        """Show both lists side by side, what the judge said, and what it did to the evidence."""
        record = record_of_comparison(comparison_id, now=timezone.now())
        if record is None or record.comparison is None:
            raise MissingError("There is no such comparison.")
        return Response(present_inspected(record, record.comparison))


class Audit(WorkspaceView):
    """All records of a session."""

    roles: ClassVar = {"GET": Role.READER}

    @extend_schema(parameters=[KEY], responses=AuditSerializer)
    def get(self, request: Request, session_key: str) -> Response:
        """Show candidates with ranks, scores and labels, judgement, comparison and trainings."""
        record = record_of(session_key, now=timezone.now())
        if record is None:
            raise MissingError(NO_SUCH_SESSION)
        return Response(present_audit(record))
