"""The janitor's runs, what they did, and what one would do, as callers see them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rest_framework import serializers

from engram.kernel.fields import AskedWhole, Flag
from engram.kernel.pagination import MAX_LIMIT
from memories.core.janitor import Deed, Reason
from memories.models import JanitorAction
from memories.serializers.memory import MemorySerializer, present
from memories.services.janitor.scan import JanitorFinding


class JanitorRequestSerializer(serializers.Serializer[Any]):
    """The body of a run."""

    dry_run = Flag(default=False, help_text="Say what a run would do, and change nothing.")
    cull = Flag(
        allow_null=True,
        default=None,
        help_text="Also hide what was demoted three times; null: as the workspace's settings say.",
    )


class PreviewQuerySerializer(serializers.Serializer[Any]):
    """What a preview is asked for."""

    cull = serializers.BooleanField(allow_null=True, default=None, help_text="As if culling.")
    limit = AskedWhole(min_value=1, max_value=MAX_LIMIT, default=50)
    after = serializers.UUIDField(
        required=False, allow_null=True, default=None, help_text="The last memory seen so far."
    )


class JanitorNumbersSerializer(serializers.Serializer[Any]):
    """How many memories; `reported` are those that age alone never touches."""

    cull = serializers.BooleanField(source="may_cull")
    examined = serializers.IntegerField(help_text="Live, old enough and of no use so far.")
    demoted = serializers.IntegerField()
    culled = serializers.IntegerField()
    reported = serializers.IntegerField()


class JanitorRunSerializer(JanitorNumbersSerializer):
    """One run."""

    id = serializers.UUIDField()
    started_at = serializers.DateTimeField()
    actor = serializers.CharField(source="actor_label")
    undone_at = serializers.DateTimeField(allow_null=True)


class StandingSerializer(serializers.Serializer[Any]):
    """What the janitor may change of a memory."""

    weight_factor = serializers.FloatField()
    confidence_factor = serializers.FloatField()
    demotion_count = serializers.IntegerField()
    demoted_at = serializers.DateTimeField(allow_null=True)
    culled_at = serializers.DateTimeField(allow_null=True)


class JanitorActionSerializer(serializers.Serializer[Any]):
    """What a run did to one memory."""

    id = serializers.UUIDField()
    run_id = serializers.UUIDField()
    memory_id = serializers.UUIDField()
    verb = serializers.ChoiceField(JanitorAction.Verb.choices)
    before = StandingSerializer()
    after = StandingSerializer()
    at = serializers.DateTimeField()
    undone_at = serializers.DateTimeField(allow_null=True)


class FindingSerializer(serializers.Serializer[Any]):
    """What would be done about one memory, and why."""

    memory = MemorySerializer()
    deed = serializers.ChoiceField([deed.value for deed in Deed])
    reason = serializers.ChoiceField([reason.value for reason in Reason])
    weight_factor = serializers.FloatField(help_text="Afterwards.")
    confidence_factor = serializers.FloatField(help_text="Afterwards.")


class JanitorPreviewSerializer(JanitorNumbersSerializer):
    """What a run would do now: the numbers of all of it, and one page, oldest memories first."""

    results = FindingSerializer(many=True)
    next = serializers.URLField(allow_null=True)
    previous = serializers.URLField(allow_null=True, help_text="Always null: pages go one way.")


def present_findings(findings: Iterable[JanitorFinding]) -> list[dict[str, Any]]:
    """Return findings as callers see them."""
    ordered = list(findings)
    shown = present([finding.memory for finding in ordered])
    return [
        {
            "memory": memory,
            "deed": finding.verdict.deed.value,
            "reason": finding.verdict.reason.value,
            "weight_factor": finding.verdict.weight_factor,
            "confidence_factor": finding.verdict.confidence_factor,
        }
        for memory, finding in zip(shown, ordered, strict=True)
    ]
