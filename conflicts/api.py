"""The HTTP surface of conflicts: parse, call a service, show."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from conflicts import serializers as shapes
from conflicts.filters import ConflictFilter
from conflicts.models import Conflict, DetectionRun
from conflicts.services import discuss, quality, report, snooze
from conflicts.services.due import queue
from conflicts.services.resolve import resolve
from conflicts.services.undo import undo
from engram.kernel.api import WorkspaceView, asked, validated
from engram.kernel.models import Role
from engram.kernel.refusals import ForbiddenError, MissingError
from engram.kernel.tenancy import in_workspace


class ConflictAnswer(WorkspaceView):
    """What views of one card share: a fresh look at it after a change."""

    roles = {"POST": Role.REVIEWER}

    def show(self, conflict_id: UUID, *, status: int = 200) -> Response:
        """Return the card as it is now."""
        with in_workspace(self.workspace):
            card = Conflict.objects.filter(pk=conflict_id).first()
            if card is None:
                raise MissingError("There is no such conflict.")
            return Response(shapes.present_one(card), status=status)


class ConflictCollection(ConflictAnswer, ListAPIView):  # type: ignore[type-arg]
    """The cards of the workspace."""

    roles = {"POST": Role.AGENT}
    serializer_class = shapes.ConflictSerializer
    filterset_class = ConflictFilter

    def get_queryset(self) -> Any:
        """Return all cards."""
        return Conflict.objects.all()

    @extend_schema(responses=shapes.ConflictSerializer(many=True))
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """List conflicts, newest first."""
        page = self.paginate_queryset(self.filter_queryset(self.get_queryset()))
        return self.get_paginated_response(shapes.present(page or []))

    @extend_schema(request=shapes.ReportSerializer, responses={201: shapes.ConflictSerializer})
    def post(self, request: Request) -> Response:
        """Report by hand that memories contradict each other; joins an open card about them."""
        body = validated(shapes.ReportSerializer, request).validated_data
        conflict = report.report(
            self.workspace,
            body["memory_ids"],
            note=body["note"],
            actor=self.actor,
            now=timezone.now(),
        )
        return self.show(conflict.id, status=201)


class ConflictDetail(ConflictAnswer):
    """One card."""

    @extend_schema(responses=shapes.ConflictSerializer)
    def get(self, request: Request, conflict_id: UUID) -> Response:
        """Show a card."""
        return self.show(conflict_id)


class ConflictResolve(ConflictAnswer):
    """A person's verdict."""

    @extend_schema(request=shapes.VerdictSerializer, responses=shapes.ConflictSerializer)
    def post(self, request: Request, conflict_id: UUID) -> Response:
        """Decide: the verdict changes memories at once and can be undone."""
        body = validated(shapes.VerdictSerializer, request).validated_data
        resolve(
            self.workspace,
            conflict_id,
            verdict=body["verdict"],
            keep=body["keep"],
            answer=body["answer"],
            note=body["note"],
            version=body.get("version"),
            actor=self.actor,
            now=timezone.now(),
        )
        return self.show(conflict_id)


class ConflictUndo(ConflictAnswer):
    """Taking a verdict back."""

    @extend_schema(request=None, responses=shapes.ConflictSerializer)
    def post(self, request: Request, conflict_id: UUID) -> Response:
        """Return every memory to what it was and open the card again."""
        undo(self.workspace, conflict_id, actor=self.actor, now=timezone.now())
        return self.show(conflict_id)


class ConflictSnooze(ConflictAnswer):
    """Putting a card off."""

    @extend_schema(request=shapes.SnoozeSerializer, responses=shapes.ConflictSerializer)
    def post(self, request: Request, conflict_id: UUID) -> Response:
        """Hide a card from the queue until a time."""
        until = validated(shapes.SnoozeSerializer, request).validated_data["until"]
        snooze.snooze(
            self.workspace, conflict_id, until=until, actor=self.actor, now=timezone.now()
        )
        return self.show(conflict_id)


class ConflictAssign(ConflictAnswer):
    """Who looks after a card."""

    @extend_schema(request=shapes.AssignSerializer, responses=shapes.ConflictSerializer)
    def post(self, request: Request, conflict_id: UUID) -> Response:
        """Give a card to a member, or to nobody."""
        username = validated(shapes.AssignSerializer, request).validated_data["assignee"]
        discuss.assign(
            self.workspace, conflict_id, username=username, actor=self.actor, now=timezone.now()
        )
        return self.show(conflict_id)


class ConflictComments(ConflictAnswer):
    """What people say about a card."""

    @extend_schema(request=shapes.CommentBodySerializer, responses={201: shapes.ConflictSerializer})
    def post(self, request: Request, conflict_id: UUID) -> Response:
        """Add a comment."""
        text = validated(shapes.CommentBodySerializer, request).validated_data["text"]
        discuss.comment(
            self.workspace, conflict_id, text=text, actor=self.actor, now=timezone.now()
        )
        return self.show(conflict_id, status=201)


class ConflictQuality(WorkspaceView):
    """How good the detective is."""

    @extend_schema(parameters=[shapes.QualityPeriodSerializer], responses=shapes.QualitySerializer)
    def get(self, request: Request) -> Response:
        """Return the shares of conflicts that people confirmed and dismissed, with 95 % intervals.

        Counted are standing verdicts, by the time they were given. Confirmed is any verdict but
        dismiss; both_valid is one of them and counted apart.
        """
        period = asked(shapes.QualityPeriodSerializer, request)
        found = quality.measure(since=period["since"], until=period["until"] or timezone.now())
        return Response(shapes.present_quality(found))


class Detect(WorkspaceView):
    """Asking the detective to read again."""

    roles = {"POST": Role.AGENT}

    @extend_schema(request=shapes.DetectSerializer, responses={202: shapes.DetectAnswerSerializer})
    def post(self, request: Request) -> Response:
        """Queue a run over one memory or, for reviewers and up, over the whole story."""
        memory_id = validated(shapes.DetectSerializer, request).validated_data["memory_id"]
        if memory_id is None and not self.actor.role.includes(Role.REVIEWER):
            raise ForbiddenError("Reading the whole story again needs the role reviewer.")
        queued = queue(self.workspace, memory_id, now=timezone.now())
        return Response({"status": "queued", "memories": queued}, status=202)


class DetectionCollection(WorkspaceView, ListAPIView):  # type: ignore[type-arg]
    """What the detective did."""

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
