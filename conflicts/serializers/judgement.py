"""How memories relate: what callers say, and what follows."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from conflicts.models import JudgedRelation
from conflicts.serializers.card import ConflictDetailSerializer
from conflicts.services.reports.judge import DETAIL, RecordedRelation
from engram.kernel.fields import Id, Text


class RelationSerializer(serializers.Serializer[Any]):
    """How a memory relates to another; `refines`: it says more of the same."""

    other = Id()
    relation = serializers.ChoiceField(JudgedRelation.choices)
    reason = Text(max_length=1000, allow_blank=True, default="")


class RelatedSerializer(serializers.Serializer[Any]):
    """What was kept, and what followed from it."""

    id = serializers.UUIDField()
    memory = serializers.UUIDField()
    other = serializers.UUIDField()
    relation = serializers.ChoiceField(JudgedRelation.choices)
    reason = serializers.CharField(allow_blank=True)
    weight = serializers.FloatField(help_text="What the caller's record is worth, in (0, 1).")
    outcome = serializers.ChoiceField(list(DETAIL))
    detail = serializers.CharField()
    conflict = serializers.UUIDField(allow_null=True)
    suggestion = serializers.UUIDField(allow_null=True)
    created_at = serializers.DateTimeField()


class ReportedSerializer(ConflictDetailSerializer):
    """The card of a report, and whether the report opened it, made it grow, or was known."""

    outcome = serializers.ChoiceField(["opened", "joined", "known"])


class ReportKeptSerializer(serializers.Serializer[Any]):
    """A report that opens no card until somebody else says the same."""

    outcome = serializers.ChoiceField(["kept"])


def present_judged(judged: RecordedRelation) -> dict[str, Any]:
    """Return an answer as its caller sees it."""
    told = judged.judgement
    return dict(
        RelatedSerializer(
            {
                "id": told.id,
                "memory": told.memory_id,
                "other": told.other_id,
                "relation": told.relation,
                "reason": told.reason,
                "weight": told.weight,
                "outcome": judged.outcome,
                "detail": judged.detail,
                "conflict": judged.card.id if judged.card else None,
                "suggestion": judged.suggestion.id if judged.suggestion else None,
                "created_at": told.created_at,
            }
        ).data
    )
