"""API views of reviews: requests that need a person's decision."""

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
    """Return the reviews that a caller may see: all for reviewers, its own for others.

    A pending statement is not accepted: other agents must not read it as if it were.
    """
    reviews = Review.objects.select_related("memory", "result")
    if actor.is_reviewer:
        return reviews
    return reviews.filter(actor_kind=actor.kind, actor_id=actor.id)


class ReviewFilter(StrictFilterSet):
    """`GET /reviews` filters; the status defaults to pending."""

    status = StateFilter(ReviewStatus.choices, label="Status (default: pending)")
    kind = django_filters.ChoiceFilter(choices=ReviewKind.choices)
    memory_id = django_filters.UUIDFilter(field_name="memory")

    class Meta:
        model = Review
        fields: list[str] = []

    def filter_queryset(self, queryset: Any) -> Any:
        """Keep pending reviews if no status is given."""
        if not self.form.cleaned_data.get("status"):
            queryset = queryset.filter(status=ReviewStatus.PENDING)
        return super().filter_queryset(queryset)


class ReviewCollection(WorkspaceView, ListAPIView):  # type: ignore[type-arg]
    """`GET /reviews`."""

    # Reviews can be about forgotten memories, which readers may not see.
    default_read_role = Role.AGENT
    serializer_class = shapes.ReviewSerializer
    filterset_class = ReviewFilter

    def get_queryset(self) -> Any:
        """Return the reviews that the caller may see, with their memories."""
        if getattr(self, "swagger_fake_view", False):  # no request while the schema is generated
            return Review.objects.none()
        return visible_to(self.actor)

    @extend_schema(responses=shapes.ReviewSerializer(many=True))
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """List reviews, newest first: all for reviewers, those of its own key for an agent."""
        page = self.paginate_queryset(self.filter_queryset(self.get_queryset()))
        return self.get_paginated_response(shapes.present_reviews(page or []))


class ReviewDetail(WorkspaceView):
    """One review."""

    default_read_role = Role.AGENT

    @extend_schema(responses=shapes.ReviewSerializer)
    def get(self, request: Request, review_id: UUID) -> Response:
        """Show one review."""
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
            # Returned, not raised: an exception under an Idempotency-Key rolls everything back, but
            # the review must stay lapsed.
            return answer_refusal(lapsed)
        with in_workspace(self.workspace):
            shown = Review.objects.select_related("memory", "result").get(pk=review.pk)
            return Response(shapes.present_reviews([shown])[0])


class AcceptReview(_Answer):
    """`POST /reviews/{id}/accept`."""

    verb = staticmethod(decide.accept)

    @extend_schema(request=shapes.AnswerSerializer, responses=shapes.ReviewSerializer)
    def post(self, request: Request, review_id: UUID) -> Response:
        """Carry out the request; 409 when its memory has changed meanwhile."""
        return self.answer(request, review_id)


class RejectReview(_Answer):
    """`POST /reviews/{id}/reject`."""

    verb = staticmethod(decide.reject)

    @extend_schema(request=shapes.AnswerSerializer, responses=shapes.ReviewSerializer)
    def post(self, request: Request, review_id: UUID) -> Response:
        """Reject the request; nothing changes."""
        return self.answer(request, review_id)
