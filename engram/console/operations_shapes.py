"""Serializers of diagnostics, latencies, errors, timelines and processes."""

from __future__ import annotations

from typing import Any, Final

from rest_framework import serializers

from engram.console.diagnostics.domain import DOMAINS, STATUSES
from engram.console.timeline import SessionTimeline, TimelineEntry
from engram.kernel.answers import fields_of
from engram.kernel.models import StageError
from predictor.serializers.status import (
    DraftedListsSerializer,
    LastTrainingSerializer,
    ScoreboardSerializer,
)
from predictor.services.status.track_record import Slice

WINDOWS: Final = {"1h": 1, "6h": 6, "24h": 24, "7d": 24 * 7, "30d": 24 * 30}


class _Shape(serializers.Serializer[Any]):
    """A response."""


@fields_of(Slice)
class SliceSerializer(_Shape):
    """The success rate of the sessions of one place."""


class SlicesSerializer(_Shape):
    """The places with the most compared sessions; for information only."""

    projects = SliceSerializer(many=True)
    scopes = SliceSerializer(many=True, help_text="By the first segment of the scope.")


class TrainingDueSerializer(_Shape):
    """The training that is due or running."""

    since = serializers.DateTimeField()
    reason = serializers.CharField(
        help_text="`erased`: something was erased that the served model may have learned from."
    )


class JudgeDriftSignSerializer(_Shape):
    """Mean relevance of memories younger than 7 days minus that of ones older than 30."""

    signal = serializers.FloatField(allow_null=True)
    threshold = serializers.FloatField()
    is_over = serializers.BooleanField()


class JudgeErrorSerializer(_Shape):
    """The judge's error against people."""

    labels = serializers.IntegerField()
    mean_absolute_error = serializers.FloatField(allow_null=True)
    threshold = serializers.FloatField()
    is_over = serializers.BooleanField(help_text="Of the judge in service.")
    waiting = serializers.IntegerField(help_text="The number of open calibration questions.")


class PredictorFieldsSerializer(_Shape):
    """The figures of the predictor's health."""

    mode = serializers.ChoiceField(("off", "collect", "on"))
    phase = serializers.CharField()
    worker_alive = serializers.BooleanField()
    last_ms = serializers.FloatField(allow_null=True)
    mean_ms = serializers.FloatField(allow_null=True)
    p95_ms = serializers.FloatField(allow_null=True)
    timeout_ms = serializers.IntegerField()
    failures_last_hour = serializers.IntegerField()
    failures_allowed = serializers.IntegerField()
    disabled_until = serializers.DateTimeField(allow_null=True)
    model_version = serializers.IntegerField(allow_null=True)
    scored_sessions = serializers.IntegerField()
    min_sessions = serializers.IntegerField()
    success_rate = serializers.FloatField(help_text="Recent success rate; it starts at 0.5.")
    comparisons = serializers.IntegerField(
        help_text="The number of comparisons in the success rate."
    )
    judged_by = serializers.DictField(
        child=serializers.IntegerField(), help_text="Judged sessions by kind of judge."
    )
    alpha = serializers.FloatField()
    drift_resets = serializers.IntegerField()
    last_training = LastTrainingSerializer(allow_null=True)
    training_due = TrainingDueSerializer(allow_null=True)
    judge_drift = JudgeDriftSignSerializer()
    calibration = JudgeErrorSerializer()
    slices = SlicesSerializer()
    drafted_lists = DraftedListsSerializer()
    scoreboard = ScoreboardSerializer(
        allow_null=True, help_text="Null in the diagnostics of all parts: it takes long to read."
    )


class DomainSerializer(_Shape):
    """The health of one part; the names in `fields` depend on the part."""

    score = serializers.FloatField(min_value=0, max_value=1)
    status = serializers.ChoiceField(STATUSES)
    says = serializers.CharField()

    def get_fields(self) -> dict[str, Any]:
        """Add what cannot be declared under its name."""
        return {**super().get_fields(), "fields": serializers.DictField()}


