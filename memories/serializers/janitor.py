"""Serializers of the janitor's runs, actions and preview."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rest_framework import serializers

from engram.kernel.fields import Flag, QueryWhole
from engram.kernel.pagination import MAX_LIMIT
from memories.core.janitor import ActionKind, Reason
from memories.models import JanitorAction
from memories.serializers.memory import MemorySerializer, present
from memories.services.janitor.scan import JanitorFinding


class JanitorRequestSerializer(serializers.Serializer[Any]):
    """The body of a run."""

    dry_run = Flag(
        default=False, help_text="Return what a run would do, without changing anything."
    )
    cull = Flag(
        allow_null=True,
        default=None,
        help_text="Also hide what was demoted three times; null: the workspace's setting.",
    )


class PreviewQuerySerializer(serializers.Serializer[Any]):
    """The query parameters of a preview."""

    cull = serializers.BooleanField(
        allow_null=True, default=None, help_text="Preview a run with culling."
    )
    limit = QueryWhole(min_value=1, max_value=MAX_LIMIT, default=50)
    after = serializers.UUIDField(
        required=False,
        allow_null=True,
        default=None,
        help_text="The last memory of the previous page.",
    )


class JanitorNumbersSerializer(serializers.Serializer[Any]):
    """The counts of a run; `reported` are memories that age alone never changes."""

    cull = serializers.BooleanField(source="may_cull")
    examined = serializers.IntegerField(help_text="Live memories that are old enough and unused.")
    demoted = serializers.IntegerField()
    culled = serializers.IntegerField()
    reported = serializers.IntegerField()


class JanitorRunSerializer(JanitorNumbersSerializer):
    """One run."""

    id = serializers.UUIDField()
    started_at = serializers.DateTimeField()
    actor = serializers.CharField(source="actor_label")
    undone_at = serializers.DateTimeField(allow_null=True)


class DemotableFieldsSerializer(serializers.Serializer[Any]):
    """The fields of a memory that the janitor may change."""

    weight_factor = serializers.FloatField()
    confidence_factor = serializers.FloatField()
    demotion_count = serializers.IntegerField()
    demoted_at = serializers.DateTimeField(allow_null=True)
    culled_at = serializers.DateTimeField(allow_null=True)


class JanitorActionSerializer(serializers.Serializer[Any]):
    """One action of a run."""

    id = serializers.UUIDField()
    run_id = serializers.UUIDField()
    memory_id = serializers.UUIDField()
    verb = serializers.ChoiceField(JanitorAction.Verb.choices)
    before = DemotableFieldsSerializer()
    after = DemotableFieldsSerializer()
    at = serializers.DateTimeField()
    undone_at = serializers.DateTimeField(allow_null=True)


class FindingSerializer(serializers.Serializer[Any]):
    """The action that a run would take on one memory, and the reason."""

    memory = MemorySerializer()
    deed = serializers.ChoiceField([action.value for action in ActionKind])
    reason = serializers.ChoiceField([reason.value for reason in Reason])
    weight_factor = serializers.FloatField(help_text="Afterwards.")
    confidence_factor = serializers.FloatField(help_text="Afterwards.")


class JanitorPreviewSerializer(JanitorNumbersSerializer):
    """The preview of a run: the counts of the whole run, and one page, oldest memories first."""

    results = FindingSerializer(many=True)
    next = serializers.URLField(allow_null=True)
    previous = serializers.URLField(
        allow_null=True, help_text="Always null: pages only go forwards."
    )


def present_findings(findings: Iterable[JanitorFinding]) -> list[dict[str, Any]]:
    """Return the JSON of findings."""
    ordered = list(findings)
    shown = present([finding.memory for finding in ordered])
    return [
        {
            "memory": memory,
            "deed": finding.verdict.action.value,
            "reason": finding.verdict.reason.value,
            "weight_factor": finding.verdict.weight_factor,
            "confidence_factor": finding.verdict.confidence_factor,
        }
        for memory, finding in zip(shown, ordered, strict=True)
    ]
