"""API of relations between memories."""

from __future__ import annotations

from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from conflicts import serializers as shapes
from conflicts.services.reports.judge import judge
from engram.kernel.api import WorkspaceView, validate_body
from engram.kernel.models import Role
from memories.serializers import PendingSerializer


class MemoryRelations(WorkspaceView):
    """Relations of a memory to others."""

    roles = {"POST": Role.AGENT}

    @extend_schema(
        request=shapes.RelationSerializer,
        responses={201: shapes.RelatedSerializer, 202: PendingSerializer},
    )
    def post(self, request: Request, memory_id: UUID) -> Response:
        """Record how a memory relates to another, such as one of those `nearby` at its commit.

        A contradiction joins or opens a card, `same` and `refines` suggest a merge, `different` is
        stored. `replaces` supersedes the other memory where the caller may do that, as a commit
        with `supersedes` would; else it waits for a reviewer (202). A later answer by the same key
        replaces this one.
        """
        body = validate_body(shapes.RelationSerializer, request).validated_data
        judged = judge(
            self.workspace,
            memory_id,
            other_id=body["other"],
            relation=body["relation"],
            reason=body["reason"],
            actor=self.actor,
            now=timezone.now(),
        )
        if judged.review is not None:
            return Response({"status": "pending", "review": judged.review.id}, status=202)
        return Response(shapes.present_judged(judged), status=201)
