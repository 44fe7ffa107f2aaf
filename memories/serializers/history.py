"""What happened to a memory, as callers see it."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers


class HistoryEntrySerializer(serializers.Serializer[Any]):
    """One thing that happened to a memory; the wording where it is about one."""

    seq = serializers.IntegerField()
    type = serializers.CharField()
    at = serializers.DateTimeField()
    actor = serializers.CharField(source="actor_label")
    session_key = serializers.CharField()
    data = serializers.DictField()  # type: ignore[assignment]
    content = serializers.CharField(allow_null=True, help_text="What was sent, or said before.")
