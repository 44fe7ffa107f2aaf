"""The HTTP surface of memories: parse, call a service, show."""

from __future__ import annotations

from time import perf_counter
from typing import Any
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from engram.kernel.api import WorkspaceView, validated
from engram.kernel.models import Role
from engram.kernel.pagination import NewestEventFirst
from engram.kernel.refusals import MissingError
from engram.kernel.tenancy import in_workspace
from memories import serializers as shapes
from memories.filters import MemoryFilter
from memories.models import Memory
from memories.services import forget, history, recall
from memories.services.commit import Committed, commit, commit_all
from memories.services.revise import revise

CREATED = {"created", "kept_apart", "suggested"}


def visible_to(role: Role) -> Any:
    """Return the memories that a role may list: forgotten ones only if it may restore them."""
    memories = Memory.objects.all()
    return memories if role.includes(Role.AGENT) else memories.filter(forgotten_at=None)


class MemoryCollection(WorkspaceView, ListAPIView):  # type: ignore[type-arg]
    """The memories of the workspace."""

    serializer_class = shapes.MemorySerializer
    filterset_class = MemoryFilter

    def get_queryset(self) -> Any:
        """Return all memories; the filter keeps the active ones unless asked otherwise."""
        return Memory.objects.all()

    @extend_schema(responses=shapes.MemorySerializer(many=True))
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """List memories, newest first."""
        page = self.paginate_queryset(self.filter_queryset(visible_to(self.actor.role)))
        return self.get_paginated_response(shapes.present(page or []))

    @extend_schema(
        request=shapes.DraftSerializer,
        responses={201: shapes.CommittedSerializer, 200: shapes.CommittedSerializer},
    )
    def post(self, request: Request) -> Response:
        """Commit one memory."""
        body: Any = validated(shapes.DraftSerializer, request)
        result = commit(self.workspace, body.as_draft(), actor=self.actor, now=timezone.now())
        answer = self.show([result])[0]
        return Response(answer, status=201 if result.outcome in CREATED else 200)

    def show(self, results: list[Committed]) -> list[dict[str, Any]]:
        """Return the answers to commits."""
        with in_workspace(self.workspace):
            return shapes.present_committed(results)


class MemoryBatch(MemoryCollection):
    """Many commits at once."""

    http_method_names = ["post", "options"]

    @extend_schema(request=shapes.BatchSerializer, responses={201: shapes.BatchAnswerSerializer})
    def post(self, request: Request) -> Response:
        """Commit up to 500 memories, all or nothing; answers in order."""
        body = validated(shapes.BatchSerializer, request)
        drafts = [shapes.draft_of(fields) for fields in body.validated_data["memories"]]
        results = commit_all(self.workspace, drafts, actor=self.actor, now=timezone.now())
        return Response({"results": self.show(results)}, status=201)


class MemoryDetail(WorkspaceView):
    """One memory."""

    @extend_schema(responses=shapes.MemorySerializer)
    def get(self, request: Request, memory_id: UUID) -> Response:
        """Show a memory in any state."""
        memory = visible_to(self.actor.role).filter(pk=memory_id).first()
        if memory is None:
            raise MissingError("There is no such memory.")
        return Response(shapes.present_one(memory))

    @extend_schema(request=shapes.RevisionSerializer, responses=shapes.MemorySerializer)
    def patch(self, request: Request, memory_id: UUID) -> Response:
        """Change a memory: a new revision, the old wording stays in its history."""
        body = validated(shapes.RevisionSerializer, request)
        memory = revise(
            self.workspace, memory_id, body.validated_data, actor=self.actor, now=timezone.now()
        )
        with in_workspace(self.workspace):
            return Response(shapes.present_one(memory))


class MemoryHistory(WorkspaceView, ListAPIView):  # type: ignore[type-arg]
    """What happened to one memory."""

    serializer_class = shapes.HistoryEntrySerializer
    pagination_class = NewestEventFirst
    filter_backends = ()

    @extend_schema(responses=shapes.HistoryEntrySerializer(many=True))
    def get(self, request: Request, memory_id: UUID) -> Response:
        """List commits, revisions, merges, supersession, conflicts; newest first."""
        if not visible_to(self.actor.role).filter(pk=memory_id).exists():
            raise MissingError("There is no such memory.")
        page = self.paginate_queryset(history.events_of(memory_id)) or []
        rows = history.add_wordings(memory_id, page)
        return self.get_paginated_response(shapes.HistoryEntrySerializer(rows, many=True).data)


class Recall(WorkspaceView):
    """Recall by meaning and words."""

    default_write_role = WorkspaceView.default_read_role

    @extend_schema(request=shapes.RecallSerializer, responses=shapes.RecallAnswerSerializer)
    def post(self, request: Request) -> Response:
        """Return the memories that answer a query, best first."""
        started = perf_counter()
        asked = validated(shapes.RecallSerializer, request).validated_data
        query = recall.Query(
            text=asked["query"],
            k=asked["k"],
            scope=asked["scope"],
            project=asked["project"],
            kinds=tuple(asked["kinds"]),
            min_score=asked["min_score"],
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
