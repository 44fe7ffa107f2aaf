"""Memories as callers send and see them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db.models import prefetch_related_objects
from django.utils import timezone
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from engram.kernel.fields import (
    Flag,
    Id,
    JsonObject,
    Moment,
    Number,
    PastMoment,
    Path,
    Text,
    Whole,
)
from memories.models import Kind, Memory, Provenance, State
from memories.models.memory import CONTENT_MAX_CHARS
from memories.services.commit import Committed
from memories.services.disputes import disputes_of
from memories.services.draft import Draft

TEN_YEARS_SECONDS = 10 * 366 * 86_400
MAX_TAGS = 50
QUERY_MAX_CHARS = 20_000


class MemoryFields(serializers.Serializer[Any]):
    """What a caller may say about a memory at commit and later."""

    content = Text(max_length=CONTENT_MAX_CHARS, help_text="The statement, plain text.")
    scope = Path(
        max_length=300, allow_blank=True, required=False, help_text="Topic path: `infra/auth`."
    )
    project = Text(max_length=200, allow_blank=True, required=False)
    kind = serializers.ChoiceField(Kind.choices, required=False)
    confidence = Number(min_value=0, max_value=1, required=False, allow_null=True)
    importance = Number(min_value=0, max_value=1, required=False)
    tags = serializers.ListField(child=Text(max_length=100), max_length=MAX_TAGS, required=False)
    pinned = Flag(required=False, source="is_pinned")
    metadata = JsonObject(required=False, help_text="Free JSON object, 8 KB.")
    expires_at = Moment(required=False, allow_null=True)
    ttl_seconds = Whole(
        min_value=1, max_value=TEN_YEARS_SECONDS, required=False, allow_null=True, write_only=True
    )
    source = Text(  # type: ignore[assignment]  # the contract's word, DRF's attribute
        max_length=2000, required=False, allow_null=True, help_text="Evidence: path, URL, call."
    )

    def validate(self, fields: dict[str, Any]) -> dict[str, Any]:
        """Turn a time to live into an expiry."""
        ttl_seconds = fields.pop("ttl_seconds", None)
        if ttl_seconds is not None:
            if fields.get("expires_at") is not None:
                raise serializers.ValidationError({"ttl_seconds": "Give this or expires_at."})
            fields["expires_at"] = timezone.now() + timedelta(seconds=ttl_seconds)
        return fields


class DraftSerializer(MemoryFields):
    """The body of a commit."""

    provenance = serializers.ChoiceField(Provenance.choices, required=False)
    agent = Text(max_length=200, allow_blank=True, required=False)
    session_key = Text(max_length=200, allow_blank=True, required=False)
    supersedes = Id(required=False, allow_null=True, help_text="The memory that this replaces.")
    observed_at = PastMoment(required=False, allow_null=True)
    derived_from = serializers.ListField(child=Id(), max_length=100, required=False)
    revive = Flag(
        required=False, source="is_revival", help_text="Bring back what was forgotten before."
    )

    def as_draft(self) -> Draft:
        """Return the validated body as a draft."""
        return draft_of(self.validated_data)


def draft_of(fields: dict[str, Any]) -> Draft:
    """Return validated fields as a draft."""
    values = dict(fields)
    for name in ("tags", "derived_from"):
        values[name] = tuple(values.get(name, ()))
    return Draft(**values)


class RevisionSerializer(MemoryFields):
    """The body of a PATCH: any of the fields that do not say who asserted it."""

    content = Text(max_length=CONTENT_MAX_CHARS, required=False)
    confidence = Number(min_value=0, max_value=1, required=False)

    def validate(self, fields: dict[str, Any]) -> dict[str, Any]:
        """Refuse a body that changes nothing."""
        fields = super().validate(fields)
        if not fields:
            raise serializers.ValidationError("Name at least one field to change.")
        return fields


class MemorySerializer(serializers.Serializer[Memory]):
    """Every stored field of a memory."""

    id = serializers.UUIDField()
    lineage = serializers.UUIDField()
    content = serializers.CharField()
    scope = serializers.CharField()
    project = serializers.CharField()
    kind = serializers.ChoiceField(Kind.choices)
    provenance = serializers.ChoiceField(Provenance.choices)
    confidence = serializers.FloatField()
    importance = serializers.FloatField()
    tags = serializers.SerializerMethodField()
    agent = serializers.CharField()
    session_key = serializers.CharField()
    pinned = serializers.BooleanField(source="is_pinned")
    metadata = serializers.DictField()
    source = serializers.CharField(allow_null=True)  # type: ignore[assignment]
    state = serializers.SerializerMethodField()
    revision = serializers.IntegerField()
    supersedes = serializers.SerializerMethodField()
    superseded_by = serializers.UUIDField(source="superseded_by_id", allow_null=True)
    derived_from = serializers.SerializerMethodField()
    observed_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField(allow_null=True)
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()
    forgotten_at = serializers.DateTimeField(allow_null=True)
    recall_count = serializers.IntegerField()
    injected_count = serializers.IntegerField()
    hit_count = serializers.IntegerField()
    used_count = serializers.IntegerField()
    last_recalled_at = serializers.DateTimeField(allow_null=True)
    disputed = serializers.SerializerMethodField()
    conflicts = serializers.SerializerMethodField()

    @extend_schema_field(serializers.ListField(child=serializers.CharField()))
    def get_tags(self, memory: Memory) -> list[str]:
        """Return the tags in order."""
        return [row.tag for row in memory.tags.all()]

    @extend_schema_field(serializers.ChoiceField(State.choices))
    def get_state(self, memory: Memory) -> str:
        """Return the strongest state that applies now."""
        return str(memory.state())

    @extend_schema_field(serializers.ListField(child=serializers.UUIDField()))
    def get_derived_from(self, memory: Memory) -> list[UUID]:
        """Return the ids of the memories that this one summarises."""
        return [row.source_id for row in memory.derived_from.all()]

    @extend_schema_field(serializers.UUIDField(allow_null=True))
    def get_supersedes(self, memory: Memory) -> UUID | None:
        """Return the id of the newest memory that this one replaced."""
        replaced = sorted(memory.supersedes.all(), key=lambda m: (m.observed_at, m.id))
        return replaced[-1].id if replaced else None

    def get_disputed(self, memory: Memory) -> bool:
        """Tell whether the memory takes part in an open conflict."""
        return memory.id in self._disputes

    @extend_schema_field(serializers.ListField(child=serializers.UUIDField()))
    def get_conflicts(self, memory: Memory) -> list[UUID]:
        """Return the ids of its open conflicts."""
        found: list[UUID] = self._disputes.get(memory.id, [])
        return found

    @property
    def _disputes(self) -> dict[UUID, list[UUID]]:
        disputes: dict[UUID, list[UUID]] = self.context.get("disputes", {})
        return disputes


def present(memories: Sequence[Memory]) -> list[dict[str, Any]]:
    """Return memories as callers see them, with the same number of queries for 1 and for 100."""
    prefetch_related_objects(list(memories), "tags", "derived_from", "supersedes")
    context = {"disputes": disputes_of([memory.id for memory in memories])}
    return [dict(MemorySerializer(memory, context=context).data) for memory in memories]


def present_one(memory: Memory) -> dict[str, Any]:
    """Return one memory as callers see it."""
    return present([memory])[0]


class GateSerializer(serializers.Serializer[Any]):
    """What the redundancy gate saw."""

    nearest_id = serializers.UUIDField(allow_null=True)
    similarity = serializers.FloatField(allow_null=True)
    relation = serializers.ChoiceField(
        ["same", "refines", "contradicts", "different"], allow_null=True
    )
    reasons = serializers.ListField(child=serializers.CharField())


class NearbySerializer(serializers.Serializer[Any]):
    """A memory on the same subject that the rules could not judge."""

    id = serializers.UUIDField()
    content = serializers.CharField()
    scope = serializers.CharField()
    agent = serializers.CharField()
    observed_at = serializers.DateTimeField()


class DetectionStatusSerializer(serializers.Serializer[Any]):
    """Whether the detective will read the memory."""

    status = serializers.ChoiceField(["queued", "off"])


class CommittedSerializer(serializers.Serializer[Any]):
    """The answer to a commit."""

    outcome = serializers.ChoiceField(
        ["created", "merged", "duplicate", "kept_apart", "suggested", "suppressed"]
    )
    memory = MemorySerializer(allow_null=True)
    gate = GateSerializer()
    nearby = NearbySerializer(many=True)
    detection = DetectionStatusSerializer()


def present_committed(results: Iterable[Committed]) -> list[dict[str, Any]]:
    """Return the answers to commits, in order."""
    ordered = list(results)
    memories = [result.memory for result in ordered if result.memory is not None]
    shown = {row["id"]: row for row in present(memories)}
    return [
        {
            "outcome": result.outcome,
            "memory": shown[str(result.memory.id)] if result.memory else None,
            "gate": result.gate.as_record(),
            "nearby": NearbySerializer(result.gate.nearby, many=True).data,
            "detection": {"status": "queued" if result.is_detection_queued else "off"},
        }
        for result in ordered
    ]


class BatchSerializer(serializers.Serializer[Any]):
    """Up to 500 commits, all or nothing."""

    memories = serializers.ListField(child=DraftSerializer(), allow_empty=False, max_length=500)


class BatchAnswerSerializer(serializers.Serializer[Any]):
    """The answers to a batch, in order."""

    results = CommittedSerializer(many=True)


class IdsSerializer(serializers.Serializer[Any]):
    """Ids of memories."""

    ids = serializers.ListField(child=Id(), allow_empty=False, max_length=1000)


class ForgetSerializer(serializers.Serializer[Any]):
    """Forget by ids or by query; a preview unless confirmed."""

    ids = serializers.ListField(child=Id(), max_length=1000, required=False)
    query = Text(max_length=QUERY_MAX_CHARS, required=False)
    min_relevance = Number(min_value=0, max_value=1, default=0.6)
    kinds = serializers.ListField(child=serializers.ChoiceField(Kind.choices), default=list)
    confirm = Flag(default=False)

    def validate(self, fields: dict[str, Any]) -> dict[str, Any]:
        """Demand one way of naming memories."""
        if ("ids" in fields) == ("query" in fields):
            raise serializers.ValidationError({"ids": "Give either ids or a query."})
        return fields


class ForgetAnswerSerializer(serializers.Serializer[Any]):
    """What was forgotten, or would be."""

    would_forget = MemorySerializer(many=True, required=False)
    forgotten = serializers.IntegerField(required=False)
    ids = serializers.ListField(child=serializers.UUIDField(), required=False)
    reason = serializers.CharField(required=False)


class RestoreAnswerSerializer(serializers.Serializer[Any]):
    """What was brought back."""

    restored = serializers.IntegerField()
    ids = serializers.ListField(child=serializers.UUIDField())


@extend_schema_field({"type": "string", "nullable": True, "maxLength": 0, "minLength": 1})
class NotYet(serializers.Field[Any, Any, Any, Any]):
    """A field of the contract that takes null only, so that nothing asked for is ignored."""

    def __init__(self, **kwargs: Any):
        super().__init__(required=False, allow_null=True, default=None, **kwargs)

    def to_internal_value(self, value: Any) -> Any:
        """Refuse every value."""
        raise serializers.ValidationError("Not available yet; leave it out or null.")

    def to_representation(self, value: Any) -> Any:
        """Show what was given."""
        return value


class RecallSerializer(serializers.Serializer[Any]):
    """The body of a recall."""

    query = Text(max_length=QUERY_MAX_CHARS)
    k = Whole(min_value=1, max_value=100, default=10)
    scope = Path(max_length=300, allow_blank=True, default="")
    project = Text(max_length=200, allow_blank=True, default="")
    kinds = serializers.ListField(child=serializers.ChoiceField(Kind.choices), default=list)
    min_score = Number(min_value=0, max_value=1, allow_null=True, default=None)
    explain = Flag(default=False)
    record = Flag(default=True)
    session_key = Text(max_length=200, allow_null=True, allow_blank=True, default=None)
    as_of = NotYet(help_text="Answering from the past is not available yet: leave it null.")
    graph = NotYet(help_text="Null: the workspace's default (off). Others are not available yet.")
    rerank = NotYet(help_text="Null: the workspace's default (off). Others are not available yet.")
    weights = NotYet(help_text="Null: the workspace's weights. Others are not available yet.")


class RecalledSerializer(serializers.Serializer[Any]):
    """One recalled memory."""

    memory = MemorySerializer()
    score = serializers.FloatField()
    cosine = serializers.FloatField(allow_null=True)
    rank = serializers.IntegerField()
    disputed = serializers.BooleanField()
    conflicts = serializers.ListField(child=serializers.UUIDField())
    explain = serializers.DictField(required=False)


class RecallAnswerSerializer(serializers.Serializer[Any]):
    """The answer to a recall."""

    results = RecalledSerializer(many=True)
    associations = serializers.ListField(child=serializers.DictField())
    took_ms = serializers.FloatField()
    reason = serializers.CharField(required=False, help_text="Why nothing was found.")


class HistoryEntrySerializer(serializers.Serializer[Any]):
    """One thing that happened to a memory; the wording where it is about one."""

    seq = serializers.IntegerField()
    type = serializers.CharField()
    at = serializers.DateTimeField()
    actor = serializers.CharField(source="actor_label")
    session_key = serializers.CharField()
    data = serializers.DictField()  # type: ignore[assignment]
    content = serializers.CharField(allow_null=True, help_text="What was sent, or said before.")
