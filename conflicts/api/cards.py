"""API of cards: list, report, decide, snooze, assign, comment."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from conflicts import serializers as shapes
from conflicts.core.comparisons import Comparisons
from conflicts.filters import ConflictFilter
from conflicts.models import Conflict
from conflicts.services.cards import discuss, snooze
from conflicts.services.cards.locks import with_comparisons
from conflicts.services.reports import report
from conflicts.services.verdicts.resolve import resolve
from conflicts.services.verdicts.undo import undo
from engram.kernel.api import WorkspaceView, validate_body
from engram.kernel.models import Role
from engram.kernel.refusals import MissingError


class ConflictAnswer(WorkspaceView):
    """Base of views that answer with the current state of one card."""

    roles = {"POST": Role.REVIEWER}

    def show(self, conflict_id: UUID, *, status: int = 200) -> Response:
        """Return the current state of the card."""

        def look(known: Comparisons) -> dict[str, Any]:
            card = Conflict.objects.filter(pk=conflict_id).first()
            if card is None:
                raise MissingError("There is no such conflict.")
            return shapes.present_one(card, known)

        return Response(with_comparisons(self.workspace, look), status=status)


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

    @extend_schema(
        request=shapes.ReportSerializer,
        responses={201: shapes.ReportedSerializer, 202: shapes.ReportKeptSerializer},
    )
    def post(self, request: Request) -> Response:
        """Report that memories contradict each other; opens a card or joins a waiting one.

        202: stored without a card, because few reports of this key were confirmed (`kept`: a card
        is opened when somebody else reports the same), or because as many conflicts of a new key
        as it may open wait for people (`capped`).
        """
        body = validate_body(shapes.ReportSerializer, request).validated_data
        reported = report.report(
            self.workspace,
            body["memory_ids"],
            note=body["note"],
            actor=self.actor,
            now=timezone.now(),
        )
        if reported.card is None:
            return Response({"outcome": reported.outcome}, status=202)
        answer = self.show(reported.card.id, status=201)
        answer.data["outcome"] = reported.outcome
        return answer


class ConflictDetail(ConflictAnswer):
    """One card."""

    @extend_schema(responses=shapes.ConflictDetailSerializer)
    def get(self, request: Request, conflict_id: UUID) -> Response:
        """Show a card."""
        return self.show(conflict_id)


class ConflictResolve(ConflictAnswer):
    """A person's verdict."""

    @extend_schema(request=shapes.VerdictSerializer, responses=shapes.ConflictDetailSerializer)
    def post(self, request: Request, conflict_id: UUID) -> Response:
        """Decide a conflict: the verdict changes memories at once and can be undone.

        `consequences` of `GET /conflicts/{id}` list what each verdict would change; with its
        `listing` in the body, a verdict with other consequences is refused (409).
        """
        body = validate_body(shapes.VerdictSerializer, request).validated_data
        resolve(
            self.workspace,
            conflict_id,
            verdict=body["verdict"],
            keep=body["keep"],
            answer=body["answer"],
            note=body["note"],
            version=body.get("version"),
            listing=body["listing"],
            actor=self.actor,
            now=timezone.now(),
        )
        return self.show(conflict_id)


class ConflictUndo(ConflictAnswer):
    """Undo of a verdict."""

    @extend_schema(request=None, responses=shapes.ConflictDetailSerializer)
    def post(self, request: Request, conflict_id: UUID) -> Response:
        """Undo the verdict: restore every memory and open the card again."""
        undo(self.workspace, conflict_id, actor=self.actor, now=timezone.now())
        return self.show(conflict_id)


class ConflictSnooze(ConflictAnswer):
    """Snooze of a card."""

    @extend_schema(request=shapes.SnoozeSerializer, responses=shapes.ConflictDetailSerializer)
    def post(self, request: Request, conflict_id: UUID) -> Response:
        """Hide a card from the queue until a time."""
        until = validate_body(shapes.SnoozeSerializer, request).validated_data["until"]
        snooze.snooze(
            self.workspace, conflict_id, until=until, actor=self.actor, now=timezone.now()
        )
        return self.show(conflict_id)


class ConflictAssign(ConflictAnswer):
    """Assignee of a card."""

    @extend_schema(request=shapes.AssignSerializer, responses=shapes.ConflictDetailSerializer)
    def post(self, request: Request, conflict_id: UUID) -> Response:
        """Assign a card to a member, or to nobody."""
        username = validate_body(shapes.AssignSerializer, request).validated_data["assignee"]
        discuss.assign(
            self.workspace, conflict_id, username=username, actor=self.actor, now=timezone.now()
        )
        return self.show(conflict_id)


class ConflictComments(ConflictAnswer):
    """Comments on a card."""

    @extend_schema(
        request=shapes.CommentBodySerializer, responses={201: shapes.ConflictDetailSerializer}
    )
    def post(self, request: Request, conflict_id: UUID) -> Response:
        """Add a comment."""
        text = validate_body(shapes.CommentBodySerializer, request).validated_data["text"]
        discuss.comment(
            self.workspace, conflict_id, text=text, actor=self.actor, now=timezone.now()
        )
        return self.show(conflict_id, status=201)
