"""The detective's runs as callers send for them and see them."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from conflicts.models import DetectionRun
from engram.kernel.fields import Id


class DetectSerializer(serializers.Serializer[Any]):
    """What to read again: one memory, or the whole story."""

    memory_id = Id(required=False, allow_null=True, default=None)


class DetectAnswerSerializer(serializers.Serializer[Any]):
    """What was queued."""

    status = serializers.ChoiceField(["queued"])
    memories = serializers.IntegerField()


class DetectionRunSerializer(serializers.ModelSerializer[DetectionRun]):
    """One reading of the story, by the rules or (reason `narrative`) by a model.

    `narrative` says what became of the model's reading: `waiting` (handed on), `done`, `capped`,
    `failed` (tried again later), `not_needed`, `off`. `survivors` are the memories that a model was
    shown of a story that is longer than its budget, of the batches that it answered about: none
    where it could not be asked, or was told all of the story. `dropped` counts what it reported
    that names none of them. `left_unread` counts the new memories that are too
    long for the rules (more than 2,000 words and signs), in which the rules looked for nothing.
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
