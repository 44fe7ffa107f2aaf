"""Serializers of commits, revisions and their responses."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

from django.utils import timezone
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
from memories.core.content import CONTENT_MAX_CHARS
from memories.models import Kind, Provenance
from memories.serializers.answers import AnswersField
from memories.serializers.memory import MemorySerializer, present
from memories.services.commit.commit import Committed
from memories.services.commit.draft import Draft

TEN_YEARS_SECONDS = 10 * 366 * 86_400
MAX_TAGS = 50
OUTCOMES = ["created", "merged", "duplicate", "kept_apart", "suggested", "suppressed"]


class MemoryFields(serializers.Serializer[Any]):
    """The fields of a memory that a caller may set at commit and by PATCH."""

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

    answers = AnswersField(
        required=False,
        help_text="Up to three questions that the statement answers, each with the answer: two"
        " memories that answer one question differently are a conflict. Leave it out for questions,"
        " proposals and quotes, and for what you do not know.",
    )

    def validate(self, fields: dict[str, Any]) -> dict[str, Any]:
        """Convert a time to live into an expiry."""
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
    supersedes = Id(
        required=False, allow_null=True, help_text="The memory that this one supersedes."
    )
    observed_at = PastMoment(required=False, allow_null=True)
    derived_from = serializers.ListField(child=Id(), max_length=100, required=False)
    revive = Flag(
        required=False,
        source="is_revival",
        help_text="Restore the forgotten memory of this statement, if there is one.",
    )

    def validate(self, fields: dict[str, Any]) -> dict[str, Any]:
        """Refuse an expiry that is not later than `observed_at` (default: now)."""
        fields = super().validate(fields)
        observed_at = fields.get("observed_at") or timezone.now()
        _refuse_past(fields.get("expires_at"), observed_at)
        return fields

    def as_draft(self) -> Draft:
        """Return the validated body as a draft."""
        return draft_of(self.validated_data)


def draft_of(fields: dict[str, Any]) -> Draft:
    """Return validated fields as a draft."""
    values = dict(fields)
    for name in ("tags", "derived_from", "answers"):
        values[name] = tuple(values.get(name, ()))
    return Draft(**values)


def _refuse_past(expires_at: datetime | None, observed_at: datetime) -> None:
    if expires_at is not None and expires_at <= observed_at:
        message = "Must lie after the time when it was said; to hide a memory now, forget it."
        raise serializers.ValidationError({"expires_at": message})


class RevisionSerializer(MemoryFields):
    """The body of a PATCH: any field that does not identify the writer."""

    content = Text(max_length=CONTENT_MAX_CHARS, required=False)
    confidence = Number(min_value=0, max_value=1, required=False)

    def validate(self, fields: dict[str, Any]) -> dict[str, Any]:
        """Refuse a body that changes nothing."""
        fields = super().validate(fields)
        if not fields:
            raise serializers.ValidationError("Name at least one field to change.")
        _refuse_past(fields.get("expires_at"), timezone.now())
        return fields


class GateSerializer(serializers.Serializer[Any]):
    """The report of the redundancy gate."""

    nearest_id = serializers.UUIDField(allow_null=True)
    similarity = serializers.FloatField(allow_null=True)
    relation = serializers.ChoiceField(
        ["same", "refines", "contradicts", "different"], allow_null=True
    )
    reasons = serializers.ListField(child=serializers.CharField())


class NearbySerializer(serializers.Serializer[Any]):
    """A memory on the same subject that the rules could not judge: whose, since when, and why."""

    id = serializers.UUIDField(source="memory.id")
    content = serializers.CharField(source="memory.content")
    scope = serializers.CharField(source="memory.scope")
    agent = serializers.CharField(source="memory.agent")
    observed_at = serializers.DateTimeField(source="memory.observed_at")
    why = serializers.CharField(help_text="Why it is asked about: shared words, and nearness.")


class DetectionStatusSerializer(serializers.Serializer[Any]):
    """Return whether conflict detection will read the memory."""

    status = serializers.ChoiceField(
        ["queued", "off"],
        help_text="`queued`: the rules will read the memory, and a person is asked if they find a"
        " conflict. `off`: nobody reads it, also when it was `kept_apart`.",
    )


class CommittedSerializer(serializers.Serializer[Any]):
    """The response to a commit."""

    outcome = serializers.ChoiceField(
        OUTCOMES,
        help_text="`kept_apart`: it contradicts a neighbour and both stay; whether anybody is asked"
        " about it, `detection` tells.",
    )
    memory = MemorySerializer(allow_null=True)
    gate = GateSerializer()
    nearby = NearbySerializer(many=True)
    detection = DetectionStatusSerializer()


@lru_cache(maxsize=1)
def _nearby() -> NearbySerializer:
    """Return a shared serializer instance; it has no state."""
    return NearbySerializer()


def present_committed(results: Iterable[Committed]) -> list[dict[str, Any]]:
    """Return the JSON of commit results, in order."""
    ordered = list(results)
    nearby = _nearby()
    memories = [result.memory for result in ordered if result.memory is not None]
    latest = {result.memory.id: result for result in ordered if result.memory is not None}
    fresh = {i: result.links for i, result in latest.items() if result.links is not None}
    shown = {row["id"]: row for row in present(memories, fresh=fresh)}
    return [
        {
            "outcome": result.outcome,
            "memory": shown[str(result.memory.id)] if result.memory else None,
            "gate": result.gate.as_record(),
            "nearby": [nearby.to_representation(near) for near in result.nearby],
            "detection": {"status": "queued" if result.is_detection_queued else "off"},
        }
        for result in ordered
    ]


class BatchSerializer(serializers.Serializer[Any]):
    """Up to 500 commits, all or none."""

    memories = serializers.ListField(child=DraftSerializer(), allow_empty=False, max_length=500)


class BatchedSerializer(CommittedSerializer):
    """One result of a batch; a `pending` one waits for a reviewer, the others are written."""

    outcome = serializers.ChoiceField([*OUTCOMES, "pending"])
    review = serializers.UUIDField(allow_null=True)


class BatchAnswerSerializer(serializers.Serializer[Any]):
    """The results of a batch, in order."""

    results = BatchedSerializer(many=True)


class PendingSerializer(serializers.Serializer[Any]):
    """The response to a request that waits for a reviewer; nothing has changed yet."""

    status = serializers.ChoiceField(["pending"])
    review = serializers.UUIDField()
