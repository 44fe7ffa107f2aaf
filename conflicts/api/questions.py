"""API of what the workspace knows: questions with the answers that hold."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.utils import timezone
from django_filters.utils import translate_validation
from drf_spectacular.utils import extend_schema
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from conflicts import serializers as shapes
from conflicts.filters import QuestionFilter
from conflicts.services.questions.select import Wanted, first_or_all
from conflicts.services.questions.show import show_question, show_questions
from engram.kernel.api import WorkspaceView
from engram.kernel.pagination import NewestFirst
from engram.kernel.refusals import MissingError
from memories.models import MemoryAnswer


class NewestAnswerFirst(NewestFirst):
    """Cursor pagination of questions by the time of their newest answer."""

    ordering = ("-observed_at", "-id")


class QuestionCollection(WorkspaceView, ListAPIView):  # type: ignore[type-arg]
    """The questions that the workspace can answer."""

    serializer_class = shapes.KnownQuestionSerializer
    filterset_class = QuestionFilter
    pagination_class = NewestAnswerFirst

    def get_queryset(self) -> Any:
        """Return all answers, of which the newest to each question are selected."""
        return MemoryAnswer.objects.all()

    def _wanted(self, request: Request) -> Wanted:
        """Return the filters; wrong ones are refused."""
        asked = QuestionFilter(request.query_params, queryset=self.get_queryset())
        if not asked.is_valid():
            raise translate_validation(asked.errors)  # type: ignore[misc]  # an exception
        return asked.wanted

    def _first_rows(self, request: Request) -> int:
        """Return how many rows the first page reads; 0 for another page."""
        is_first = "cursor" not in request.query_params
        return NewestAnswerFirst().get_page_size(request) + 1 if is_first else 0

    @extend_schema(responses=shapes.KnownQuestionSerializer(many=True))
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """List questions with the answers that hold, those answered last first."""
        wanted, now = self._wanted(request), timezone.now()
        with first_or_all(wanted, self._first_rows(request), now=now) as found:
            rows = self.paginate_queryset(found) or []
        shown = show_questions(self.workspace, rows, now=now, as_of=wanted.as_of)
        return self.get_paginated_response(shapes.present_questions(shown))


class QuestionDetail(WorkspaceView):
    """One question."""

    query_shape = shapes.QuestionQuerySerializer

    @extend_schema(
        parameters=[shapes.QuestionQuerySerializer], responses=shapes.QuestionDetailSerializer
    )
    def get(self, request: Request, question_id: UUID) -> Response:
        """Show a question with its history, newest answer first."""
        found = show_question(
            self.workspace,
            question_id,
            now=timezone.now(),
            as_of=self.query_values().get("as_of"),
        )
        if found is None:
            raise MissingError(
                "No memory that can be recalled answers such a question now; with as_of, those of"
                " an earlier time."
            )
        return Response(shapes.present_question(*found))
