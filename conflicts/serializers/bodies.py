"""Request bodies about cards."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from conflicts.core.parts import MAX_MEMBERS
from conflicts.models.decision import Verdict
from engram.kernel.fields import Id, Moment, Text, Whole


class ReportSerializer(serializers.Serializer[Any]):
    """A report that memories contradict each other."""

    memory_ids = serializers.ListField(child=Id(), min_length=2, max_length=MAX_MEMBERS)
    note = Text(max_length=2000, allow_blank=True, default="")


class VerdictSerializer(serializers.Serializer[Any]):
    """A verdict on a card."""

    verdict = serializers.ChoiceField(Verdict.choices)
    keep = serializers.ListField(child=Id(), max_length=100, default=list)
    answer = Text(max_length=8000, allow_blank=True, default="")
    note = Text(max_length=2000, allow_blank=True, default="")
    version = Whole(min_value=1, max_value=2**31 - 1, required=False, allow_null=True)
    listing = Text(max_length=64, allow_blank=True, default="")


class SnoozeSerializer(serializers.Serializer[Any]):
    """Time until which a card is snoozed."""

    until = Moment()


class CommentBodySerializer(serializers.Serializer[Any]):
    """A comment on a card."""

    text = Text(max_length=2000)


class AssignSerializer(serializers.Serializer[Any]):
    """Assignee of a card: the user name of a member, or null for nobody."""

    assignee = Text(max_length=150, allow_null=True)
