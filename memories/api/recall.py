"""Recall by meaning and words."""

from __future__ import annotations

from time import perf_counter
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from engram.kernel.api import WorkspaceView, validated
from engram.kernel.tenancy import in_workspace
from memories import serializers as shapes
from memories.services import recall
from memories.services.asking import Query


class Recall(WorkspaceView):
    """Recall by meaning and words."""

    default_write_role = WorkspaceView.default_read_role

    @extend_schema(request=shapes.RecallSerializer, responses=shapes.RecallAnswerSerializer)
    def post(self, request: Request) -> Response:
        """Return the memories that answer a query, best first."""
        started = perf_counter()
        asked = validated(shapes.RecallSerializer, request).validated_data
        query = Query(
            text=asked["query"],
            k=asked["k"],
            scope=asked["scope"],
            project=asked["project"],
            kinds=tuple(asked["kinds"]),
            min_score=asked["min_score"],
            as_of=asked["as_of"],
            is_reranked=asked["rerank"],
            weights=asked["weights"] or {},
            is_recorded=asked["record"],
            session_key=asked["session_key"] or "",
        )
        answer = recall.recall(self.workspace, query, now=timezone.now())
        with in_workspace(self.workspace):
            shown = shapes.present([found.memory for found in answer.results])
        body: dict[str, Any] = {
            "results": [
                {
                    "memory": memory,
                    "score": found.score,
                    "cosine": found.cosine,
                    "rank": rank,
                    "disputed": memory["disputed"],
                    "conflicts": memory["conflicts"],
                    **({"explain": found.explain} if asked["explain"] else {}),
                }
                for rank, (memory, found) in enumerate(
                    zip(shown, answer.results, strict=True), start=1
                )
            ],
            "associations": [],
            "took_ms": round((perf_counter() - started) * 1000, 2),
        }
        if answer.reason:
            body["reason"] = answer.reason
        return Response(body)
