"""API views of extraction: queue a transcript, list and decide about what was refused."""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID

import django_filters
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from engram.kernel.api import WorkspaceView, validate_body
from engram.kernel.filters import StateFilter, StrictFilterSet
from engram.kernel.models import Role
from engram.kernel.pagination import NewestFirst
from engram.kernel.tenancy import in_workspace
from memories.core.extraction.floor import REASONS
from memories.models import ExtractionRefusal, RefusalDecision
from memories.serializers import extraction as shapes
from memories.services.extraction import refusals
from memories.services.extraction.queue import queue_transcript


class Extract(WorkspaceView):
    """`POST /memories/extract`."""

    max_body_bytes = 6 * 1024 * 1024  # a transcript of 400,000 characters, escaped

    @extend_schema(request=shapes.TranscriptSerializer, responses={202: shapes.QueuedSerializer})
    def post(self, request: Request) -> Response:
        """Queue a transcript: what is worth keeping of it becomes memories in the background.

        The facts are committed in the caller's name, with no more trust than its key has. 409 when
        the workspace's setting `extraction_enabled` is off.
        """
        sent = validate_body(shapes.TranscriptSerializer, request).validated_data
        self.charge([sent["transcript"]])
        job = queue_transcript(self.workspace, **sent, actor=self.actor, now=timezone.now())
        return Response({"job": job.id}, status=202)


class RefusalFilter(StrictFilterSet):
    """`GET /memories/extraction-refusals` filters."""

    decision = StateFilter(RefusalDecision.choices, label="Decision (default: all)")
    reason = django_filters.ChoiceFilter(choices=[(reason, reason) for reason in REASONS])
    session_key = django_filters.CharFilter(field_name="session_key")
    job = django_filters.UUIDFilter(field_name="job")
    borderline = django_filters.ChoiceFilter(
        choices=[("true", "Yes"), ("false", "No")],
        method="by_doubt",
        label="Whether a person is asked about it in the inbox",
    )

    class Meta:
        model = ExtractionRefusal
        fields: list[str] = []

    def by_doubt(self, queryset: Any, name: str, value: str) -> Any:
        """Keep the statements of which a person is asked, or the others."""
        return queryset.filter(is_borderline=value == "true")


class RefusalCollection(WorkspaceView, ListAPIView):  # type: ignore[type-arg]
    """`GET /memories/extraction-refusals`."""

    default_read_role = Role.REVIEWER
    serializer_class = shapes.RefusalSerializer
    filterset_class = RefusalFilter
    pagination_class = NewestFirst

    def get_queryset(self) -> Any:
        """Return all refusals."""
        return ExtractionRefusal.objects.all()

    @extend_schema(responses=shapes.RefusalSerializer(many=True))
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """List statements of transcripts that were not kept, newest first, for 30 days."""
        return super().list(request, *args, **kwargs)


class _Decide(WorkspaceView):
    roles: ClassVar = {"POST": Role.REVIEWER}
    verb: Any = None

    def decide(self, refusal_id: UUID) -> Response:
        refusal = type(self).verb(self.workspace, refusal_id, actor=self.actor, now=timezone.now())
        with in_workspace(self.workspace):
            return Response(shapes.RefusalSerializer(refusal).data)


class AcceptRefusal(_Decide):
    """`POST /memories/extraction-refusals/{id}/accept`."""

    verb = staticmethod(refusals.keep)

    @extend_schema(request=None, responses=shapes.RefusalSerializer)
    def post(self, request: Request, refusal_id: UUID) -> Response:
        """Commit the refused statement after all; 409 when it is decided.

        Where exactly this was forgotten, that memory is brought back. `undo` takes both back.
        """
        return self.decide(refusal_id)


class RejectRefusal(_Decide):
    """`POST /memories/extraction-refusals/{id}/reject`."""

    verb = staticmethod(refusals.leave_out)

    @extend_schema(request=None, responses=shapes.RefusalSerializer)
    def post(self, request: Request, refusal_id: UUID) -> Response:
        """Agree with the refusal; 409 when it is decided."""
        return self.decide(refusal_id)


class UndoRefusal(_Decide):
    """`POST /memories/extraction-refusals/{id}/undo`."""

    verb = staticmethod(refusals.take_back)

    @extend_schema(request=None, responses=shapes.RefusalSerializer)
    def post(self, request: Request, refusal_id: UUID) -> Response:
        """Take a decision about it back; 409 when it is not decided.

        The memory that keeping it created, or brought back, is forgotten, unless it was changed or
        said again since.
        """
        return self.decide(refusal_id)
