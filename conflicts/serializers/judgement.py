"""Request and answer shapes of relations and reports."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from conflicts.models import JudgedRelation
from conflicts.serializers.card import ConflictDetailSerializer
from conflicts.services.reports.judge import DETAIL, RecordedRelation
from engram.kernel.fields import Id, Text


class RelationSerializer(serializers.Serializer[Any]):
    """How a memory relates to another: `refines` adds details, `replaces` says what changed."""

    other = Id()
    relation = serializers.ChoiceField(JudgedRelation.choices)
    reason = Text(max_length=1000, allow_blank=True, default="")


class RelatedSerializer(serializers.Serializer[Any]):
    """The stored relation and its outcome."""

    id = serializers.UUIDField()
    memory = serializers.UUIDField()
    other = serializers.UUIDField()
    relation = serializers.ChoiceField(JudgedRelation.choices)
    reason = serializers.CharField(allow_blank=True)
    weight = serializers.FloatField(help_text="Weight by the caller's record, in (0, 1).")
    outcome = serializers.ChoiceField([name for name in DETAIL if name != "pending"])
    detail = serializers.CharField()
    conflict = serializers.UUIDField(allow_null=True)
    suggestion = serializers.UUIDField(allow_null=True)
    created_at = serializers.DateTimeField()


class ReportedSerializer(ConflictDetailSerializer):
    """The card of a report, and whether the report opened it, joined it, or was known."""

    outcome = serializers.ChoiceField(["opened", "joined", "known"])


class ReportKeptSerializer(serializers.Serializer[Any]):
    """A report that opens no card: until somebody else reports the same (`kept`), or until people
    have decided about other reports of a new key (`capped`).
    """

    outcome = serializers.ChoiceField(["kept", "capped"])


def present_judged(judged: RecordedRelation) -> dict[str, Any]:
    """Return a stored relation as `RelatedSerializer` shows it."""
    stored = judged.judgement
    return dict(
        RelatedSerializer(
            {
                "id": stored.id,
                "memory": stored.memory_id,
                "other": stored.other_id,
                "relation": stored.relation,
                "reason": stored.reason,
                "weight": stored.weight,
                "outcome": judged.outcome,
                "detail": judged.detail,
                "conflict": judged.card.id if judged.card else None,
                "suggestion": judged.suggestion.id if judged.suggestion else None,
                "created_at": stored.created_at,
            }
        ).data
    )
