"""API of comparisons of the two rankings, and of all records of one session."""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from engram.kernel.api import WorkspaceView
from engram.kernel.models import Role
from engram.kernel.pagination import LimitOffset
from engram.kernel.refusals import MissingError
from memories.api.sessions import KEY
from memories.services.sessions.access import NO_SUCH_SESSION
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


class ComparisonCollection(WorkspaceView, ListAPIView):  # type: ignore[type-arg]
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
        """Show both rankings, the judge's answer, and the change of the evidence."""
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
