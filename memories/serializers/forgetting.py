"""Serializers to forget, restore and roll back memories."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from engram.kernel.fields import (
    Flag,
    Id,
    Number,
    PastMoment,
    Path,
    Text,
)
from memories.models import Kind, State
from memories.serializers.memory import MemorySerializer

QUERY_MAX_CHARS = 20_000


class ForgetSerializer(serializers.Serializer[Any]):
    """The body of a forget, by ids or by query; a preview unless confirmed."""

    ids = serializers.ListField(child=Id(), max_length=1000, required=False)
    query = Text(max_length=QUERY_MAX_CHARS, required=False)
    min_relevance = Number(
        min_value=0,
        max_value=1,
        allow_null=True,
        default=None,
        help_text="Least cosine of a memory with the query; null: the workspace's setting.",
    )
    kinds = serializers.ListField(child=serializers.ChoiceField(Kind.choices), default=list)
    scope = Path(
        max_length=300, allow_blank=True, default="", help_text="Includes all scopes below it."
    )
    project = Text(max_length=200, allow_blank=True, default="")
    confirm = Flag(default=False)

    def validate(self, fields: dict[str, Any]) -> dict[str, Any]:
        """Require exactly one way to select memories."""
        if ("ids" in fields) == ("query" in fields):
            raise serializers.ValidationError({"ids": "Give either ids or a query."})
        return fields


class ForgettableSerializer(MemorySerializer):
    """A memory that would be forgotten."""

    cosine = serializers.FloatField(
        allow_null=True,
        help_text="Its cosine with the query; null where ids were named, or for what was merged "
        "into a match and goes with it.",
    )


class WaitingSerializer(serializers.Serializer[Any]):
    """A memory that needs a review first."""

    id = serializers.UUIDField()
    review = serializers.UUIDField()


class ForgetAnswerSerializer(serializers.Serializer[Any]):
    """The forgotten memories or a preview; `status` and the first `review` when all are pending."""

    would_forget = ForgettableSerializer(
        many=True, required=False, help_text="A preview, the nearest first."
    )
    would_wait = serializers.ListField(
        child=serializers.UUIDField(),
        required=False,
        help_text="Those of them that would need a review first.",
    )
    status = serializers.CharField(required=False, help_text="`pending`")
    review = serializers.UUIDField(required=False, help_text="The first pending review.")
    forgotten = serializers.IntegerField(required=False)
    ids = serializers.ListField(child=serializers.UUIDField(), required=False)
    pending = WaitingSerializer(many=True, required=False)
    capped = serializers.BooleanField(
        required=False,
        help_text="The query matches more memories than one call returns; call again for the rest.",
    )
    reason = serializers.CharField(required=False, help_text="Why the query matches nothing.")


class RestoreSerializer(serializers.Serializer[Any]):
    """The body of a restore: memory ids, or the id of a rollback."""

    ids = serializers.ListField(child=Id(), allow_empty=False, max_length=1000, required=False)
    rollback = Id(required=False)

    def validate(self, fields: dict[str, Any]) -> dict[str, Any]:
        """Require exactly one way to select memories."""
        if ("ids" in fields) == ("rollback" in fields):
            raise serializers.ValidationError({"ids": "Give either ids or a rollback."})
        return fields


class StillHiddenSerializer(serializers.Serializer[Any]):
    """A restored memory that is still hidden for another reason."""

    id = serializers.UUIDField()
    state = serializers.ChoiceField(State.choices)


class RestoreAnswerSerializer(serializers.Serializer[Any]):
    """The restored memories; `status` and the first `review` when all are pending."""

    status = serializers.CharField(required=False, help_text="`pending`")
    review = serializers.UUIDField(required=False)
    restored = serializers.IntegerField()
    ids = serializers.ListField(child=serializers.UUIDField())
    still_hidden = StillHiddenSerializer(many=True)
    pending = WaitingSerializer(many=True)


class RollbackSerializer(serializers.Serializer[Any]):
    """The body of a rollback: a writer by at least one name, and a time."""

    agent = Text(max_length=200, allow_blank=True, default="")
    session_key = Text(max_length=200, allow_blank=True, default="")
    key_id = Id(allow_null=True, default=None)
    since = PastMoment()
    confirm = Flag(default=False)

    def validate(self, fields: dict[str, Any]) -> dict[str, Any]:
        """Require a writer, so that no call rolls back the whole workspace by mistake."""
        if not (fields["agent"] or fields["session_key"] or fields["key_id"]):
            raise serializers.ValidationError({"agent": "Name an agent, a session or a key."})
        return fields


class KeptSerializer(serializers.Serializer[Any]):
    """A memory of the writer that is not forgotten, and the reason."""

    id = serializers.UUIDField()
    reason = serializers.CharField()


class RollbackAnswerSerializer(serializers.Serializer[Any]):
    """The result of a rollback, or its preview."""

    would_forget = MemorySerializer(many=True, required=False, help_text="The newest 100.")
    total = serializers.IntegerField(
        required=False, help_text="The number of all that would be forgotten."
    )
    would_bring_back = serializers.IntegerField(required=False)
    would_reword = serializers.IntegerField(required=False)
    would_take_out = serializers.IntegerField(
        required=False, help_text="Merges of the writer's statements into memories of others."
    )
    rollback = serializers.UUIDField(required=False)
    forgotten = serializers.IntegerField(required=False)
    brought_back = serializers.IntegerField(required=False)
    reworded = serializers.IntegerField(required=False)
    taken_out = serializers.IntegerField(required=False)
    kept = KeptSerializer(many=True)
