"""API views of the redundancy gate: splits, merge suggestions, metrics, the audit."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import django_filters
from django.db.models import Q, QuerySet
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from engram.kernel.api import WorkspaceView, validate_body
from engram.kernel.filters import StateFilter, StrictFilterSet
from engram.kernel.models import Role, Workspace
from engram.kernel.pagination import ById
from engram.kernel.refusals import MissingError
from engram.kernel.tenancy import in_workspace
from memories.models import Merge, MergeSuggestion, SuggestionStatus
from memories.serializers import gate as shapes
from memories.services.gate import answer_suggestion, metrics
from memories.services.gate.audit import audit, sample, take_back
from memories.services.gate.split import split
from memories.services.gate.suggestions import in_status


class MemorySplit(WorkspaceView):
    """`POST /memories/{id}/split`."""

    @extend_schema(request=shapes.SplitSerializer, responses=shapes.SplitAnswerSerializer)
    def post(self, request: Request, memory_id: UUID) -> Response:
        """Split a merged statement off a memory: it becomes a memory again.

        The survivor's wording, provenance and confidence become what they would be without it.
        Fields changed after the merge stay, and `kept` lists them. The gate keeps the two apart
        from now on. A merge that a reviewer accepted or judged, or into a person's memory, can only
        be split by a reviewer.
        """
        body = validate_body(shapes.SplitSerializer, request).validated_data
        done = split(
            self.workspace,
            memory_id,
            body["observation_id"],
            actor=self.actor,
            now=timezone.now(),
        )
        with in_workspace(self.workspace):
            return Response(shapes.present_split(done))


class SuggestionFilter(StrictFilterSet):
    """`GET /merge-suggestions` filters; the status defaults to open."""

    status = StateFilter(SuggestionStatus.choices, keep="in_status", label="Status (default: open)")
    memory_id = django_filters.UUIDFilter(method="by_memory", label="One of the two memories")

    class Meta:
        model = MergeSuggestion
        fields: list[str] = []

    def filter_queryset(self, queryset: Any) -> Any:
        """Keep open suggestions if no status is given."""
        if not self.form.cleaned_data.get("status"):
            queryset = in_status(SuggestionStatus.OPEN, timezone.now())
        return super().filter_queryset(queryset)

    def in_status(self, queryset: Any, value: str) -> Any:
        """Keep suggestions whose present status is `value`."""
        return in_status(value, timezone.now())

    def by_memory(self, queryset: QuerySet[Any], name: str, value: UUID) -> QuerySet[Any]:
        """Keep suggestions about a memory."""
        return queryset.filter(Q(memory=value) | Q(other=value))


class SuggestionCollection(WorkspaceView, ListAPIView):  # type: ignore[type-arg]
    """`GET /merge-suggestions`."""

    serializer_class = shapes.SuggestionSerializer
    filterset_class = SuggestionFilter

    def get_queryset(self) -> Any:
        """Return all suggestions; the filter keeps open ones by default."""
        return MergeSuggestion.objects.all()

    @extend_schema(responses=shapes.SuggestionSerializer(many=True))
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """List merge suggestions, newest first; only the detail lists what a merge would drop."""
        rows = self.filter_queryset(self.get_queryset()).select_related("memory", "other")
        page = self.paginate_queryset(rows) or []
        return self.get_paginated_response(shapes.present_suggestions(page, timezone.now()))


class SuggestionDetail(WorkspaceView):
    """`GET /merge-suggestions/{id}`."""

    @extend_schema(responses=shapes.SuggestionDetailSerializer)
    def get(self, request: Request, suggestion_id: UUID) -> Response:
        """Show one merge suggestion, with the claims that a merge in either wording would drop."""
        both = MergeSuggestion.objects.select_related("memory", "other")
        row = both.filter(pk=suggestion_id).first()
        if row is None:
            raise MissingError("There is no such suggestion.")
        return Response(shapes.present_suggestion(row, timezone.now()))


class SuggestionAnswer(WorkspaceView):
    """The common part of accepting and rejecting a suggestion."""

    roles = {"POST": Role.REVIEWER}

    def show(self, suggestion_id: UUID) -> Response:
        """Return the suggestion, read again."""
        with in_workspace(self.workspace):
            both = MergeSuggestion.objects.select_related("memory", "other")
            rows = both.filter(pk=suggestion_id)
            return Response(shapes.present_suggestions(rows, timezone.now())[0])


class AcceptSuggestion(SuggestionAnswer):
    """`POST /merge-suggestions/{id}/accept`."""

    @extend_schema(request=shapes.AcceptSerializer, responses=shapes.SuggestionSerializer)
    def post(self, request: Request, suggestion_id: UUID) -> Response:
        """Merge both memories: the older one stays, the other is superseded by it.

        The better wording survives (or that of `keep`), counters are added, and `split` undoes it.
        `GET /merge-suggestions/{id}` lists the claims that either wording would drop. 409 when one
        of the two was changed or hidden meanwhile, or both are in an open conflict, whose id is
        given.
        """
        keep = validate_body(shapes.AcceptSerializer, request).validated_data["keep"]
        answer_suggestion.accept(
            self.workspace, suggestion_id, keep=keep, actor=self.actor, now=timezone.now()
        )
        return self.show(suggestion_id)


class RejectSuggestion(SuggestionAnswer):
    """`POST /merge-suggestions/{id}/reject`."""

    @extend_schema(request=None, responses=shapes.SuggestionSerializer)
    def post(self, request: Request, suggestion_id: UUID) -> Response:
        """Keep both memories: they are not suggested or merged again until one is reworded."""
        answer_suggestion.reject(
            self.workspace, suggestion_id, actor=self.actor, now=timezone.now()
        )
        return self.show(suggestion_id)


class GateMetricsView(WorkspaceView):
    """`GET /gate/metrics`."""

    query_shape = shapes.PeriodSerializer

    @extend_schema(responses=shapes.GateMetricsSerializer)
    def get(self, request: Request) -> Response:
        """Return the gate's counts by week, and the false-merge rate with its interval."""
        since = self.query_values()["since"]
        return Response(
            shapes.GateMetricsSerializer(metrics.measure_gate(since=since, now=timezone.now())).data
        )


