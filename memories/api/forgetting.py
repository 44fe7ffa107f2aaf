"""Forgetting and bringing back."""

from __future__ import annotations

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from engram.kernel.api import WorkspaceView, validated
from engram.kernel.tenancy import in_workspace
from memories import serializers as shapes
from memories.services import forget, recall


class Forget(WorkspaceView):
    """Forgetting, previewed unless confirmed."""

    @extend_schema(request=shapes.ForgetSerializer, responses=shapes.ForgetAnswerSerializer)
    def post(self, request: Request) -> Response:
        """Preview, or with `confirm` hide, memories named by ids or by a query."""
        asked = validated(shapes.ForgetSerializer, request).validated_data
        now = timezone.now()
        ids = asked.get("ids")
        if ids is None:
            found = recall.relevant(
                self.workspace,
                asked["query"],
                min_relevance=asked["min_relevance"],
                kinds=tuple(asked["kinds"]),
                now=now,
            )
            if found.reason and not found.results:
                none: dict[str, Any] = {"forgotten": 0, "ids": []}
                answer = none if asked["confirm"] else {"would_forget": []}
                return Response(answer | {"reason": found.reason})
            ids = [result.memory.id for result in found.results]
        if not asked["confirm"]:
            with in_workspace(self.workspace):
                would = forget.preview(self.workspace, ids)
                return Response({"would_forget": shapes.present(would)})
        forgotten = forget.forget(self.workspace, ids, actor=self.actor, now=now)
        return Response({"forgotten": len(forgotten), "ids": [memory.id for memory in forgotten]})


class Restore(WorkspaceView):
    """Undoing a forget."""

    @extend_schema(request=shapes.IdsSerializer, responses=shapes.RestoreAnswerSerializer)
    def post(self, request: Request) -> Response:
        """Bring forgotten memories back."""
        ids = validated(shapes.IdsSerializer, request).validated_data["ids"]
        restored = forget.restore(self.workspace, ids, actor=self.actor, now=timezone.now())
        return Response({"restored": len(restored), "ids": [memory.id for memory in restored]})
