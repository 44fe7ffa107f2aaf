"""API views of keys, settings, history and health."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import django_filters
from django.db.models import Q, QuerySet
from django.http import HttpRequest, JsonResponse
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from conflicts.services.detection.replay import replay
from engram.console import replay_shapes
from engram.console import serializers as shapes
from engram.console.wording import WORDS
from engram.kernel import job_queue, keys
from engram.kernel.api import WorkspaceView, validate_body
from engram.kernel.configuration import WorkspaceSettings
from engram.kernel.filters import MomentFilter, StrictFilterSet
from engram.kernel.models import ApiKey, Event, Role
from engram.kernel.openapi import changes_of
from engram.kernel.pagination import NewestEventFirst
from engram.kernel.refusals import InvalidError, MissingError
from engram.kernel.services import change_settings, describe_settings
from engram.kernel.tenancy import in_workspace
from memories.services.extraction.results import without_forgotten


class KeyCollection(WorkspaceView, ListAPIView):  # type: ignore[type-arg]
    """The keys of the workspace."""

    roles = {"GET": Role.ADMIN, "POST": Role.ADMIN}
    serializer_class = shapes.KeySerializer
    filter_backends = ()
    keeps_answers = False  # a new key is shown only once

    def get_queryset(self) -> Any:
        """Return all keys, revoked ones too."""
        return ApiKey.objects.all()

    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """List the keys of the workspace, revoked ones too."""
        keys.uses.write(self.workspace.pk)
        return super().get(request, *args, **kwargs)

    @extend_schema(request=shapes.NewKeySerializer, responses={201: shapes.IssuedKeySerializer})
    def post(self, request: Request) -> Response:
        """Create a key; only this response contains its secret."""
        body = validate_body(shapes.NewKeySerializer, request).validated_data
        name, role, expires_at = (body.pop(field) for field in ("name", "role", "expires_at"))
        key, token = keys.issue(
            self.workspace,
            name=name,
            role=Role(role),
            expires_at=expires_at,
            claims=keys.claims_of(Role(role), **body),
            actor=self.actor,
            now=timezone.now(),
        )
        return Response({**shapes.KeySerializer(key).data, "key": token}, status=201)


class JobDetail(WorkspaceView):
    """One job."""

    default_read_role = Role.AGENT

    @extend_schema(responses=shapes.JobSerializer)
    def get(self, request: Request, job_id: UUID) -> Response:
        """Show how far a job is and what came of it, for 30 days.

        Reviewers see every job of the workspace, others those that they asked for.
        """
        job = job_queue.find(job_id, actor=self.actor)
        job.result = without_forgotten(job)
        return Response(shapes.JobSerializer(job).data)


class KeyDetail(WorkspaceView):
    """One key."""

    roles = {"GET": Role.ADMIN, "DELETE": Role.ADMIN}

    @extend_schema(responses=shapes.KeySerializer)
    def get(self, request: Request, key_id: UUID) -> Response:
        """Show a key (never its secret)."""
        keys.uses.write(self.workspace.pk)
        return Response(shapes.KeySerializer(self._find(key_id)).data)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, key_id: UUID) -> Response:
        """Revoke a key permanently; it stays in the list."""
        with in_workspace(self.workspace):
            key = self._find(key_id)
        keys.revoke(key, actor=self.actor, now=timezone.now())
        return Response(status=204)

    def _find(self, key_id: UUID) -> ApiKey:
        key = ApiKey.objects.filter(pk=key_id).first()
        if key is None:
            raise MissingError("There is no such key.")
        return key


class EventFilter(StrictFilterSet):
    """`GET /events` filters."""

    type = django_filters.ChoiceFilter(
        choices=sorted(WORDS.items()), label="What happened; an unknown type is refused"
    )
    object = django_filters.CharFilter(field_name="object_id")
    actor = django_filters.CharFilter(method="by_actor", label="Name or id of who did it")
    since = MomentFilter(field_name="at", lookup_expr="gte")

    class Meta:
        model = Event
        fields: list[str] = []

    def by_actor(self, queryset: QuerySet[Event], name: str, value: str) -> QuerySet[Event]:
        """Keep the events of one key or person."""
        return queryset.filter(Q(actor_label=value) | Q(actor_id=value))


class EventCollection(WorkspaceView, ListAPIView):  # type: ignore[type-arg]
    """The append-only history of the workspace."""

    serializer_class = shapes.EventSerializer
    filterset_class = EventFilter
    pagination_class = NewestEventFirst

    def get_queryset(self) -> Any:
        """Return all events."""
        return Event.objects.all()


class WorkspaceSettingsView(WorkspaceView):
    """The settings of the workspace."""

    roles = {"PATCH": Role.ADMIN}

    @extend_schema(responses=shapes.SettingsSerializer)
    def get(self, request: Request) -> Response:
        """Show every setting with its value, meaning and range."""
        return Response(describe_settings(self.workspace))

    @extend_schema(
        request={"application/json": changes_of(WorkspaceSettings)},
        responses=shapes.SettingsSerializer,
    )
    def patch(self, request: Request) -> Response:
        """Change settings, all or none."""
        changes = request.data
        if not isinstance(changes, dict):
            raise InvalidError("body", "Must be a JSON object of settings.")
        change_settings(self.workspace, changes, actor=self.actor, now=timezone.now())
        return Response(describe_settings(self.workspace))


class SettingsReplay(WorkspaceView):
    """A replay of past commits and detections with other settings."""

    roles = {"POST": Role.REVIEWER}
    joins = False  # writes nothing

    @extend_schema(
        request=replay_shapes.ReplaySerializer, responses=replay_shapes.ReplayAnswerSerializer
    )
    def post(self, request: Request) -> Response:
        """Return what the last days would have looked like with other settings, without writing."""
        body = validate_body(replay_shapes.ReplaySerializer, request).validated_data
        done = replay(self.workspace, body["settings"], days=body["days"], now=timezone.now())
        return Response(replay_shapes.ReplayAnswerSerializer(done).data)


def healthz(request: HttpRequest) -> JsonResponse:
    """Return 200: the process is alive."""
    return JsonResponse({"status": "ok"})
