"""Serializers of keys, history and settings."""

from __future__ import annotations

from typing import Any

from django.utils import timezone
from rest_framework import serializers

from engram.kernel.fields import Flag, Moment, Text
from engram.kernel.models import ApiKey, Event, Job, JobStatus, Provenance, Role


class KeySerializer(serializers.ModelSerializer[ApiKey]):
    """A key without its secret, with its claims."""

    relay = serializers.BooleanField(source="may_relay", read_only=True)

    class Meta:
        model = ApiKey
        fields = [
            "id",
            "name",
            "role",
            "provenance_ceiling",
            "relay",
            "may_pin",
            "agent",
            "prefix",
            "created_at",
            "expires_at",
            "revoked_at",
            "last_used_at",
            "use_count",
        ]
        read_only_fields = fields


class JobSerializer(serializers.Serializer[Job]):
    """A job in the background."""

    id = serializers.UUIDField()
    kind = serializers.CharField(help_text="What it does, such as `extraction`.")
    status = serializers.ChoiceField(JobStatus.choices)
    progress = serializers.FloatField(help_text="0..1.")
    result = serializers.DictField(
        help_text="Of an extraction that is done: `kept` (`memory`, its `outcome`, `fact`,"
        " `quote`, `speaker`, `provenance`, `confidence`), `refused` (`id`, `text`, `reason`,"
        " `borderline`; at most 50), `reasons` (how many were refused for each), `read_by` (`rules`"
        " or `model`), `model`, and `note` (why no model read it). Texts that were forgotten or"
        " erased since are missing."
    )
    error = serializers.CharField()
    created_at = serializers.DateTimeField()
    started_at = serializers.DateTimeField(
        allow_null=True, help_text="When a worker began it; null: it waits."
    )
    finished_at = serializers.DateTimeField(allow_null=True)


class NewKeySerializer(serializers.Serializer[Any]):
    """The body to create a key."""

    name = Text(max_length=120)
    role = serializers.ChoiceField(Role.choices, default=Role.AGENT)
    provenance_ceiling = serializers.ChoiceField(
        Provenance.choices,
        required=False,
        help_text="The most trusted class that its calls may claim; what goes beyond waits for a "
        "person. Default: `assistant_derived`, of reviewers and admins `user_stated`.",
    )
    relay = Flag(
        required=False,
        source="may_relay",
        help_text="It passes on a user's own words: its calls may claim `user_stated`, too.",
    )
    may_pin = Flag(
        required=False,
        help_text="It may write and change pins and constraints, which lead sessions. Reviewers "
        "and admins always may.",
    )
    agent = Text(
        max_length=200,
        allow_blank=True,
        required=False,
        help_text="The name under which it writes, always; empty: the name that each call claims.",
    )
    expires_at = Moment(required=False, allow_null=True, default=None)

    def validate_expires_at(self, moment: Any) -> Any:
        """Require a time in the future."""
        if moment is not None and moment <= timezone.now():
            raise serializers.ValidationError("Must be in the future.")
        return moment


class IssuedKeySerializer(KeySerializer):
    """A new key with its secret, which is shown only once."""

    key = serializers.CharField(help_text="The key itself; it is never shown again.")

    class Meta(KeySerializer.Meta):
        fields = [*KeySerializer.Meta.fields, "key"]
        read_only_fields = fields


class EventSerializer(serializers.ModelSerializer[Event]):
    """One event."""

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
