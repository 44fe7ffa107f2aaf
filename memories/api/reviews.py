"""What waits for a person because trust would be overruled."""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID

import django_filters
from django.db.models import QuerySet
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from engram.kernel.actors import Actor
from engram.kernel.api import WorkspaceView, validate_body
from engram.kernel.filters import StateFilter, StrictFilterSet
from engram.kernel.models import Role
from engram.kernel.problems import answer_refusal
from engram.kernel.refusals import MissingError
from engram.kernel.tenancy import in_workspace
from memories import serializers as shapes
from memories.models import Review, ReviewKind, ReviewStatus
from memories.services.decisions import decide


def visible_to(actor: Actor) -> QuerySet[Review]:
    """Return the reviews that a caller may see: reviewers all, others what they asked themselves.

    What waits was not accepted by anybody: another agent must not read it as if it were known.
    """
    reviews = Review.objects.select_related("memory", "result")
    if actor.is_reviewer:
        return reviews
    return reviews.filter(actor_kind=actor.kind, actor_id=actor.id)


class ReviewFilter(StrictFilterSet):
    """`GET /reviews` filters; those that wait unless asked otherwise."""

    status = StateFilter(ReviewStatus.choices, label="Status (default: pending)")
    kind = django_filters.ChoiceFilter(choices=ReviewKind.choices)
    memory_id = django_filters.UUIDFilter(field_name="memory")

    class Meta:
        model = Review
        fields: list[str] = []

    def filter_queryset(self, queryset: Any) -> Any:
        """Show what waits unless a status is asked for."""
        if not self.form.cleaned_data.get("status"):
            queryset = queryset.filter(status=ReviewStatus.PENDING)
        return super().filter_queryset(queryset)


class Reviews(WorkspaceView, ListAPIView):  # type: ignore[type-arg]
    """The requests that wait for a person, and what became of others."""

    # They may be about what was forgotten, which readers do not see.
    default_read_role = Role.AGENT
    serializer_class = shapes.ReviewSerializer
    filterset_class = ReviewFilter

    def get_queryset(self) -> Any:
        """Return the reviews that the caller may see, with what they are about."""
        if getattr(self, "swagger_fake_view", False):  # nobody calls while the API is described
            return Review.objects.none()
        return visible_to(self.actor)

    @extend_schema(responses=shapes.ReviewSerializer(many=True))
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """List reviews, newest first: a reviewer's are all, an agent's its key's own."""
        page = self.paginate_queryset(self.filter_queryset(self.get_queryset()))
        return self.get_paginated_response(shapes.present_reviews(page or []))


class ReviewDetail(WorkspaceView):
    """One review."""

    default_read_role = Role.AGENT

    @extend_schema(responses=shapes.ReviewSerializer)
    def get(self, request: Request, review_id: UUID) -> Response:
        """Show one request."""
        review = visible_to(self.actor).filter(pk=review_id).first()
        if review is None:
            raise MissingError("There is no such review.")
        return Response(shapes.present_reviews([review])[0])


class _Answer(WorkspaceView):
    roles: ClassVar = {"POST": Role.REVIEWER}
    verb: Any = None

    def answer(self, request: Request, review_id: UUID) -> Response:
        note = validate_body(shapes.AnswerSerializer, request).validated_data["note"]
        now = timezone.now()
        try:
            review = type(self).verb(
                self.workspace, review_id, note=note, actor=self.actor, now=now
            )
        except decide.LapsedError as lapsed:
            # Answered, not raised: of what raises under an Idempotency-Key nothing stays, and the
            # request has to stay lapsed.
            return answer_refusal(lapsed)
        with in_workspace(self.workspace):
            shown = Review.objects.select_related("memory", "result").get(pk=review.pk)
            return Response(shapes.present_reviews([shown])[0])


class AcceptReview(_Answer):
    """Agreeing."""

    verb = staticmethod(decide.accept)

    @extend_schema(request=shapes.AnswerSerializer, responses=shapes.ReviewSerializer)
    def post(self, request: Request, review_id: UUID) -> Response:
        """Do what was asked; 409 when its memory changed meanwhile."""
        return self.answer(request, review_id)


class RejectReview(_Answer):
    """Declining."""

    verb = staticmethod(decide.reject)

    @extend_schema(request=shapes.AnswerSerializer, responses=shapes.ReviewSerializer)
    def post(self, request: Request, review_id: UUID) -> Response:
        """Leave everything as it is."""
        return self.answer(request, review_id)
