"""The body of a recall and its answer."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from engram.kernel.fields import (
    Flag,
    Number,
    Path,
    Text,
    Whole,
)
from memories.models import Kind
from memories.serializers.memory import MemorySerializer

QUERY_MAX_CHARS = 20_000


@extend_schema_field({"type": "string", "nullable": True, "maxLength": 0, "minLength": 1})
class NotYet(serializers.Field[Any, Any, Any, Any]):
    """A field of the contract that takes null only, so that nothing asked for is ignored."""

    def __init__(self, **kwargs: Any):
        super().__init__(required=False, allow_null=True, default=None, **kwargs)

    def to_internal_value(self, value: Any) -> Any:
        """Refuse every value."""
        raise serializers.ValidationError("Not available yet; leave it out or null.")

    def to_representation(self, value: Any) -> Any:
        """Show what was given."""
        return value


class RecallSerializer(serializers.Serializer[Any]):
    """The body of a recall."""

    query = Text(max_length=QUERY_MAX_CHARS)
    k = Whole(min_value=1, max_value=100, default=10)
    scope = Path(max_length=300, allow_blank=True, default="")
    project = Text(max_length=200, allow_blank=True, default="")
    kinds = serializers.ListField(child=serializers.ChoiceField(Kind.choices), default=list)
    min_score = Number(min_value=0, max_value=1, allow_null=True, default=None)
    explain = Flag(default=False)
    record = Flag(default=True)
    session_key = Text(max_length=200, allow_null=True, allow_blank=True, default=None)
    as_of = NotYet(help_text="Answering from the past is not available yet: leave it null.")
    graph = NotYet(help_text="Null: the workspace's default (off). Others are not available yet.")
    rerank = NotYet(help_text="Null: the workspace's default (off). Others are not available yet.")
    weights = NotYet(help_text="Null: the workspace's weights. Others are not available yet.")


class RecalledSerializer(serializers.Serializer[Any]):
    """One recalled memory."""

    memory = MemorySerializer()
    score = serializers.FloatField()
    cosine = serializers.FloatField(allow_null=True)
    rank = serializers.IntegerField()
    disputed = serializers.BooleanField()
    conflicts = serializers.ListField(child=serializers.UUIDField())
    explain = serializers.DictField(required=False)


class RecallAnswerSerializer(serializers.Serializer[Any]):
    """The answer to a recall."""

    results = RecalledSerializer(many=True)
    associations = serializers.ListField(child=serializers.DictField())
    took_ms = serializers.FloatField()
    reason = serializers.CharField(required=False, help_text="Why nothing was found.")
