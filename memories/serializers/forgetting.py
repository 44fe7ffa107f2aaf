"""The bodies of forgetting and bringing back, and their answers."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from engram.kernel.fields import (
    Flag,
    Id,
    Number,
    Text,
)
from memories.models import Kind
from memories.serializers.memory import MemorySerializer

QUERY_MAX_CHARS = 20_000


class IdsSerializer(serializers.Serializer[Any]):
    """Ids of memories."""

    ids = serializers.ListField(child=Id(), allow_empty=False, max_length=1000)


class ForgetSerializer(serializers.Serializer[Any]):
    """Forget by ids or by query; a preview unless confirmed."""

    ids = serializers.ListField(child=Id(), max_length=1000, required=False)
    query = Text(max_length=QUERY_MAX_CHARS, required=False)
    min_relevance = Number(min_value=0, max_value=1, default=0.6)
    kinds = serializers.ListField(child=serializers.ChoiceField(Kind.choices), default=list)
    confirm = Flag(default=False)

    def validate(self, fields: dict[str, Any]) -> dict[str, Any]:
        """Demand one way of naming memories."""
        if ("ids" in fields) == ("query" in fields):
            raise serializers.ValidationError({"ids": "Give either ids or a query."})
        return fields


class ForgetAnswerSerializer(serializers.Serializer[Any]):
    """What was forgotten, or would be."""

    would_forget = MemorySerializer(many=True, required=False)
    forgotten = serializers.IntegerField(required=False)
    ids = serializers.ListField(child=serializers.UUIDField(), required=False)
    reason = serializers.CharField(required=False)


class RestoreAnswerSerializer(serializers.Serializer[Any]):
    """What was brought back."""

    restored = serializers.IntegerField()
    ids = serializers.ListField(child=serializers.UUIDField())
