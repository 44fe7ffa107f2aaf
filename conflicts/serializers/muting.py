"""Shapes of proposals to mute a rule."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from conflicts.core.muting import meaning_of
from conflicts.models import Muting, MutingStatus
from conflicts.serializers.card import RuleSerializer
from engram.kernel.fields import Text
from memories.core.metrics import wilson
from memories.serializers.gate import ShareSerializer


class UnmuteSerializer(serializers.Serializer[Any]):
    """Which rule is to find again."""

    rule = Text(max_length=48, help_text="The id of a rule, or a tier: rules, narrative.")


class MutingSerializer(serializers.Serializer[Any]):
    """A proposal to mute a rule or a tier that people keep dismissing."""

    id = serializers.UUIDField()
    rule = RuleSerializer(help_text="The rule, or a tier (rules, narrative).")
    status = serializers.ChoiceField(MutingStatus.choices)
    confirmed = ShareSerializer(help_text="Of the verdicts that it was proposed by.")
    settled_by = serializers.CharField(allow_blank=True)
    settled_at = serializers.DateTimeField(allow_null=True)
    created_at = serializers.DateTimeField()


def present_muting(row: Muting) -> dict[str, Any]:
    """Return a proposal as `MutingSerializer` shows it."""
    shown = {
        "id": row.id,
        "rule": {"id": row.rule, "meaning": meaning_of(row.rule)},
        "status": row.status,
        "confirmed": wilson(row.confirmed, row.decided),
        "settled_by": row.settled_by,
        "settled_at": row.settled_at,
        "created_at": row.created_at,
    }
    return dict(MutingSerializer(shown).data)
