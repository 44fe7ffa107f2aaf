"""API views to commit, list, show, revise and erase memories."""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from engram.kernel.api import WorkspaceView, validate_body
from engram.kernel.models import Role
from engram.kernel.pagination import NewestEventFirst
from engram.kernel.refusals import MissingError
from engram.kernel.tenancy import in_workspace
from memories import serializers as shapes
from memories.filters import MemoryFilter
from memories.models import Memory, Review
from memories.services.commit.commit import Committed, commit, commit_all
from memories.services.lifecycle import attached
from memories.services.lifecycle.erase import erase
from memories.services.lifecycle.revise import revise

CREATED = {"created", "kept_apart", "suggested"}


def visible_to(role: Role) -> Any:
    """Return the memories that a role may list: forgotten ones only if it may restore them."""
    memories = Memory.objects.all()
    return memories if role.includes(Role.AGENT) else memories.filter(forgotten_at=None)


def _embedded(fields: dict[str, Any]) -> str:
    """Return what will be embedded of a body, for its charge."""
    questions = (answer.question for answer in fields.get("answers", ()))
    return "".join([fields.get("content", ""), *questions])


class MemoryCollection(WorkspaceView, ListAPIView):  # type: ignore[type-arg]
    """The memories of the workspace."""

    serializer_class = shapes.MemorySerializer
    filterset_class = MemoryFilter

    def get_queryset(self) -> Any:
        """Return all memories; the filter keeps active ones by default."""
        return Memory.objects.all()

    @extend_schema(responses=shapes.MemorySerializer(many=True))
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """List memories, newest first."""
        page = self.paginate_queryset(self.filter_queryset(visible_to(self.actor.role)))
        return self.get_paginated_response(shapes.present(page or []))

    @extend_schema(
        request=shapes.DraftSerializer,
        responses={
            201: shapes.CommittedSerializer,
            200: shapes.CommittedSerializer,
            202: shapes.PendingSerializer,
        },
    )
    def post(self, request: Request) -> Response:
        """Commit one memory."""
        body = validate_body(shapes.DraftSerializer, request)
        self.charge([_embedded(body.validated_data)])
        result = commit(self.workspace, body.as_draft(), actor=self.actor, now=timezone.now())
        if result.review is not None:
            return Response({"status": "pending", "review": result.review}, status=202)
        answer = self.show([result])[0]
        return Response(answer, status=201 if result.outcome in CREATED else 200)

    def show(self, results: list[Committed]) -> list[dict[str, Any]]:
        """Return the JSON of commit results."""
        if all(result.links is not None for result in results):  # nothing to look up
            return shapes.present_committed(results)
        with in_workspace(self.workspace):
            return shapes.present_committed(results)


class MemoryBatch(MemoryCollection):
    """Many commits at once."""

    http_method_names = ["post", "options"]
    max_body_bytes = 24 * 1024 * 1024  # 500 memories of 8,000 characters, escaped
    max_body_values = 200_000

    @extend_schema(request=shapes.BatchSerializer, responses={201: shapes.BatchAnswerSerializer})
    def post(self, request: Request) -> Response:
        """Commit up to 500 memories, all or none; the results are in the order of the request."""
        body = validate_body(shapes.BatchSerializer, request)
        drafts = [shapes.draft_of(fields) for fields in body.validated_data["memories"]]
        self.charge(_embedded(fields) for fields in body.validated_data["memories"])
        results = commit_all(self.workspace, drafts, actor=self.actor, now=timezone.now())
        shown = zip(self.show(results), results, strict=True)
        answers = [answer | {"review": result.review} for answer, result in shown]
        return Response({"results": answers}, status=201)


class MemoryDetail(WorkspaceView):
    """One memory."""

    roles: ClassVar = {"DELETE": Role.ADMIN}

    @extend_schema(responses=shapes.MemorySerializer)
    def get(self, request: Request, memory_id: UUID) -> Response:
        """Show a memory in any state."""
        memory = visible_to(self.actor.role).filter(pk=memory_id).first()
        if memory is None:
            raise MissingError("There is no such memory.")
        return Response(shapes.present_one(memory))

    @extend_schema(
        request=shapes.RevisionSerializer,
        responses={200: shapes.MemorySerializer, 202: shapes.PendingSerializer},
    )
    def patch(self, request: Request, memory_id: UUID) -> Response:
        """Change a memory: a new revision, the old wording stays in its history."""
        body = validate_body(shapes.RevisionSerializer, request)
        self.charge([_embedded(body.validated_data)])
        memory = revise(
            self.workspace, memory_id, body.validated_data, actor=self.actor, now=timezone.now()
        )
        if isinstance(memory, Review):
            return Response({"status": "pending", "review": memory.id}, status=202)
        with in_workspace(self.workspace):
            return Response(shapes.present_one(memory))

    @extend_schema(responses={204: None})
    def delete(self, request: Request, memory_id: UUID) -> Response:
        """Erase a memory permanently, with every copy of its text; history records the erasure."""
        erase(self.workspace, memory_id, actor=self.actor, now=timezone.now())
        return Response(status=204)


class MemoryHistory(WorkspaceView, ListAPIView):  # type: ignore[type-arg]
    """The history of one memory."""

    serializer_class = shapes.HistoryEntrySerializer
    pagination_class = NewestEventFirst
    filter_backends = ()

    @extend_schema(responses=shapes.HistoryEntrySerializer(many=True))
    def get(self, request: Request, memory_id: UUID) -> Response:
        """List the memory's events (commits, revisions, merges, conflicts, …), newest first."""
        if not visible_to(self.actor.role).filter(pk=memory_id).exists():
            raise MissingError("There is no such memory.")
        page = self.paginate_queryset(attached.events_of(memory_id)) or []
        rows = attached.add_wordings(memory_id, page)
        return self.get_paginated_response(shapes.HistoryEntrySerializer(rows, many=True).data)
