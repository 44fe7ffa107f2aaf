"""Recall by meaning and words."""

from __future__ import annotations

from time import perf_counter
from typing import Any, ClassVar
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from engram.kernel.api import WorkspaceView, validate_body
from engram.kernel.pagination import NewestFirst
from engram.kernel.planning import searching
from engram.kernel.refusals import MissingError
from engram.kernel.tenancy import in_one_transaction, in_workspace
from memories import serializers as shapes
from memories.api.memories import visible_to
from memories.services.recall import recall
from memories.services.recall.past_recalls import results_of
from memories.services.recall.query import Query
from memories.services.recall.why_not import why_not


class Recall(WorkspaceView):
    """Recall by meaning and words."""

    default_write_role = WorkspaceView.default_read_role

    @extend_schema(request=shapes.RecallSerializer, responses=shapes.RecallAnswerSerializer)
    def post(self, request: Request) -> Response:
        """Return the memories that answer a query, best first."""
        started = perf_counter()
        sent = validate_body(shapes.RecallSerializer, request).validated_data
        query = Query(
            text=sent["query"],
            k=sent["k"],
            scope=sent["scope"],
            project=sent["project"],
            kinds=tuple(sent["kinds"]),
            min_score=sent["min_score"],
            as_of=sent["as_of"],
            is_reranked=sent["rerank"],
            uses_graph=sent["graph"],
            weights=sent["weights"] or {},
            is_recorded=sent["record"],
            session_key=sent["session_key"] or "",
            caller=self.actor.caller,
        )
        with in_one_transaction():
            answer = recall.recall(self.workspace, query, now=timezone.now())
            with searching(self.workspace):
                shown = shapes.present_recalled(answer.results, explains=sent["explain"])
        body: dict[str, Any] = {
            "results": shown,
            "associations": shapes.present_associations(answer.associations, shown),
            "took_ms": round((perf_counter() - started) * 1000, 2),
        }
        if answer.reason:
            body["reason"] = answer.reason
        return Response(body)


class NewestRecallFirst(NewestFirst):
    """Pagination of past recalls."""

    ordering = ("-at", "-id")


class MemoryRecalls(WorkspaceView, ListAPIView):  # type: ignore[type-arg]
    """`GET /memories/{id}/recalls`."""

    serializer_class = shapes.PastResultSerializer
    pagination_class = NewestRecallFirst
    filter_backends = ()

    @extend_schema(responses=shapes.PastResultSerializer(many=True))
    def get(self, request: Request, memory_id: UUID) -> Response:
        """List the recalls and contexts that returned a memory, newest first, while they are kept.

        One appears some seconds after it was answered. Recalls with `record` false are not kept.
        """
        memory = visible_to(self.actor.role).filter(pk=memory_id).first()
        if memory is None:
            raise MissingError("There is no such memory.")
        page = self.paginate_queryset(results_of(memory)) or []
        return self.get_paginated_response(shapes.present_past(page))


class WhyNotView(WorkspaceView):
    """`GET /memories/{id}/why-not`."""

    embeds: ClassVar[bool] = True
    query_shape = shapes.WhyNotQuerySerializer

    @extend_schema(responses=shapes.WhyNotSerializer)
    def get(self, request: Request, memory_id: UUID) -> Response:
        """Explain a memory's result in a recall: state, filters, rank, factors, threshold."""
        sent = self.query_values()
        with in_workspace(self.workspace):
            memory = visible_to(self.actor.role).filter(pk=memory_id).first()
        if memory is None:
            raise MissingError("There is no such memory.")
        query = Query(
            text=sent["query"],
            k=sent["k"],
            scope=sent["scope"],
            project=sent["project"],
            kinds=tuple(sent.get("kinds", ())),
            min_score=sent["min_score"],
            uses_graph=sent.get("graph"),
        )
        found = why_not(self.workspace, memory, query, now=timezone.now())
        return Response(
            {
                "memory": memory.id,
                "returned": found.is_returned,
                "state": found.state,
                "reasons": [
                    {"code": reason.code, "message": reason.message} for reason in found.reasons
                ],
                "rank": found.rank,
                "score": found.score,
                "cosine": found.cosine,
                "relevance": found.relevance,
                "threshold": found.threshold,
                "explain": found.explain,
            }
        )
