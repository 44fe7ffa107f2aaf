"""API views of the janitor: preview, runs, actions, undo."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from engram.kernel.api import WorkspaceView, validate_body
from engram.kernel.models import Role
from engram.kernel.pagination import ById, NewestFirst
from engram.kernel.refusals import MissingError
from engram.kernel.tenancy import in_workspace
from memories.models import JanitorAction, JanitorRun
from memories.serializers import janitor as shapes
from memories.services.janitor.run import RunPreview, preview, run
from memories.services.janitor.undo import undo_action, undo_run

ROUTE = "/api/v1/janitor/preview"


class NewestRunFirst(NewestFirst):
    """Pagination of runs."""

    ordering = ("-started_at", "-id")


class ByMemory(ById):
    """Pagination of the actions of one run, by memory."""

    ordering = ("memory_id",)


def present_preview(found: RunPreview, request: Request, *, limit: int) -> dict[str, Any]:
    """Return the JSON of a preview; the link to the next page keeps the `cull` parameter."""
    rows = shapes.present_findings(found.findings)
    after = None
    if found.has_more:
        query = {"after": rows[-1]["memory"]["id"], "limit": limit, "cull": found.may_cull}
        after = request.build_absolute_uri(f"{ROUTE}?{urlencode(query).lower()}")
    numbers = shapes.JanitorNumbersSerializer(found).data
    return {**numbers, "results": rows, "next": after, "previous": None}


class JanitorRuns(WorkspaceView, ListAPIView):  # type: ignore[type-arg]
    """The janitor's runs."""

    roles = {"POST": Role.ADMIN}
    joins = False  # a run commits each batch by itself and is idempotent
    serializer_class = shapes.JanitorRunSerializer
    pagination_class = NewestRunFirst
    filter_backends = ()

    def get_queryset(self) -> Any:
        """Return all runs."""
        return JanitorRun.objects.all()

    @extend_schema(responses=shapes.JanitorRunSerializer(many=True))
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """List runs, newest first; dry runs are not stored."""
        return super().list(request, *args, **kwargs)

    @extend_schema(
        request=shapes.JanitorRequestSerializer,
        responses={201: shapes.JanitorRunSerializer, 200: shapes.JanitorPreviewSerializer},
    )
    def post(self, request: Request) -> Response:
        """Run now: demote unused memories, with `cull` also hide some; `dry_run` for a preview."""
        body = validate_body(shapes.JanitorRequestSerializer, request).validated_data
        now, limit = timezone.now(), NewestFirst.page_size
        if body["dry_run"]:
            found = preview(self.workspace, now=now, may_cull=body["cull"], limit=limit)
            with in_workspace(self.workspace):
                return Response(present_preview(found, request, limit=limit))
        done = run(self.workspace, actor=self.actor, now=now, may_cull=body["cull"])
        return Response(shapes.JanitorRunSerializer(done).data, status=201)


class JanitorPreview(WorkspaceView):
    """`GET /janitor/preview`."""

    roles = {"GET": Role.REVIEWER}
    query_shape = shapes.PreviewQuerySerializer

    @extend_schema(responses=shapes.JanitorPreviewSerializer)
    def get(self, request: Request) -> Response:
        """Return exactly what a run would do now, without changing anything."""
        query = self.query_values()
        found = preview(
            self.workspace,
            now=timezone.now(),
            may_cull=query["cull"],
            limit=query["limit"],
            after=query["after"],
        )
        return Response(present_preview(found, request, limit=query["limit"]))


class JanitorActions(WorkspaceView, ListAPIView):  # type: ignore[type-arg]
    """The actions of one run."""

    serializer_class = shapes.JanitorActionSerializer
    pagination_class = ByMemory
    filter_backends = ()

    @extend_schema(responses=shapes.JanitorActionSerializer(many=True))
    def get(self, request: Request, janitor_run_id: UUID) -> Response:
        """List the actions of a run, one per memory."""
        if not JanitorRun.objects.filter(pk=janitor_run_id).exists():
            raise MissingError("There is no such run.")
        actions = JanitorAction.objects.filter(run=janitor_run_id)
        page = self.paginate_queryset(actions) or []
        return self.get_paginated_response(shapes.JanitorActionSerializer(page, many=True).data)


class JanitorRunUndo(WorkspaceView):
    """Undoing a run."""

    roles = {"POST": Role.ADMIN}

    @extend_schema(request=None, responses=shapes.JanitorRunSerializer)
    def post(self, request: Request, janitor_run_id: UUID) -> Response:
        """Restore every memory of a run; 409 with their ids if any has changed since."""
        done = undo_run(self.workspace, janitor_run_id, actor=self.actor, now=timezone.now())
        return Response(shapes.JanitorRunSerializer(done).data)


class JanitorActionUndo(WorkspaceView):
    """Undoing one action of a run."""

    roles = {"POST": Role.ADMIN}

    @extend_schema(request=None, responses=shapes.JanitorActionSerializer)
    def post(self, request: Request, janitor_action_id: UUID) -> Response:
        """Restore one memory to its state before the run; 409 if it has changed since."""
        done = undo_action(self.workspace, janitor_action_id, actor=self.actor, now=timezone.now())
        return Response(shapes.JanitorActionSerializer(done).data)
