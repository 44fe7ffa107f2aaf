"""Shapes of asks: pairs of memories whose relation a caller was asked to report."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from rest_framework import serializers

from memories.models import Ask
from memories.services.asks.waiting import reasons_of


class RelatedMemorySerializer(serializers.Serializer[Any]):
    """A memory as far as a relation needs it: what it says, where, whose, since when."""

    id = serializers.UUIDField()
    content = serializers.CharField()
    scope = serializers.CharField()
    agent = serializers.CharField()
    observed_at = serializers.DateTimeField()


class AskSerializer(serializers.Serializer[Any]):
    """A pair whose relation was asked about in the answer to a commit, and is not reported yet."""

    id = serializers.UUIDField()
    memory = RelatedMemorySerializer(help_text="The memory that the caller committed.")
    other = RelatedMemorySerializer(help_text="The older memory: `other` of the relation.")
    why = serializers.CharField(help_text="Why it is asked about: shared words, and nearness.")
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField(help_text="When it is no longer listed.")


def present_asks(asks: Sequence[Ask], *, days: int) -> list[dict[str, Any]]:
    """Return the JSON of asks of the current workspace, which expire after `days`."""
    reasons = reasons_of(asks)
    shape = AskSerializer()
    return [
        dict(
            shape.to_representation(
                {
                    "id": ask.id,
                    "memory": ask.memory,
                    "other": ask.other,
                    "why": reasons[ask.id],
                    "created_at": ask.created_at,
                    "expires_at": ask.created_at + timedelta(days=days),
                }
            )
        )
        for ask in asks
    ]
