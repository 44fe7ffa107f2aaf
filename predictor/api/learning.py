"""API of trainings and drift."""

from __future__ import annotations

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from engram.kernel.api import WorkspaceView
from memories.api.sessions import NewestStartFirst
from predictor.models import Comparison, Training
from predictor.serializers.training import (
    DriftQuerySerializer,
    DriftSerializer,
    TrainingSerializer,
    present_drift,
)
from predictor.services.judging.drift import judge_drift
from predictor.services.state import governor_of, state_of


class Trainings(WorkspaceView, ListAPIView):  # type: ignore[type-arg]
    """The trainings of the workspace, newest first."""

    serializer_class = TrainingSerializer
    pagination_class = NewestStartFirst
    filter_backends = ()

    def get_queryset(self) -> Any:
        """Return all trainings."""
        return Training.objects.defer("trained_session_ids")


class Drift(WorkspaceView):
    """Drift of the predictor and of its judge."""

    query_shape = DriftQuerySerializer

    @extend_schema(responses=DriftSerializer)
    def get(self, request: Request) -> Response:
        """Return the served and the literal drift rule over time, and the judge's drift."""
        limit = self.query_values()["limit"]
        newest = Comparison.objects.select_related("session").only(
            "margin",
            "evidence",
            "phase",
            "alpha",
            "success_rate",
            "literal_alpha",
            "is_drift_reset",
            "is_literal_reset",
            "created_at",
            "session__session_key",
        )
        governor = governor_of(state_of())
        shown = present_drift(
            list(newest[:limit])[::-1],
            judge_drift(timezone.now()),
            drift_resets=governor.drift_resets,
            literal_resets=governor.literal.resets,
        )
        return Response(shown)
