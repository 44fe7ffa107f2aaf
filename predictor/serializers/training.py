"""Answer shapes of trainings and drift."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rest_framework import serializers

from engram.kernel.answers import fields_of
from engram.kernel.fields import QueryWhole
from predictor.core.governance import DRIFT_LIMIT
from predictor.models import Comparison, Training
from predictor.services.judging.drift import DRIFT_THRESHOLD, DriftWindow, is_drifting, latest_drift

LIMIT_MAX = 1_000


class TrainingGateSerializer(serializers.Serializer[Any]):
    """One gate of a training."""

    name = serializers.CharField()
    is_passed = serializers.BooleanField()
    detail = serializers.CharField(allow_blank=True)


class TrainingSerializer(serializers.ModelSerializer[Training]):
    """One training: its data, its canary results and its gates."""

    gates = TrainingGateSerializer(many=True)

    class Meta:
        model = Training
        fields = [
            "id",
            "status",
            "reason",
            "started_at",
            "finished_at",
            "progress",
            "base_version",
            "version",
            "loss",
            "session_count",
            "replay_count",
            "skipped_count",
            "label_count",
            "canary_count",
            "canary_ndcg",
            "canary_ndcg_before",
            "canary_ndcg_delta",
            "canary_score_variance",
            "canary_topk_churn",
            "gates",
            "error",
            "cpu_ms",
            "duration_ms",
        ]
        read_only_fields = fields


class DriftQuerySerializer(serializers.Serializer[Any]):
    """Query of the drift endpoint."""

    limit = QueryWhole(
        min_value=1, max_value=LIMIT_MAX, default=200, help_text="The newest so many comparisons."
    )


class DriftPointSerializer(serializers.Serializer[Any]):
    """State of the drift rules after one session."""

    comparison = serializers.UUIDField()
    session_key = serializers.CharField()
    at = serializers.DateTimeField()
    margin = serializers.FloatField(allow_null=True)
    drift_sum = serializers.FloatField(help_text="Above the limit influence is lost.")
    phase = serializers.CharField()
    alpha = serializers.FloatField()
    success_rate = serializers.FloatField()
    literal_alpha = serializers.FloatField()
    is_drift_reset = serializers.BooleanField()
    is_literal_reset = serializers.BooleanField()


@fields_of(DriftWindow)
class JudgeWindowSerializer(serializers.Serializer[Any]):
    """One week of the judge: mean relevance of memories under 7 and over 30 days old."""

    drift = serializers.FloatField(allow_null=True, help_text="Young minus old.")


class JudgeDriftSerializer(serializers.Serializer[Any]):
    """Return whether the judge's preference for new or old memories exceeds the threshold."""

    threshold = serializers.FloatField()
    latest = serializers.FloatField(allow_null=True)
    is_drifting = serializers.BooleanField()
    windows = JudgeWindowSerializer(many=True)


class DriftSerializer(serializers.Serializer[Any]):
    """The served and the literal drift rule over time, oldest first, and the judge's drift."""

    limit = serializers.FloatField()
    drift_resets = serializers.IntegerField()
    literal_resets = serializers.IntegerField()
    points = DriftPointSerializer(many=True)
    judge = JudgeDriftSerializer()


def present_drift(
    comparisons: Sequence[Comparison],
    windows: Sequence[DriftWindow],
    *,
    drift_resets: int,
    literal_resets: int,
) -> dict[str, Any]:
    """Return the drift rules over time as `DriftSerializer` shows them."""
    shown = {
        "limit": DRIFT_LIMIT,
        "drift_resets": drift_resets,
        "literal_resets": literal_resets,
        "points": [_point(one) for one in comparisons],
        "judge": {
            "threshold": DRIFT_THRESHOLD,
            "latest": latest_drift(windows),
            "is_drifting": is_drifting(windows),
            "windows": windows,
        },
    }
    return dict(DriftSerializer(shown).data)


def _point(one: Comparison) -> dict[str, Any]:
    stored = one.evidence if isinstance(one.evidence, dict) else {}
    return {
        "comparison": one.pk,
        "session_key": one.session.session_key,
        "at": one.created_at,
        "margin": one.margin,
        "drift_sum": stored.get("drift_sum", 0.0),
        "phase": one.phase,
        "alpha": one.alpha,
        "success_rate": one.success_rate,
        "literal_alpha": one.literal_alpha,
        "is_drift_reset": one.is_drift_reset,
        "is_literal_reset": one.is_literal_reset,
    }
