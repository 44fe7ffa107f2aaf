"""API of muting: proposals, their answers, and unmuting."""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from conflicts import serializers as shapes
from conflicts.models import Muting, MutingStatus
from conflicts.services.muting import answer
from engram.kernel.api import WorkspaceView, validate_body
from engram.kernel.filters import StateFilter, StrictFilterSet
from engram.kernel.models import Role


class MutingFilter(StrictFilterSet):
    """`GET /mutings` filters."""

    status = StateFilter(MutingStatus.choices)

    class Meta:
        model = Muting
        fields: list[str] = []


class MutingCollection(WorkspaceView, ListAPIView):  # type: ignore[type-arg]
    """Proposals to mute a rule or a tier of the detective."""

    serializer_class = shapes.MutingSerializer
    filterset_class = MutingFilter

    def get_queryset(self) -> Any:
        """Return all proposals."""
        return Muting.objects.all()

    @extend_schema(responses=shapes.MutingSerializer(many=True))
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """List the proposals to mute a rule, newest first.

        One is made when the precision of a rule, or of a whole tier, lies below .5 with its 95 %
        interval over thirty verdicts. What is muted now is the setting `muted_rules`.
        """
        page = self.paginate_queryset(self.filter_queryset(self.get_queryset()))
        return self.get_paginated_response([shapes.present_muting(row) for row in page or []])


class AcceptMuting(WorkspaceView):
    """`POST /mutings/{id}/accept`."""

    roles: ClassVar = {"POST": Role.REVIEWER}

    @extend_schema(request=None, responses=shapes.MutingSerializer)
    def post(self, request: Request, muting_id: UUID) -> Response:
        """Mute the rule; what it finds from now on opens no conflicts, open ones stay."""
        done = answer.accept(self.workspace, muting_id, actor=self.actor, now=timezone.now())
        return Response(shapes.present_muting(done))


class RejectMuting(WorkspaceView):
    """`POST /mutings/{id}/reject`."""

    roles: ClassVar = {"POST": Role.REVIEWER}

    @extend_schema(request=None, responses=shapes.MutingSerializer)
    def post(self, request: Request, muting_id: UUID) -> Response:
        """Let the rule go on; only verdicts from now on lead to another proposal."""
        done = answer.reject(self.workspace, muting_id, actor=self.actor, now=timezone.now())
        return Response(shapes.present_muting(done))


class Unmute(WorkspaceView):
    """`POST /mutings/unmute`."""

    roles: ClassVar = {"POST": Role.REVIEWER}

    @extend_schema(request=shapes.UnmuteSerializer, responses=shapes.MutingSerializer)
    def post(self, request: Request) -> Response:
        """Let a muted rule find again; only verdicts from now on lead to another proposal."""
        rule = validate_body(shapes.UnmuteSerializer, request).validated_data["rule"]
        done = answer.unmute(self.workspace, rule, actor=self.actor, now=timezone.now())
        return Response(shapes.present_muting(done))
