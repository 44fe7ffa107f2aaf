"""The body of a recall and its answer."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from engram.kernel.fields import (
    Flag,
    Number,
    PastMoment,
    Path,
    Text,
    Whole,
)
from memories.models import Kind
from memories.serializers.memory import MemorySerializer

QUERY_MAX_CHARS = 20_000
MIN_WEIGHT = 1e-6


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


class Weights(serializers.Serializer[Any]):
    """Provenance weights for one call; a class that is left out keeps the workspace's weight."""

    user_stated = Number(min_value=MIN_WEIGHT, max_value=1, required=False)
    episode_summary = Number(min_value=MIN_WEIGHT, max_value=1, required=False)
    assistant_derived = Number(min_value=MIN_WEIGHT, max_value=1, required=False)

    def to_internal_value(self, data: Any) -> Any:
        """Refuse what is no class, so that a misspelt one is not ignored."""
        if isinstance(data, dict) and (unknown := sorted(set(data) - set(self.fields))):
            raise serializers.ValidationError(
                {str(name): ["There is no such class."] for name in unknown[:5]}
            )
        return super().to_internal_value(data)


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
    as_of = PastMoment(
        allow_null=True,
        default=None,
        help_text="Answer from what was active then, in the wording of then.",
    )
    graph = NotYet(help_text="Null: the workspace's default (off). Others are not available yet.")
    rerank = Flag(
        allow_null=True,
        default=None,
        help_text="Whether the best are compared token by token; null: the workspace's setting.",
    )
    weights = Weights(
        allow_null=True, default=None, help_text="Null: the workspace's provenance weights."
    )


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
