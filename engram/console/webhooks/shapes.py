"""Serializers of webhooks and deliveries."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from engram.console.models import DeliveryStatus, WebhookDelivery, WebhookEndpoint
from engram.console.webhooks.addresses import URL_MAX_CHARS
from engram.console.webhooks.events import KINDS, TEST
from engram.kernel.fields import Flag, Text


class WebhookSerializer(serializers.ModelSerializer[WebhookEndpoint]):
    """A webhook without its secret."""

    events = serializers.ListField(child=serializers.CharField())
    enabled = serializers.BooleanField(source="is_enabled")
    failures = serializers.IntegerField(help_text="In a row, since something was delivered.")

    class Meta:
        model = WebhookEndpoint
        fields = [
            "id",
            "url",
            "events",
            "enabled",
            "disabled_reason",
            "failures",
            "failing_since",
            "rests_until",
            "attempted_at",
            "created_by",
            "created_at",
        ]
        read_only_fields = fields


class WebhookWithSecretSerializer(WebhookSerializer):
    """A webhook with its secret, which is shown only once."""

    secret = serializers.CharField(
        help_text="`whsec_` and the key in base64 by which deliveries are signed; it is never "
        "shown again."
    )

    class Meta(WebhookSerializer.Meta):
        fields = [*WebhookSerializer.Meta.fields, "secret"]
        read_only_fields = fields


def _url(**more: Any) -> Text:
    return Text(
        max_length=URL_MAX_CHARS,
        help_text="Where deliveries are sent by POST: `https://…` or `http://…` at a public "
        "address, in ASCII, without user, password and fragment.",
        **more,
    )


def _events(**more: Any) -> serializers.ListField:
    return serializers.ListField(
        child=serializers.ChoiceField([(kind, kind) for kind in KINDS]),
        min_length=1,
        max_length=len(KINDS),
        help_text="What is sent: types of events, as `GET /events` has them.",
        **more,
    )


class NewWebhookSerializer(serializers.Serializer[Any]):
    """The body to make a webhook."""

    url = _url()
    events = _events()


class ChangedWebhookSerializer(serializers.Serializer[Any]):
    """The changes of a webhook; what is left out stays."""

    url = _url(required=False)
    events = _events(required=False)
    enabled = Flag(
        required=False,
        source="is_enabled",
        help_text="True starts it anew, with what waits; false stops it.",
    )


class DeliverySerializer(serializers.ModelSerializer[WebhookDelivery]):
    """A delivery: one event for one webhook."""

    type = serializers.CharField(source="kind", help_text=f"The type of the event, or `{TEST}`.")
    webhook = serializers.UUIDField(source="endpoint_id")
    event = serializers.IntegerField(
        source="event_seq", allow_null=True, help_text="`seq` of the event; null without one."
    )
    object = serializers.CharField(source="object_id")
    status = serializers.ChoiceField(DeliveryStatus.choices)
    next_attempt_at = serializers.DateTimeField(
        source="due_at", allow_null=True, help_text="Null: it is not sent any more."
    )
    status_code = serializers.IntegerField(
        allow_null=True, help_text="Of the last answer; null without one."
    )
    note = serializers.CharField(
        help_text="The first line of the last answer, or why there was none."
    )

    class Meta:
        model = WebhookDelivery
        fields = [
            "id",
            "webhook",
            "type",
            "event",
            "object_type",
            "object",
            "at",
            "status",
            "attempts",
            "attempted_at",
            "next_attempt_at",
            "delivered_at",
            "status_code",
            "note",
        ]
        read_only_fields = fields
