"""API views for operators: diagnostics, latencies, errors, timelines, processes."""

from __future__ import annotations

from datetime import timedelta
from itertools import chain
from typing import Any

import django_filters
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from engram.console import operations_shapes as shapes
from engram.console.diagnostics.diagnose import diagnose
from engram.console.diagnostics.predictor import predictor
from engram.console.pipeline import pipeline
from engram.console.timeline import timeline
from engram.kernel import latency
from engram.kernel.api import WorkspaceView
from engram.kernel.filters import MomentFilter, StrictFilterSet
from engram.kernel.models import Role, StageError
from engram.kernel.pagination import NewestEventFirst
from engram.kernel.paths import SESSION_KEY_MAX_CHARS
from engram.kernel.telemetry import CODES, STAGES
from predictor.services.status.shown_scoreboard import shown_scoreboard


class Diagnostics(WorkspaceView):
    """The health of all parts of the service."""

    @extend_schema(responses=shapes.DiagnosticsSerializer)
    def get(self, request: Request) -> Response:
        """Return the score, status and fields of each part; the overall status is the worst."""
        found = diagnose(self.workspace, now=timezone.now())
        return Response(shapes.DiagnosticsSerializer(found).data)


class PredictorDiagnostics(WorkspaceView):
    """The health of the predictor."""

    @extend_schema(responses=shapes.PredictorDomainSerializer)
    def get(self, request: Request) -> Response:
        """Return the predictor's score, status and fields."""
        found = predictor(self.workspace, now=timezone.now(), board=shown_scoreboard())
        return Response(shapes.PredictorDomainSerializer(found).data)


class Latencies(WorkspaceView):
    """The latencies of the stages."""

    query_shape = shapes.LatencyAskedSerializer

    @extend_schema(responses=shapes.LatenciesSerializer)
    def get(self, request: Request) -> Response:
        """Return count, mean and percentiles of every stage; a window starts at a full hour.

        The last five seconds may be missing.
        """
        window = self.query_values()["window"]
        since = timezone.now() - timedelta(hours=shapes.WINDOWS[window])
        since = since.replace(minute=0, second=0, microsecond=0)
        found = latency.read_latencies(STAGES, since=since)
        stages = [_in_milliseconds(one) for one in found.values()]
        answer = {"window": window, "since": since, "stages": stages}
        return Response(shapes.LatenciesSerializer(answer).data)


def _in_milliseconds(found: latency.Latency) -> dict[str, Any]:
    figures = {
        f"{name}_ms": None if seconds is None else round(seconds * 1000, 4)
        for name in ("mean", "p50", "p95", "p99", "last")
        for seconds in [getattr(found, name)]
    }
    return {"stage": found.stage, "count": found.count, "last_at": found.last_at, **figures}


class ErrorFilter(StrictFilterSet):
    """`GET /analytics/errors` filters."""

    stage = django_filters.ChoiceFilter(
        choices=[(stage, stage) for stage in sorted({*STAGES, *CODES})], label="What failed"
    )
    code = django_filters.ChoiceFilter(
        choices=[(code, code) for code in sorted(chain(*CODES.values()))], label="How"
    )
    session_key = django_filters.CharFilter(field_name="session_key")
    since = MomentFilter(field_name="at", lookup_expr="gte")

    class Meta:
        model = StageError
        fields: list[str] = []


class NewestErrorFirst(NewestEventFirst):
    """Cursor pagination of errors by number."""

    ordering = ("-id",)


class Errors(WorkspaceView, ListAPIView):  # type: ignore[type-arg]
    """The last 500 failures of the workspace; `detail` is empty for all but admins."""

    serializer_class = shapes.ErrorSerializer
    filterset_class = ErrorFilter
    pagination_class = NewestErrorFirst

    def get_queryset(self) -> Any:
        """Return all stored errors."""
        return StageError.objects.all()

    def get_serializer_context(self) -> dict[str, Any]:
        """Return whether the caller may read error details."""
        return {**super().get_serializer_context(), "shows_details": _is_admin(self)}


class SessionTimelineView(WorkspaceView):
    """The timeline of a session."""

    @extend_schema(
        parameters=[
            OpenApiParameter(
                "session_key",
                {"type": "string", "minLength": 1, "maxLength": SESSION_KEY_MAX_CHARS},
                OpenApiParameter.PATH,
                description="The session's key, percent-encoded (slashes too).",
            )
        ],
        responses=shapes.TimelineSerializer,
    )
    def get(self, request: Request, session_key: str) -> Response:
        """Return the session's memories, rankings, judging and errors, oldest first."""
        found = timeline(session_key, now=timezone.now(), shows_details=_is_admin(self))
        return Response(shapes.TimelineSerializer(found).data)


class PipelineStatus(WorkspaceView):
    """The running processes."""

    @extend_schema(responses=shapes.PipelineSerializer)
    def get(self, request: Request) -> Response:
        """Return the processes with their counts for this workspace.

        Admins see the names of processes, which contain machine and process id; others see numbers.
        """
        found = pipeline(self.workspace, now=timezone.now(), tells_names=_is_admin(self))
        return Response(shapes.PipelineSerializer(found).data)


def _is_admin(view: WorkspaceView) -> bool:
    return view.actor.role.includes(Role.ADMIN)
