"""Answer shapes of detection quality."""

from __future__ import annotations

from dataclasses import fields
from datetime import datetime
from typing import Any

from rest_framework import serializers

from conflicts.core.rules.registry import rule_of
from conflicts.serializers.card import RuleSerializer
from conflicts.services.detection.quality import Quality, VerdictCounts
from engram.kernel.answers import fields_of
from engram.kernel.fields import Moment
from memories.serializers.gate import ShareSerializer


class QualityPeriodSerializer(serializers.Serializer[Any]):
    """The period of the verdicts; without bounds all of them."""

    since = Moment(required=False, help_text="Verdicts from here on.")
    until = Moment(required=False, help_text="Verdicts before this; else until now.")

    def validate(self, fields: dict[str, Any]) -> dict[str, Any]:
        """Refuse a period that ends before it begins."""
        since: datetime | None = fields.get("since")
        until: datetime | None = fields.get("until")
        if since and until and since >= until:
            raise serializers.ValidationError({"until": "Must lie after since."})
        return {"since": since, "until": until}


@fields_of(VerdictCounts)
class JudgedSerializer(serializers.Serializer[Any]):
    """Counts of people's verdicts on some of the cards."""

    confirmed = ShareSerializer(help_text="Any verdict except dismiss.")
    dismissed = ShareSerializer(help_text="Verdicts dismiss: the detector was wrong.")
    both_valid = serializers.IntegerField(
        help_text="Those of the confirmed whose members do not exclude each other."
    )


class AgentSerializer(JudgedSerializer):
    """The verdicts on what one agent judged or reported."""

    agent = serializers.CharField()


class RuleJudgedSerializer(JudgedSerializer):
    """The verdicts on what one rule found; a card that two found counts for both."""

    rule = RuleSerializer(help_text="The rule.")


class MonthSerializer(JudgedSerializer):
    """One month (UTC)."""

    month = serializers.DateField(help_text="Its first day.")


class KindsSerializer(serializers.Serializer[Any]):
    """The verdicts of each kind."""

    reversal = JudgedSerializer()
    ambiguity = JudgedSerializer()
    stale = JudgedSerializer()


class DetectorsSerializer(serializers.Serializer[Any]):
    """The verdicts on what each detector found; a card that two found counts for both."""

    rules = JudgedSerializer()
    narrative = JudgedSerializer()
    agent = JudgedSerializer()
    person = JudgedSerializer()


class QualitySerializer(JudgedSerializer):
    """The verdicts of a period that were not undone."""

    since = serializers.DateTimeField(allow_null=True)
    until = serializers.DateTimeField()
    kinds = KindsSerializer()
    detectors = DetectorsSerializer()
    rules = RuleJudgedSerializer(many=True, help_text="Those with a verdict, busiest first.")
    agents = AgentSerializer(many=True, help_text="Those who judge or report, busiest first.")
    months = MonthSerializer(many=True)
    undone = serializers.IntegerField(help_text="Verdicts that were undone; not counted.")
    lapsed = serializers.IntegerField(help_text="Cards that closed by themselves; not counted.")
    waiting = serializers.IntegerField(help_text="Cards that wait now.")


def present_quality(quality: Quality) -> dict[str, Any]:
    """Return the figures as `QualitySerializer` shows them."""
    shown = {
        **_fields_of(quality),
        **_fields_of(quality.total),
        "rules": [
            {"rule": rule_of(rule), **_fields_of(one)} for rule, one in quality.rules.items()
        ],
        "agents": [{"agent": name, **_fields_of(one)} for name, one in quality.agents.items()],
        "months": [{"month": m.start, **_fields_of(m.judged)} for m in quality.months],
    }
    return dict(QualitySerializer(shown).data)


def _fields_of(found: VerdictCounts | Quality) -> dict[str, Any]:
    """Return the fields of a dataclass by name, without converting nested ones."""
    return {one.name: getattr(found, one.name) for one in fields(found)}