class PredictorDomainSerializer(DomainSerializer):
    """The health of the predictor."""

    def get_fields(self) -> dict[str, Any]:
        """Add what cannot be declared under its name."""
        return {**super().get_fields(), "fields": PredictorFieldsSerializer()}


class DomainsSerializer(_Shape):
    """Every part by its name."""

    def get_fields(self) -> dict[str, Any]:
        """Return a field a part."""
        parts = {name: DomainSerializer() for name in DOMAINS}
        return {**parts, "predictor": PredictorDomainSerializer()}


class DiagnosticsSerializer(_Shape):
    """The health of all parts; the overall status is the worst."""

    at = serializers.DateTimeField()
    score = serializers.FloatField(min_value=0, max_value=1)
    status = serializers.ChoiceField(STATUSES)
    domains = DomainsSerializer(source="by_name")


class LatencyAskedSerializer(_Shape):
    """The query parameters of the latencies."""

    window = serializers.ChoiceField(tuple(WINDOWS), default="24h")


class LatencySerializer(_Shape):
    """The latency of one stage; null if it never ran."""

    stage = serializers.CharField()
    count = serializers.IntegerField()
    mean_ms = serializers.FloatField(allow_null=True)
    p50_ms = serializers.FloatField(allow_null=True)
    p95_ms = serializers.FloatField(allow_null=True)
    p99_ms = serializers.FloatField(allow_null=True)
    last_ms = serializers.FloatField(allow_null=True)
    last_at = serializers.DateTimeField(allow_null=True)


class LatenciesSerializer(_Shape):
    """The stages of a window from a full hour on; percentiles have an error of at most 5 %."""

    window = serializers.ChoiceField(tuple(WINDOWS))
    since = serializers.DateTimeField()
    stages = LatencySerializer(many=True)


class ErrorSerializer(serializers.ModelSerializer[StageError]):
    """One failure of one stage."""

    detail = serializers.SerializerMethodField(
        help_text="Kinds and numbers; only for admins, because it may contain server names."
    )

    class Meta:
        model = StageError
        fields = ["id", "at", "stage", "code", "detail", "session_key"]
        read_only_fields = fields

    def get_detail(self, error: StageError) -> str:
        """Return the error's details, if the caller may read them."""
        return error.detail if self.context.get("shows_details") else ""


class TimelineSessionSerializer(_Shape):
    """The session itself."""

    id = serializers.UUIDField()
    project = serializers.CharField()
    scope = serializers.CharField()
    started_at = serializers.DateTimeField()
    ended_at = serializers.DateTimeField(allow_null=True)


@fields_of(TimelineEntry)
class EntrySerializer(_Shape):
    """One entry of a timeline."""

    details = serializers.DictField()
    text = serializers.CharField(
        allow_null=True,
        help_text="The memory's content, cut at 240 characters, if it can be recalled now.",
    )


@fields_of(SessionTimeline)
class TimelineSerializer(_Shape):
    """The timeline of a session, oldest first."""

    session = TimelineSessionSerializer(allow_null=True)
    entries = EntrySerializer(many=True)


class WorkerSerializer(_Shape):
    """One process; its counts are of this workspace's work since it started."""

    name = serializers.CharField(
        help_text="For admins `kind@machine/process id`, for others `kind number`."
    )
    kind = serializers.CharField(help_text="web, worker, models, outgoing, beat or mcp.")
    running = serializers.BooleanField(source="is_running")
    model_ready = serializers.BooleanField()
    scores_processed = serializers.IntegerField(source="scores")
    trainings_completed = serializers.IntegerField(source="trainings")
    last_score_latency_ms = serializers.FloatField(source="last_ms", allow_null=True)
    uptime_seconds = serializers.FloatField()
    started_at = serializers.DateTimeField()
    heard_at = serializers.DateTimeField()
    stages = serializers.DictField(child=serializers.IntegerField())


class PipelineSerializer(_Shape):
    """The processes; one is listed for an hour after its last heartbeat, running for a minute."""

    at = serializers.DateTimeField()
    running = serializers.BooleanField(source="is_running")
    model_ready = serializers.BooleanField()
    workers = WorkerSerializer(many=True)
