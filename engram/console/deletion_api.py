"""API views of the deletion of the caller's workspace."""

from __future__ import annotations

from typing import Any, ClassVar

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from engram.kernel.api import WorkspaceView, validate_body
from engram.kernel.deletion import close_workspace, deletion_of
from engram.kernel.fields import Text
from engram.kernel.models import Role
from engram.kernel.refusals import MissingError
from engram.kernel.workspace_deletions import WorkspaceDeletion

STATUSES = ["queued", "running", "done"]


class DeletionWantedSerializer(serializers.Serializer[Any]):
    """The body that deletes a workspace."""

    slug = Text(
        max_length=64,
        help_text="The slug of the workspace, typed as a confirmation. What is deleted cannot be"
        " brought back.",
    )


class DeletionSerializer(serializers.Serializer[WorkspaceDeletion]):
    """The deletion of a workspace."""

    id = serializers.UUIDField()
    status = serializers.ChoiceField(STATUSES)
    progress = serializers.FloatField(help_text="0..1, by rows.")
    rows_total = serializers.IntegerField(
        allow_null=True, help_text="Rows that it had at the start; null: not counted yet."
    )
    rows_deleted = serializers.IntegerField(help_text="Rows that are deleted so far.")
    requested_at = serializers.DateTimeField()
    started_at = serializers.DateTimeField(allow_null=True)
    error = serializers.CharField(
        help_text="How the last attempt failed; it is tried again until it succeeds."
    )


class Deletion(WorkspaceView):
    """The deletion of the caller's workspace."""

    roles: ClassVar = {"GET": Role.ADMIN, "POST": Role.ADMIN}
    serves_closed = True

    @extend_schema(responses=DeletionSerializer)
    def get(self, request: Request) -> Response:
        """Show how far the deletion of the workspace is; 404 when none was asked for.

        At the end the key is deleted, too: then the answer is 401.
        """
        deletion = deletion_of(self.workspace)
        if deletion is None:
            raise MissingError("Nobody has asked to delete this workspace.")
        return Response(DeletionSerializer(deletion).data)

    @extend_schema(request=DeletionWantedSerializer, responses={202: DeletionSerializer})
    def post(self, request: Request) -> Response:
        """Close the workspace at once and for good, and delete it in the background.

        Everything in it is deleted: memories, notes, sessions, history, keys and memberships. All
        keys are refused with 410 from then on, except for this address. The same call again changes
        nothing, and shows how far it is.
        """
        body = validate_body(DeletionWantedSerializer, request).validated_data
        deletion = close_workspace(
            self.workspace, body["slug"], actor=self.actor, now=timezone.now()
        )
        return Response(DeletionSerializer(deletion).data, status=202)