class GateAudit(WorkspaceView, ListAPIView):  # type: ignore[type-arg]
    """`GET /gate/audit`."""

    serializer_class = shapes.MergeSerializer
    pagination_class = ById
    filter_backends = ()

    def get_queryset(self) -> Any:
        """Return the merges of the sample."""
        return sample()

    @extend_schema(responses=shapes.MergeSerializer(many=True))
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """List merges without a judgement, in the stable random order of the sample."""
        page = self.paginate_queryset(self.get_queryset()) or []
        return self.get_paginated_response(shapes.present_merges(page))


class GateAuditAnswer(WorkspaceView):
    """`POST /gate/audit/{id}`."""

    roles = {"POST": Role.REVIEWER}

    @extend_schema(request=shapes.AuditSerializer, responses=shapes.MergeSerializer)
    def post(self, request: Request, merge_id: UUID) -> Response:
        """Store whether a merge was correct; `split` also splits a wrong one."""
        body = validate_body(shapes.AuditSerializer, request).validated_data
        audit(
            self.workspace,
            merge_id,
            is_correct=body["correct"],
            is_split=body["split"],
            actor=self.actor,
            now=timezone.now(),
        )
        return _show_merge(self.workspace, merge_id)


class GateAuditUndo(WorkspaceView):
    """`POST /gate/audit/{id}/undo`."""

    roles = {"POST": Role.REVIEWER}

    @extend_schema(request=None, responses=shapes.MergeSerializer)
    def post(self, request: Request, merge_id: UUID) -> Response:
        """Undo the judgement of a merge, and the split that it made.

        `409` where there is no judgement, and where the two cannot be merged again because one has
        changed since.
        """
        take_back(self.workspace, merge_id, actor=self.actor, now=timezone.now())
        return _show_merge(self.workspace, merge_id)


def _show_merge(workspace: Workspace, merge_id: UUID) -> Response:
    with in_workspace(workspace):
        merges = Merge.objects.select_related("memory", "observation", "absorbed")
        found = shapes.present_merges(merges.filter(pk=merge_id))
    if not found:  # erased meanwhile
        raise MissingError("There is no such merge.")
    return Response(found[0])
