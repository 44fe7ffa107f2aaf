"""Request and answer shapes of detection runs."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from conflicts.models import DetectionRun
from engram.kernel.fields import Id


class DetectSerializer(serializers.Serializer[Any]):
    """What to read again: one memory, or all live ones."""

    memory_id = Id(required=False, allow_null=True, default=None)


class DetectAnswerSerializer(serializers.Serializer[Any]):
    """The number of queued memories."""

    status = serializers.ChoiceField(["queued"])
    memories = serializers.IntegerField()


class DetectionRunSerializer(serializers.ModelSerializer[DetectionRun]):
    """One detection run, by the rules or (reasons `answers` and `narrative`) by a model.

    `narrative` is the status of the model's part: `waiting` (queued), `done`, `capped`, `failed`
    (retried later), `not_needed`, `off`. `survivors` are the memories in the batches that the model
    answered about, when the memories exceeded its token budget; otherwise empty. `dropped` counts
    its findings that name none of the memories it was shown, or its answers that were refused.
    `left_unread` counts the new memories that are too long for the rules (more than 2,000 words and
    signs) and were not checked.
    """

    class Meta:
        model = DetectionRun
        fields = [
            "id",
            "status",
            "reason",
            "trigger_count",
            "facts_considered",
            "facts_forgotten",
            "left_unread",
            "batches",
            "narrative",
            "model",
            "prompt_version",
            "tokens",
            "cost_usd",
            "survivors",
            "dropped",
            "opened",
            "joined",
            "skipped",
            "lag_seconds",
            "duration_seconds",
            "error",
            "created_at",
        ]
        read_only_fields = fields
