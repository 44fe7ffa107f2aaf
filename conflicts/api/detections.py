"""API of detection: queue memories, list runs, quality."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from conflicts import serializers as shapes
from conflicts.models import DetectionRun
from conflicts.services.detection import quality
from conflicts.services.due import queue_memories
from engram.kernel.api import WorkspaceView, validate_body
from engram.kernel.causes import NOT_ALLOWED
from engram.kernel.models import Role
from engram.kernel.refusals import ForbiddenError, MissingError


class ConflictQuality(WorkspaceView):
    """Detection quality."""

    query_shape = shapes.QualityPeriodSerializer

    @extend_schema(responses=shapes.QualitySerializer)
    def get(self, request: Request) -> Response:
        """Return the shares of conflicts that people confirmed and dismissed, with 95 % intervals.

        Verdicts that were not undone count, by the time they were given. Confirmed is any verdict
        except dismiss; both_valid is one of them and also counted separately.
        """
        period = self.query_values()
        found = quality.measure(since=period["since"], until=period["until"] or timezone.now())
        return Response(shapes.present_quality(found))


class Detect(WorkspaceView):
    """Request for detection."""

    roles = {"POST": Role.AGENT}

    @extend_schema(request=shapes.DetectSerializer, responses={202: shapes.DetectAnswerSerializer})
    def post(self, request: Request) -> Response:
        """Queue detection of one memory or, for reviewers and above, of all live memories."""
        memory_id = validate_body(shapes.DetectSerializer, request).validated_data["memory_id"]
        if memory_id is None and not self.actor.role.includes(Role.REVIEWER):
            raise ForbiddenError(
                "Reading the whole story again needs the role reviewer.", cause=NOT_ALLOWED
            )
        queued = queue_memories(self.workspace, memory_id, now=timezone.now())
        return Response({"status": "queued", "memories": queued}, status=202)


class DetectionCollection(WorkspaceView, ListAPIView):  # type: ignore[type-arg]
    """The detection runs of the workspace."""

    serializer_class = shapes.DetectionRunSerializer
    filter_backends = ()

    def get_queryset(self) -> Any:
        """Return all runs."""
        return DetectionRun.objects.all()


class DetectionDetail(WorkspaceView):
    """One run."""

    @extend_schema(responses=shapes.DetectionRunSerializer)
    def get(self, request: Request, run_id: UUID) -> Response:
        """Show a run."""
        run = DetectionRun.objects.filter(pk=run_id).first()
        if run is None:
            raise MissingError("There is no such run.")
        return Response(shapes.DetectionRunSerializer(run).data)
