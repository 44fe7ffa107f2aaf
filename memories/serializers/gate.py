"""Serializers of merges, merge suggestions, the audit and the gate's metrics."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from engram.kernel.answers import fields_of
from engram.kernel.fields import Flag, Id, Moment, QueryWhole
from memories.core.comparing import MAX_COMPARED_CHARS
from memories.core.metrics import Interval
from memories.models import (
    Memory,
    Merge,
    MergeSuggestion,
    Provenance,
    Relation,
    State,
    SuggestionStatus,
)
from memories.serializers.memory import MemorySerializer, present
from memories.services.disputes import disputes_of, shared_conflicts
from memories.services.gate.answer_suggestion import preview_merge
from memories.services.gate.metrics import GateMetrics, Week
from memories.services.gate.split import Split

DEFAULT_WEEKS, MAX_WEEKS = 12, 260


SUGGESTED_BY = ["gate", "agent", "person", "split"]


class SplitSerializer(serializers.Serializer[Any]):
    """The body of a split."""

    observation_id = Id(help_text="The observation whose statement was merged.")


class SplitAnswerSerializer(serializers.Serializer[Any]):
    """Both memories after a split."""

    memory = MemorySerializer(help_text="The memory of the statement that was split off.")
    survivor = MemorySerializer(help_text="The memory that it had been merged into.")
    kept = serializers.ListField(
        child=serializers.CharField(),
        help_text="Fields of the survivor that were changed after the merge and are not restored.",
    )


def present_split(done: Split) -> dict[str, Any]:
    """Return the JSON of a split."""
    memory, survivor = present([done.memory, done.survivor])
    return {"memory": memory, "survivor": survivor, "kept": list(done.kept)}


@extend_schema_serializer(component_name="SuggestionMember")
class MemberSerializer(serializers.Serializer[Any]):
    """One of the two memories of a suggestion; the text of a forgotten one is null."""

    id = serializers.UUIDField()
    content = serializers.CharField(allow_null=True)
    scope = serializers.CharField()
    project = serializers.CharField()
    provenance = serializers.ChoiceField(Provenance.choices)
    confidence = serializers.FloatField()
    agent = serializers.CharField()
    state = serializers.ChoiceField(State.choices)
    observed_at = serializers.DateTimeField()
    created_at = serializers.DateTimeField()


@extend_schema_serializer(component_name="SuggestionMerge")
class MergingSerializer(serializers.Serializer[Any]):
    """What a merge that keeps one of the two wordings would drop."""

    keep = serializers.UUIDField(help_text="Send it as `keep` to merge in this wording.")
    is_default = serializers.BooleanField(
        help_text="The wording that survives when `keep` is not sent."
    )
    drops = serializers.ListField(
        child=serializers.CharField(),
        help_text="Claims of the other memory that this wording does not make.",
    )


@extend_schema_serializer(component_name="MergeSuggestion")
class SuggestionSerializer(serializers.Serializer[Any]):
    """Two memories that are probably duplicates."""

    id = serializers.UUIDField()
    status = serializers.ChoiceField(SuggestionStatus.choices)
    relation = serializers.ChoiceField(Relation.choices)
    similarity = serializers.FloatField(allow_null=True)
    reasons = serializers.ListField(child=serializers.CharField())
    detected_by = serializers.ChoiceField(SUGGESTED_BY)
    memories = MemberSerializer(many=True, help_text="Both, the older one first: it stays.")
    conflicts = serializers.ListField(
        child=serializers.UUIDField(),
        help_text="Open conflicts that ask which of the two holds: while there is one, the two "
        "are not merged and the suggestion counts as lapsed.",
    )
    created_at = serializers.DateTimeField()
    decided_at = serializers.DateTimeField(allow_null=True)
    decided_by = serializers.CharField(allow_blank=True)


@extend_schema_serializer(component_name="MergeSuggestionDetail")
class SuggestionDetailSerializer(SuggestionSerializer):
    """One suggestion with what a merge would drop."""

    merges = MergingSerializer(
        many=True,
        help_text="What accepting would drop, in either wording; empty unless it is open. Two "
        f"texts of more than {MAX_COMPARED_CHARS:,} characters together are not compared claim by "
        "claim: all of the other is listed.",
    )


class AcceptSerializer(serializers.Serializer[Any]):
    """The body of accepting a suggestion."""

    keep = Id(
        required=False, allow_null=True, default=None,
        help_text="The memory whose wording survives; without it the gate's rules choose.",
    )  # fmt: skip


def present_suggestions(
    suggestions: Iterable[MergeSuggestion], now: datetime
) -> list[dict[str, Any]]:
    """Return the JSON of suggestions (memories prefetched), with their present status."""
    rows = list(suggestions)
    disputes = disputes_of({pk for row in rows for pk in (row.memory_id, row.other_id)})
    return [
        _suggestion(row, shared_conflicts(row.memory_id, row.other_id, disputes), now)
        for row in rows
    ]


def present_suggestion(row: MergeSuggestion, now: datetime) -> dict[str, Any]:
    """Return the JSON of one suggestion (memories prefetched), with what accepting would drop.

    Only here, not in the list, because each pair takes a comparison of claims.
    """
    (shown,) = present_suggestions([row], now)
    merges = preview_merge(row) if shown["status"] == SuggestionStatus.OPEN else ()
    return {
        **shown,
        "merges": [
            {"keep": one.keep, "is_default": one.is_default, "drops": list(one.drops)}
            for one in merges
        ],
    }


def _suggestion(row: MergeSuggestion, conflicts: list[UUID], now: datetime) -> dict[str, Any]:
    members = sorted((row.memory, row.other), key=lambda memory: (memory.created_at, memory.id))
    is_withheld = any(memory.forgotten_at for memory in members)
    return {
        "id": row.id,
        "status": present_status(row, now, conflicts),
        "relation": row.relation,
        "similarity": row.similarity,
        "reasons": [] if is_withheld else row.reasons,  # they quote the memories
        "detected_by": row.detected_by,
        "memories": [_member(memory, now) for memory in members],
        "conflicts": conflicts,
        "created_at": row.created_at,
        "decided_at": row.decided_at,
        "decided_by": row.decided_by,
    }


def present_status(row: MergeSuggestion, now: datetime, conflicts: Collection[UUID]) -> str:
    """Return the present status: an open suggestion can count as lapsed.

    It does while its memories have changed, or share one of the open `conflicts`.
    """
    if row.status != SuggestionStatus.OPEN:
        return row.status
    hashes = ":".join(sorted((row.memory.content_hash, row.other.content_hash)))
    is_live = all(m.state(now) == State.ACTIVE for m in (row.memory, row.other))
    places = {(m.scope, m.project) for m in (row.memory, row.other)}
    is_open = is_live and hashes == row.wordings and len(places) == 1 and not conflicts
    return str(SuggestionStatus.OPEN if is_open else SuggestionStatus.LAPSED)


def _member(memory: Memory, now: datetime) -> dict[str, Any]:
    return {
        "id": memory.id,
        "content": None if memory.forgotten_at else memory.content,
        "scope": memory.scope,
        "project": memory.project,
        "provenance": memory.provenance,
        "confidence": memory.confidence,
        "agent": memory.agent,
        "state": memory.state(now),
        "observed_at": memory.observed_at,
        "created_at": memory.created_at,
    }


class MergeSerializer(serializers.Serializer[Any]):
    """One merge in the audit; texts of a forgotten memory are null."""

    id = serializers.UUIDField()
    memory_id = serializers.UUIDField()
    observation_id = serializers.UUIDField(allow_null=True)
    statement = serializers.CharField(allow_null=True, help_text="The merged statement.")
    before = serializers.CharField(allow_null=True, help_text="The survivor's wording before.")
    after = serializers.CharField(allow_null=True, help_text="The survivor's wording after.")
    similarity = serializers.FloatField(allow_null=True)
    relation = serializers.ChoiceField(Relation.choices)
    reasons = serializers.ListField(child=serializers.CharField())
    merged_by = serializers.CharField(allow_blank=True)
    created_at = serializers.DateTimeField()
    split_at = serializers.DateTimeField(allow_null=True)
    correct = serializers.BooleanField(allow_null=True)
    audited_by = serializers.CharField(allow_blank=True)
    audited_at = serializers.DateTimeField(allow_null=True)


class AuditSerializer(serializers.Serializer[Any]):
    """A judgement of one merge."""

    correct = Flag(help_text="Whether the two state the same.")
    split = Flag(default=False, help_text="Also take a wrong merge apart.")

    def validate(self, fields: dict[str, Any]) -> dict[str, Any]:
        """Refuse to split a correct merge."""
        if fields["correct"] and fields["split"]:
            raise serializers.ValidationError({"split": "A correct merge is not split."})
        return fields


def present_merges(merges: Iterable[Merge]) -> list[dict[str, Any]]:
    """Return the JSON of merges (memory, observation and absorbed prefetched)."""
    return [_merge(merge) for merge in merges]


def _merge(merge: Merge) -> dict[str, Any]:
    absorbed = merge.absorbed
    is_withheld = bool(merge.memory.forgotten_at or (absorbed and absorbed.forgotten_at))
    statement = merge.observation.content if merge.observation else None
    return {
        "id": merge.id,
        "memory_id": merge.memory_id,
        "observation_id": merge.observation_id,
        "statement": None if is_withheld else statement,
        "before": None if is_withheld else merge.before.get("content"),
        "after": None if is_withheld else merge.after.get("content"),
        "similarity": merge.similarity,
        "relation": merge.relation,
        "reasons": [] if is_withheld else merge.reasons,
        "merged_by": merge.actor_label,
        "created_at": merge.created_at,
        "split_at": merge.split_at,
        "correct": merge.is_correct,
        "audited_by": merge.audited_by,
        "audited_at": merge.audited_at,
    }


class PeriodSerializer(serializers.Serializer[Any]):
    """The period of the metrics."""

    since = Moment(required=False, help_text="Start of the period; instead of `weeks`.")
    weeks = QueryWhole(
        required=False,
        min_value=1,
        max_value=MAX_WEEKS,
        help_text="Length of the period in weeks (default 12).",
    )

    def validate(self, fields: dict[str, Any]) -> dict[str, Any]:
        """Refuse two start times, and one in the future or too long ago."""
        now = timezone.now()
        since = fields.get("since")
        if since is None:
            return {"since": now - timedelta(weeks=fields.get("weeks", DEFAULT_WEEKS))}
        if "weeks" in fields:
            raise serializers.ValidationError({"weeks": "Give this or since."})
        if not now - timedelta(weeks=MAX_WEEKS) <= since <= now:
            raise serializers.ValidationError({"since": f"Must lie in the last {MAX_WEEKS} weeks."})
        return {"since": since}


class ShareSerializer(serializers.Serializer[Any]):
    """A share of `n` with its 95 % interval; null with the interval 0..1 when `n` is 0."""

    share = serializers.FloatField(allow_null=True)
    low = serializers.FloatField()
    high = serializers.FloatField()
    n = serializers.IntegerField()

    def to_representation(self, found: Interval) -> dict[str, Any]:
        """Return the JSON of the share."""
        share = found.mean if found.n else None
        return {"share": share, "low": found.low, "high": found.high, "n": found.n}


@fields_of(Week)
class WeekSerializer(serializers.Serializer[Any]):
    """One week, from Monday (UTC)."""

    returned = serializers.IntegerField(help_text="Memories that recalls returned.")
    noise = serializers.IntegerField(help_text="Those of them below the noise score.")


@fields_of(GateMetrics)
class GateMetricsSerializer(serializers.Serializer[Any]):
    """The gate's metrics."""

    trigger_rate = ShareSerializer(help_text="Commits with a neighbour near enough to compare.")
    noise_share = ShareSerializer(help_text="Recalled memories below the noise score.")
    false_merge_rate = ShareSerializer(help_text="Merges judged wrong or split, of those judged.")
    weeks = WeekSerializer(many=True)
