"""API views to forget and restore memories, and to roll back a writer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, ClassVar
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from engram.kernel.api import WorkspaceView, validate_body
from engram.kernel.models import Role
from engram.kernel.tenancy import in_workspace
from memories import serializers as shapes
from memories.services.lifecycle import forget, rollback
from memories.services.lifecycle.rollback_plan import Writer, preview


class Forget(WorkspaceView):
    """`POST /memories/forget`: a preview unless confirmed."""

    @extend_schema(
        request=shapes.ForgetSerializer,
        responses={200: shapes.ForgetAnswerSerializer, 202: shapes.ForgetAnswerSerializer},
    )
    def post(self, request: Request) -> Response:
        """Preview, or with `confirm` forget, memories given by ids or by a query.

        For an agent, memories that a person wrote or decided about become `pending` until a
        reviewer decides; the status is 202 when all of them are.
        """
        values = validate_body(shapes.ForgetSerializer, request).validated_data
        now = timezone.now()
        details: dict[str, Any] = {}
        cosines: Mapping[UUID, float] = {}
        ids = values.get("ids")
        if ids is None:
            found = forget.match_query(
                self.workspace,
                values["query"],
                min_relevance=values["min_relevance"],
                kinds=values["kinds"],
                scope=values["scope"],
                project=values["project"],
                now=now,
            )
            cosines = found.cosines
            ids = list(cosines)
            details = {"reason": found.reason} if found.reason else {"capped": found.is_capped}
        if not values["confirm"]:
            with in_workspace(self.workspace):
                would = forget.preview(self.workspace, ids, actor=self.actor)
                shown = shapes.present(would.memories)
            for memory in shown:
                memory["cosine"] = cosines.get(UUID(memory["id"]))
            waits = {"would_wait": would.waits} if would.waits else {}
            return Response({"would_forget": shown} | waits | details)
        done = forget.forget(self.workspace, ids, actor=self.actor, now=now)
        forgotten = [memory.id for memory in done.memories]
        body: dict[str, Any] = {"forgotten": len(forgotten), "ids": forgotten} | details
        if done.pending:
            body["pending"] = _present_pending(done.pending)
        return _pending_or_done(body, done.pending, is_done=bool(forgotten))


def _present_pending(pending: Mapping[UUID, UUID]) -> list[dict[str, UUID]]:
    return [{"id": memory_id, "review": review} for memory_id, review in pending.items()]


def _pending_or_done(
    body: dict[str, Any], pending: Mapping[UUID, UUID], *, is_done: bool
) -> Response:
    """Return 202 with the first review when nothing was done and a review is pending."""
    if is_done or not pending:
        return Response(body)
    first = next(iter(pending.values()))
    return Response({"status": "pending", "review": first} | body, status=202)


class Restore(WorkspaceView):
    """`POST /memories/restore`."""

    @extend_schema(
        request=shapes.RestoreSerializer,
        responses={200: shapes.RestoreAnswerSerializer, 202: shapes.RestoreAnswerSerializer},
    )
    def post(self, request: Request) -> Response:
        """Restore forgotten memories; 202 when all of them wait for a reviewer."""
        values = validate_body(shapes.RestoreSerializer, request).validated_data
        now = timezone.now()
        if "rollback" in values:
            restored = rollback.undo(self.workspace, values["rollback"], actor=self.actor, now=now)
        else:
            restored = forget.restore(self.workspace, values["ids"], actor=self.actor, now=now)
        hidden = forget.still_hidden(restored.memories, now)
        body = {
            "restored": len(restored.memories),
            "ids": [memory.id for memory in restored.memories],
            "still_hidden": [{"id": i, "state": state} for i, state in hidden.items()],
            "pending": _present_pending(restored.pending),
        }
        return _pending_or_done(body, restored.pending, is_done=bool(restored.memories))


class Rollback(WorkspaceView):
    """`POST /memories/rollback`."""

    roles: ClassVar = {"POST": Role.ADMIN}

    @extend_schema(request=shapes.RollbackSerializer, responses=shapes.RollbackAnswerSerializer)
    def post(self, request: Request) -> Response:
        """Preview, or with `confirm` forget, everything that a writer wrote since a time."""
        values = validate_body(shapes.RollbackSerializer, request).validated_data
        writer = Writer(values["agent"], values["session_key"], values["key_id"])
        now = timezone.now()
        if not values["confirm"]:
            with in_workspace(self.workspace):
                plan = preview(self.workspace, writer, values["since"])
                return Response(
                    {
                        "would_forget": shapes.present(plan.newest),
                        "total": plan.total,
                        "would_bring_back": plan.superseded,
                        "would_reword": plan.reworded,
                        "would_take_out": plan.taken_out,
                        "kept": [asdict(one) for one in plan.kept],
                    }
                )
        done = rollback.roll_back(
            self.workspace, writer, values["since"], actor=self.actor, now=now
        )
        return Response(
            {
                "rollback": done.id,
                "forgotten": done.forgotten,
                "brought_back": done.brought_back,
                "reworded": done.reworded,
                "taken_out": done.taken_out,
                "kept": [asdict(one) for one in done.kept],
            }
        )
