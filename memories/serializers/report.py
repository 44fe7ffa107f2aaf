"""Serializers of what agents report at the end of their sessions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from engram.kernel.fields import Id, Number, Text
from memories.models import ReportItem, ReportKind, Session
from memories.services.sessions.report import Report, WrongMemory
from memories.services.sessions.reported import WITH_TEXT, visible_texts

TEXT_MAX_CHARS = 300  # of a reason, and of what was missing
USED_MAX = 200
WRONG_MAX = 50
MISSING_MAX = 20
NAMED_TWICE = "Name each memory once."


@extend_schema_field(
    {
        "type": "object",
        "additionalProperties": {"type": "number", "minimum": 0, "maximum": 1},
        "maxProperties": USED_MAX,
    }
)
class UsedField(serializers.Field[Any, Any, Any, Any]):
    """A JSON object: how much each memory was of use, from 0 to 1, by its id."""

    def to_internal_value(self, data: Any) -> dict[UUID, float]:
        """Return the use by memory."""
        if not isinstance(data, dict):
            raise serializers.ValidationError("Must be a JSON object: memory id → 0 to 1.")
        if len(data) > USED_MAX:
            raise serializers.ValidationError(f"At most {USED_MAX} memories.")
        number, key = Number(min_value=0, max_value=1), Id()
        try:
            found = {key.run_validation(i): number.run_validation(n) for i, n in data.items()}
        except serializers.ValidationError:
            raise serializers.ValidationError(
                "Must map ids of memories to numbers from 0 to 1."
            ) from None
        if len(found) < len(data):
            raise serializers.ValidationError(NAMED_TWICE)
        return found


class WrongSerializer(serializers.Serializer[Any]):
    """A memory that turned out false or outdated."""

    memory = Id(help_text="Its id.")
    reason = Text(
        max_length=TEXT_MAX_CHARS,
        allow_blank=True,
        default="",
        help_text="Why, in a few words; a person reads it beside the memory.",
    )


@extend_schema_field(WrongSerializer(many=True))
class WrongField(serializers.ListField):
    """Memories that turned out wrong, each once."""

    def __init__(self, **kwargs: Any):
        super().__init__(child=WrongSerializer(), max_length=WRONG_MAX, **kwargs)

    def to_internal_value(self, value: Any) -> list[WrongMemory]:
        """Return the memories with their reasons."""
        found = [WrongMemory(**one) for one in super().to_internal_value(value)]
        if len({one.memory for one in found}) < len(found):
            raise serializers.ValidationError(NAMED_TWICE)
        return found


class ReportSerializer(serializers.Serializer[Any]):
    """What the agent of a session says at its end; all of it may be left out."""

    used = UsedField(
        default=dict,
        help_text="How much memories that the session was given were of use: memory id → 0 (of no "
        "use) to 1 (the work turned on it). Of those that are left out nothing is known.",
    )
    wrong = WrongField(
        default=list,
        help_text="Memories that the session was given and that turned out false or outdated. "
        "People are asked about each; nothing changes by itself.",
    )
    missing = serializers.ListField(
        child=Text(max_length=TEXT_MAX_CHARS),
        max_length=MISSING_MAX,
        default=list,
        help_text="What had to be found out because no memory said it, a short text each.",
    )


def report_of(sent: dict[str, Any]) -> Report:
    """Return the report of a validated body."""
    return Report(sent["used"], sent["wrong"], sent["missing"])


class AgentReportWrongSerializer(serializers.Serializer[Any]):
    """A memory that the agent reported as wrong."""

    memory = serializers.UUIDField()
    reason = serializers.CharField(
        allow_null=True, help_text="Null: withheld, because it was forgotten."
    )


class AgentReportSerializer(serializers.Serializer[Any]):
    """What the agent reported at the end of its session."""

    at = serializers.DateTimeField()
    used = serializers.DictField(child=serializers.FloatField(), help_text="Memory id → use.")
    wrong = AgentReportWrongSerializer(
        many=True, help_text="Memories that turned out false or outdated."
    )
    missing = serializers.ListField(
        child=serializers.CharField(allow_null=True),
        help_text="Null: withheld, because it states a forgotten memory.",
    )


class ReportItemSerializer(serializers.Serializer[Any]):
    """What one agent reported as wrong or missing."""

    id = serializers.UUIDField()
    kind = serializers.ChoiceField([(kind.value, kind.label) for kind in WITH_TEXT])
    text = serializers.CharField(
        allow_null=True,
        help_text="What was missing, or why the memory is wrong; null: withheld, because a memory "
        "was forgotten.",
    )
    memory_id = serializers.UUIDField(allow_null=True, help_text="The wrong memory; null: missing.")
    session_key = serializers.CharField()
    project = serializers.CharField()
    scope = serializers.CharField()
    agent = serializers.CharField()
    created_at = serializers.DateTimeField()


def present_items(items: Sequence[ReportItem]) -> list[dict[str, Any]]:
    """Return the JSON of items with their sessions and memories."""
    texts, shape = visible_texts(items), ReportItemSerializer()
    return [
        dict(
            shape.to_representation(
                {
                    "id": item.pk,
                    "kind": item.kind,
                    "text": texts[item.pk],
                    "memory_id": item.memory_id,
                    "session_key": item.session.session_key,
                    "project": item.session.project,
                    "scope": item.session.scope,
                    "agent": item.session.agent,
                    "created_at": item.created_at,
                }
            )
        )
        for item in items
    ]


def present_report(session: Session) -> dict[str, Any] | None:
    """Return the JSON of a session's report; None when it has none."""
    report = getattr(session, "report", None)
    if report is None:
        return None
    items = list(session.report_items.select_related("memory").order_by("kind", "position"))
    texts = visible_texts(items)
    by_kind = {kind: [i for i in items if i.kind == kind] for kind in ReportKind}
    shown: dict[str, Any] = AgentReportSerializer(
        {
            "at": report.created_at,
            "used": {str(i.memory_id): i.value for i in by_kind[ReportKind.USED]},
            "wrong": [
                {"memory": i.memory_id, "reason": texts[i.pk]} for i in by_kind[ReportKind.WRONG]
            ],
            "missing": [texts[i.pk] for i in by_kind[ReportKind.MISSING]],
        }
    ).data
    return shown
