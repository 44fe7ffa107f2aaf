"""Serializers of replays of past commits and detections with other settings."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from conflicts.models.card import ConflictKind
from conflicts.services.detection.replay import AlsoFound, DetectionReplay, Replay, SettingChange
from engram.kernel.answers import fields_of
from engram.kernel.configuration import WorkspaceSettings
from engram.kernel.fields import Whole
from engram.kernel.openapi import changes_of
from memories.services.gate.replay import (
    GATED,
    ChangedOutcome,
    GateReplay,
    NotReplayed,
    OutcomeChange,
)
from memories.services.stored_counts import StoredCount

MAX_DAYS = 92


@extend_schema_field(changes_of(WorkspaceSettings))
class SettingsField(serializers.DictField):
    """Settings by name; the service validates them."""

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        """Return the object unchanged."""
        if not isinstance(data, dict):
            raise serializers.ValidationError("Must be a JSON object of settings.")
        return data


class ReplaySerializer(serializers.Serializer[Any]):
    """The body of a replay: settings to try, and the number of days."""

    settings = SettingsField()
    days = Whole(min_value=1, max_value=MAX_DAYS, default=30)


@fields_of(SettingChange)
class ChangeSerializer(serializers.Serializer[Any]):
    """One setting that would change."""

    value = serializers.JSONField(help_text="The present value.")
    asked = serializers.JSONField()


class OutcomesSerializer(serializers.Serializer[Any]):
    """The number of commits by outcome."""

    created = serializers.IntegerField()
    merged = serializers.IntegerField()
    suggested = serializers.IntegerField()
    kept_apart = serializers.IntegerField()


@fields_of(OutcomeChange)
class MoveSerializer(serializers.Serializer[Any]):
    """The number of commits that would change from one outcome to another."""

    before = serializers.ChoiceField(GATED)
    after = serializers.ChoiceField(GATED)


@fields_of(ChangedOutcome)
class MovedSerializer(serializers.Serializer[Any]):
    """One commit whose outcome would change."""

    before = serializers.ChoiceField(GATED)
    after = serializers.ChoiceField(GATED)
    said = serializers.ChoiceField(
        ["apart", "same"],
        allow_null=True,
        help_text="What people have answered about the two since.",
    )


@fields_of(NotReplayed)
class NotReplayedSerializer(serializers.Serializer[Any]):
    """The commits that are not replayed, by why."""

    forgotten = serializers.IntegerField(help_text="The memory was forgotten since.")
    replacing = serializers.IntegerField(
        help_text="Named the memory that they replace, so that the gate is not asked."
    )
    not_compared = serializers.IntegerField(
        help_text="Repeated a known statement, or came in without the gate."
    )
    beyond = serializers.IntegerField(help_text="Older than a replay reads.")


@fields_of(GateReplay)
class GateReplaySerializer(serializers.Serializer[Any]):
    """The replay of the gate."""

    commits = serializers.IntegerField(help_text="All commits of the period.")
    replayed = serializers.IntegerField(
        help_text="Those that passed the gate and were replayed: at most the newest 1,000, fewer"
        " if they are long."
    )
    left_out = NotReplayedSerializer(help_text="Those that were not replayed, by why.")
    is_cut = serializers.BooleanField(help_text="Whether there was more than a replay reads.")
    as_set = OutcomesSerializer(help_text="Under the present settings, replayed in the same way.")
    as_asked = OutcomesSerializer()
    moves = MoveSerializer(many=True, source="most_moves")
    examples = MovedSerializer(many=True, help_text="At most 50, those that people judged first.")
    merged_against_people = serializers.IntegerField(
        help_text="Newly merged, although people keep the two apart."
    )
    unmerged_against_people = serializers.IntegerField(
        help_text="No longer merged, although people merged them."
    )


class KindCountsSerializer(serializers.Serializer[Any]):
    """The number of cards by kind."""

    reversal = serializers.IntegerField()
    ambiguity = serializers.IntegerField()
    stale = serializers.IntegerField()


@fields_of(AlsoFound)
class AlsoFoundSerializer(serializers.Serializer[Any]):
    """A card that the rules would have opened in addition."""

    kind = serializers.ChoiceField(ConflictKind.choices)


@fields_of(DetectionReplay)
class DetectionReplaySerializer(serializers.Serializer[Any]):
    """The replay of detection."""

    cards = serializers.IntegerField(help_text="Opened in the period, the newest 2,000.")
    is_cut = serializers.BooleanField(help_text="Whether there was more than a replay reads.")
    as_set = KindCountsSerializer(help_text="Under the present settings, replayed in the same way.")
    as_asked = KindCountsSerializer()
    dismissed_spared = serializers.ListField(
        child=serializers.UUIDField(), help_text="Dismissed cards that would not have come."
    )
    confirmed_missed = serializers.ListField(
        child=serializers.UUIDField(), help_text="Confirmed cards that would have been missed."
    )
    came_back = serializers.ListField(
        child=serializers.UUIDField(), help_text="Cards that only the present settings refuse."
    )
    also = AlsoFoundSerializer(many=True, help_text="At most 50.")


@fields_of(StoredCount)
class StoredCountSerializer(serializers.Serializer[Any]):
    """What is stored, counted by the present and by the proposed value of a setting."""

    counts = serializers.CharField(help_text="What is counted, in words.")
    as_set = serializers.IntegerField(help_text="By the present value.")
    as_asked = serializers.IntegerField(help_text="By the proposed value.")


@fields_of(Replay)
class ReplayAnswerSerializer(serializers.Serializer[Any]):
    """A period under the present and under the proposed settings; nothing is changed."""

    changed = ChangeSerializer(many=True)
    not_followed = serializers.ListField(
        child=serializers.CharField(), help_text="Settings whose effect a replay does not cover."
    )
    gate = GateReplaySerializer()
    detection = DetectionReplaySerializer()
    stored = StoredCountSerializer(
        many=True,
        help_text="What is stored, by changed settings of retention and janitor, `min_relevance`"
        " and `judgements_per_hour`.",
    )
