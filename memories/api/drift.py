"""API views of prediction errors, and of signals about memories."""

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

from engram.kernel.api import WorkspaceView, validate_body
from engram.kernel.filters import MomentFilter, StateFilter, StrictFilterSet
from engram.kernel.models import Role
from engram.kernel.pagination import NewestFirst
from engram.kernel.refusals import MissingError
from engram.kernel.tenancy import in_workspace
from memories.models import ErrorType, PredictionError
from memories.models.note import PATH_MAX_CHARS
from memories.serializers import drift as shapes
from memories.services.drift.answer import MOST_AT_ONCE, resolve_error, resolve_errors
from memories.services.drift.find import all_errors, confirmed
from memories.services.drift.note_edits import drift_of_edit
from memories.services.drift.signals import Signal, record_signal

YES_OR_NO = (("true", "Yes"), ("false", "No"))


class NewestDetectionFirst(NewestFirst):
    """Pagination of prediction errors, with the number on all pages."""

    ordering = ("-detected_at", "-id")
    total = 0

    def paginate_queryset(self, queryset: Any, request: Request, view: Any = None) -> list[Any]:
        """Return the page; count all rows first."""
        self.total = queryset.order_by().count()
        return super().paginate_queryset(queryset, request, view)

    def get_paginated_response(self, data: Any) -> Response:
        """Return the page with `total`."""
        answer: Response = super().get_paginated_response(data)
        answer.data = {**answer.data, "total": self.total}
        return answer

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Describe `total` beside the page."""
        found: dict[str, Any] = super().get_paginated_response_schema(schema)
        found["properties"]["total"] = {"type": "integer", "minimum": 0}
        found["required"] = [*found.get("required", []), "total"]
        return found


class ErrorFilter(StrictFilterSet):
    """`GET /prediction-errors` filters; open and confirmed ones by default."""

    error_type = django_filters.ChoiceFilter(choices=ErrorType.choices)
    memory_id = django_filters.UUIDFilter(field_name="memory")
    note_path = django_filters.CharFilter(max_length=PATH_MAX_CHARS, label="Path of the note")
    resolved = StateFilter(YES_OR_NO, keep="by_end", label="Whether resolved (default: false)")
    unconfirmed = django_filters.ChoiceFilter(
        choices=YES_OR_NO,
        method="keep_all",
        label="true: also errors about a note alone that one query has met",
    )
    since = MomentFilter(field_name="detected_at", lookup_expr="gte", label="Found since")

    class Meta:
        model = PredictionError
        fields: list[str] = []

    def by_end(self, queryset: QuerySet[Any], value: str) -> QuerySet[Any]:
        """Keep the resolved errors, or the open ones."""
        return queryset.filter(resolved_at__isnull=value == "false")

    def keep_all(self, queryset: QuerySet[Any], name: str, value: str) -> QuerySet[Any]:
        """Return the errors unchanged; see `filter_queryset`."""
        return queryset

    def filter_queryset(self, queryset: Any) -> Any:
        """Keep open errors if nothing else is asked, and confirmed ones."""
        sent = self.form.cleaned_data
        if not sent.get("resolved"):
            queryset = queryset.filter(resolved_at=None)
        if sent.get("unconfirmed") != "true":
            queryset = confirmed(queryset)
        return super().filter_queryset(queryset)


class PredictionErrors(WorkspaceView, ListAPIView):  # type: ignore[type-arg]
    """`GET /prediction-errors`."""

    serializer_class = shapes.PredictionErrorSerializer
    filterset_class = ErrorFilter
    pagination_class = NewestDetectionFirst

    def get_queryset(self) -> Any:
        """Return all errors with their memories."""
        return all_errors()

    @extend_schema(responses=shapes.PredictionErrorSerializer(many=True))
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """List prediction errors, newest first; `total` counts those on all pages.

        Memories are compared with the notes that they link when a note changes; what was found is
        listed once the memory was recalled, given as context or injected at a session's start.
        """
        page = self.paginate_queryset(self.filter_queryset(self.get_queryset()))
        return self.get_paginated_response(shapes.present_errors(page or []))


class PredictionErrorDetail(WorkspaceView):
    """One prediction error."""

    @extend_schema(responses=shapes.PredictionErrorSerializer)
    def get(self, request: Request, error_id: UUID) -> Response:
        """Show one prediction error, open or resolved."""
        return Response(_shown(error_id))


class ResolveError(WorkspaceView):
    """`POST /prediction-errors/{id}/resolve`."""

    roles: ClassVar = {"POST": Role.REVIEWER}

    @extend_schema(
        request=shapes.ResolveErrorSerializer, responses=shapes.PredictionErrorSerializer
    )
    def post(self, request: Request, error_id: UUID) -> Response:
        """Answer a prediction error; 409 when it is resolved otherwise already.

        `still_true` and `dismiss` hold until the note changes again. `updated` closes it only: when
        the memory still disagrees with the note, the next recall finds it again.
        """
        sent = validate_body(shapes.ResolveErrorSerializer, request).validated_data
        error = resolve_error(
            self.workspace,
            error_id,
            sent["action"],
            note=sent["note"],
            actor=self.actor,
            now=timezone.now(),
        )
        with in_workspace(self.workspace):
            return Response(_shown(error.pk))


class ResolveErrors(WorkspaceView):
    """`POST /prediction-errors/resolve`."""

    roles: ClassVar = {"POST": Role.REVIEWER}

    @extend_schema(
        operation_id="prediction_errors_resolve_several",
        request=shapes.ResolveErrorsSerializer,
        responses=shapes.AnsweredErrorsSerializer,
    )
    def post(self, request: Request) -> Response:
        """Give one answer to several prediction errors, such as all drift from one edit of a note.

        What is resolved already stays as it is. An unknown id, or a note and version without any
        drift, gives 404, and nothing is answered.
        """
        sent = validate_body(shapes.ResolveErrorsSerializer, request).validated_data
        ids, of_version = sent.get("ids"), sent.get("note_version")
        if ids is None:
            with in_workspace(self.workspace):
                ids = self._open_drift(sent["note_path"], of_version)
        answered = resolve_errors(
            self.workspace,
            ids,
            sent["action"],
            of_version=of_version,
            note=sent["note"],
            actor=self.actor,
            now=timezone.now(),
        )
        with in_workspace(self.workspace):
            left = 0 if "ids" in sent else _open(sent["note_path"], of_version).count()
        skipped = [] if of_version else answered.skipped.items()
        body = {
            "resolved": len(answered.ids),
            "ids": answered.ids,
            "skipped": [{"id": error, "resolution": how} for error, how in skipped],
            "left": left,
        }
        return Response(shapes.AnsweredErrorsSerializer(body).data)

    def _open_drift(self, path: str, version: int) -> list[UUID]:
        """Return the oldest open drift of a version of a note; 404 when there never was any."""
        if not drift_of_edit(path, version).exists():
            raise MissingError("There is no drift from this version of this note.")
        return list(_open(path, version).values_list("pk", flat=True)[:MOST_AT_ONCE])


def _open(path: str, version: int) -> QuerySet[PredictionError]:
    return confirmed(drift_of_edit(path, version).filter(resolved_at=None))


class MemorySignals(WorkspaceView):
    """`POST /memories/{id}/signals`."""

    @extend_schema(
        request=shapes.SignalSerializer, responses={201: shapes.PredictionErrorSerializer}
    )
    def post(self, request: Request, memory_id: UUID) -> Response:
        """Report outside evidence that a memory may be out of date.

        One signal of each source is open at a time; the stronger one stays, and a reviewer sees it
        in the inbox.
        """
        sent = validate_body(shapes.SignalSerializer, request).validated_data
        error = record_signal(
            self.workspace,
            memory_id,
            Signal(**sent),
            actor=self.actor,
            now=timezone.now(),
        )
        with in_workspace(self.workspace):
            return Response(_shown(error.pk), status=201)


def _shown(error_id: UUID) -> dict[str, Any]:
    error = all_errors().filter(pk=error_id).first()
    if error is None:
        raise MissingError("There is no such prediction error.")
    return shapes.present_errors([error])[0]
