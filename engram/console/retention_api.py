"""API view of retention: what is deleted by age, and how much that would be now."""

from __future__ import annotations

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from engram.kernel.api import WorkspaceView
from memories.services.retention.due import SETTINGS, KeptFor, preview

MAX_DAYS = 36_500


def _days(what: str) -> serializers.IntegerField:
    return serializers.IntegerField(
        required=False,
        min_value=1,
        max_value=MAX_DAYS,
        help_text=f"Count as if {what} were kept for so many days; default: the setting.",
    )


class RetentionAskedSerializer(serializers.Serializer[Any]):
    """The query of `GET /workspace/retention`."""

    retention_session_days = _days("sessions")
    retention_transcript_days = _days("transcripts")
    retention_recall_days = _days("records of recalls")
    retention_query_days = _days("past recalls")


class KeptForSerializer(serializers.Serializer[KeptFor]):
    """One limit."""

    kind = serializers.ChoiceField(list(SETTINGS), help_text="What it limits.")
    setting = serializers.SerializerMethodField(help_text="The setting with its days.")
    days = serializers.IntegerField(allow_null=True, help_text="Null: kept.")
    keeps_since = serializers.DateTimeField(
        allow_null=True,
        help_text="What is older is deleted: the local midnight so many days ago; null: nothing.",
    )
    due = serializers.IntegerField(
        help_text="How much would be deleted now: sessions, sessions with a transcript, rows, or "
        "past recalls."
    )

    def get_setting(self, limit: KeptFor) -> str:
        """Return the name of the setting."""
        return SETTINGS[limit.kind]


class RetentionSerializer(serializers.Serializer[Any]):
    """What is deleted by age."""

    time_zone = serializers.CharField(help_text="Whose midnights count.")
    limits = KeptForSerializer(many=True, help_text="Its limits, in the order in which they apply.")


class Retention(WorkspaceView):
    """What the workspace deletes by age."""

    query_shape = RetentionAskedSerializer

    @extend_schema(responses=RetentionSerializer)
    def get(self, request: Request) -> Response:
        """Count what would be deleted by age now, also with other days; nothing is deleted."""
        limits = preview(self.workspace, now=timezone.now(), changes=self.query_values())
        answer = {"time_zone": self.workspace.config.time_zone, "limits": limits}
        return Response(RetentionSerializer(answer).data)
