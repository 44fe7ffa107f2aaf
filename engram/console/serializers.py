"""Keys, history and settings as callers send and see them."""

from __future__ import annotations

from typing import Any

from django.utils import timezone
from rest_framework import serializers

from engram.kernel.fields import Moment, Text
from engram.kernel.models import ApiKey, Event, Role


class KeySerializer(serializers.ModelSerializer[ApiKey]):
    """A key without its secret."""

    class Meta:
        model = ApiKey
        fields = [
            "id",
            "name",
            "role",
            "prefix",
            "created_at",
            "expires_at",
            "revoked_at",
            "last_used_at",
            "use_count",
        ]
        read_only_fields = fields


class NewKeySerializer(serializers.Serializer[Any]):
    """The body that makes a key."""

    name = Text(max_length=120)
    role = serializers.ChoiceField(Role.choices, default=Role.AGENT)
    expires_at = Moment(required=False, allow_null=True, default=None)

    def validate_expires_at(self, moment: Any) -> Any:
        """Demand a time to come."""
        if moment is not None and moment <= timezone.now():
            raise serializers.ValidationError("Must be in the future.")
        return moment


class IssuedKeySerializer(KeySerializer):
    """A new key with its secret, shown this once."""

    key = serializers.CharField(help_text="The key itself; it is never shown again.")

    class Meta(KeySerializer.Meta):
        fields = [*KeySerializer.Meta.fields, "key"]
        read_only_fields = fields


class EventSerializer(serializers.ModelSerializer[Event]):
    """One thing that happened."""

    object = serializers.CharField(source="object_id")
    actor = serializers.CharField(source="actor_label")

    class Meta:
        model = Event
        fields = [
            "seq",
            "type",
            "object_type",
            "object",
            "actor_kind",
            "actor_id",
            "actor",
            "session_key",
            "data",
            "at",
        ]
        read_only_fields = fields


class SettingSerializer(serializers.Serializer[Any]):
    """One setting with its meaning and range."""

    name = serializers.CharField()
    value = serializers.JSONField()
    default = serializers.JSONField()
    meaning = serializers.CharField()
    range = serializers.DictField()


class SettingsSerializer(serializers.Serializer[Any]):
    """The settings of a workspace."""

    workspace = serializers.CharField()
    settings = serializers.DictField()
    describe = SettingSerializer(many=True)
