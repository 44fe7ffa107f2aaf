"""Serializer of the history of a memory."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers


class HistoryEntrySerializer(serializers.Serializer[Any]):
    """One event of a memory, with the wording that it refers to, if any."""

    seq = serializers.IntegerField()
    type = serializers.CharField()
    at = serializers.DateTimeField()
    actor = serializers.CharField(source="actor_label")
    session_key = serializers.CharField()
    data = serializers.DictField()  # type: ignore[assignment]
    content = serializers.CharField(
        allow_null=True, help_text="The wording that was sent, or the one before a change."
    )
