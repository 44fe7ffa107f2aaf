"""Where the predictor stands, as callers see it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from rest_framework import serializers

from engram.kernel.configuration import WorkspaceSettings
from predictor.core.governance import Phase
from predictor.models import ModelVersion
from predictor.services.status.status import THRESHOLDS, PredictorStatus

MODES = ("off", "collect", "on")
SETTINGS = (
    "train_interval_sessions",
    "min_training_sessions",
    "score_timeout_ms",
    "disable_threshold",
    "rrf_k",
    "exploration_rate",
    "drift_reset_window",
)


class EvidenceSerializer(serializers.Serializer[Any]):
    """What the margins of late say, discounted by age."""

    mean_margin = serializers.FloatField()
    z = serializers.FloatField(help_text="Standard errors by which the mean lies above 0.")
    n_eff = serializers.FloatField(help_text="How many comparisons of equal weight it is worth.")
    drift_sum = serializers.FloatField(help_text="Above the drift limit influence is lost.")
    out_of_sample = serializers.IntegerField()
    active_sessions = serializers.IntegerField()


class LiteralSerializer(serializers.Serializer[Any]):
    """What the source document's own rules would give; they serve nothing."""

    alpha = serializers.FloatField()
    success_rate = serializers.FloatField()
    resets = serializers.IntegerField()


class ServedModelSerializer(serializers.ModelSerializer[ModelVersion]):
    """The model that is served."""

    version = serializers.IntegerField(source="number")
    is_fitting = serializers.SerializerMethodField(
        help_text="Whether it reads the vectors that the workspace compares, and this release it."
    )

    class Meta:
        model = ModelVersion
        fields = [
            "version",
            "origin",
            "sha256",
            "embedding_model",
            "feature_version",
            "parameter_count",
            "is_fitting",
            "created_at",
            "promoted_at",
        ]
        read_only_fields = fields

    def get_is_fitting(self, version: ModelVersion) -> bool:
        """Tell whether it scores."""
        return bool(self.context["is_fitting"])


class NextTrainingSerializer(serializers.Serializer[Any]):
    """What the next training waits for."""

    is_running = serializers.BooleanField()
    due_since = serializers.DateTimeField(allow_null=True)
    reason = serializers.CharField(allow_blank=True)
    missing_sessions = serializers.IntegerField(allow_null=True)
    says = serializers.CharField()


class LastTrainingSerializer(serializers.Serializer[Any]):
    """The last training that has ended."""

    status = serializers.CharField()
    reason = serializers.CharField()
    finished_at = serializers.DateTimeField(allow_null=True)
    loss = serializers.FloatField(allow_null=True)
    version = serializers.IntegerField(allow_null=True, help_text="That began to serve by it.")
    error = serializers.CharField(allow_blank=True)


class BreakerSerializer(serializers.Serializer[Any]):
    """Whether failures have switched scoring off."""

    is_open = serializers.BooleanField()
    until = serializers.DateTimeField(allow_null=True)
    failures = serializers.IntegerField(help_text="Those within an hour that count.")
    threshold = serializers.IntegerField()


class ThresholdsSerializer(serializers.Serializer[Any]):
    """What influence depends on."""

    min_scored_sessions = serializers.IntegerField()
    min_out_of_sample = serializers.IntegerField()
    exit_z = serializers.FloatField()
    least_alpha = serializers.FloatField()
    drift_limit = serializers.FloatField()


class PredictorSettingsSerializer(serializers.Serializer[Any]):
    """The workspace's settings of the predictor."""

    train_interval_sessions = serializers.IntegerField()
    min_training_sessions = serializers.IntegerField()
    score_timeout_ms = serializers.IntegerField()
    disable_threshold = serializers.IntegerField()
    rrf_k = serializers.IntegerField()
    exploration_rate = serializers.FloatField()
    drift_reset_window = serializers.IntegerField()


class PredictorStatusSerializer(serializers.Serializer[Any]):
    """Where the predictor stands."""

    mode = serializers.ChoiceField(MODES)
    phase = serializers.ChoiceField([phase.value for phase in Phase])
    alpha = serializers.FloatField(help_text="The baseline's weight as earned.")
    alpha_served = serializers.FloatField(help_text="The baseline's weight in the next session.")
    reason = serializers.CharField(help_text="Why, in words.")
    status_line = serializers.CharField(allow_blank=True)
    success_rate = serializers.FloatField(help_text="Of late; it begins at 0.5.")
    comparisons = serializers.IntegerField(help_text="How many the success rate is made of.")
    literal = LiteralSerializer()
    evidence = EvidenceSerializer()
    scored_sessions = serializers.IntegerField()
    label_count = serializers.IntegerField(
        help_text="Labelled pairs of session and memory that can be learned from."
    )
    drift_resets = serializers.IntegerField()
    model = ServedModelSerializer(allow_null=True)
    trained_at = serializers.DateTimeField(
        allow_null=True, help_text="When the model was trained; null when it came from a file."
    )
    fully_trained_at = serializers.DateTimeField(
        allow_null=True, help_text="When a training from all sessions was promoted last."
    )
    last_training = LastTrainingSerializer(
        allow_null=True, help_text="The last attempt, whatever became of it."
    )
    next_training = NextTrainingSerializer()
    breaker = BreakerSerializer()
    thresholds = ThresholdsSerializer()
    settings = PredictorSettingsSerializer()


class PredictorResetSerializer(PredictorStatusSerializer):
    """Where the predictor stands after it began anew."""

    detail = serializers.CharField(help_text="What is left, and what comes next.")


def reset_detail(shown: Mapping[str, Any]) -> str:
    """Say what a reset leaves, given the status after it."""
    sentences = [
        "No model serves and no evidence counts; weights that are kept do not serve again.",
        f"{shown['label_count']} labels stay to be learned from.",
        shown["next_training"]["says"],
    ]
    if shown["mode"] != "off":
        sentences.append("`manage.py train` learns at once, from what was judged before, too.")
    return " ".join(sentences)


def present_status(found: PredictorStatus) -> dict[str, Any]:
    """Return the standing as callers see it."""
    governor = found.governor
    shown = {
        "mode": found.config.predictor_mode,
        "phase": governor.phase.value,
        "alpha": governor.alpha,
        "alpha_served": found.alpha_served,
        "reason": found.reason,
        "status_line": found.status_line,
        "success_rate": governor.success_rate,
        "comparisons": found.comparisons,
        "literal": {
            "alpha": governor.literal_alpha,
            "success_rate": governor.literal.success_rate,
            "resets": governor.literal.resets,
        },
        "evidence": {
            "mean_margin": governor.margins.mean,
            "z": governor.z,
            "n_eff": governor.n_eff,
            "drift_sum": governor.drift_sum,
            "out_of_sample": governor.out_of_sample,
            "active_sessions": governor.active_sessions,
        },
        "scored_sessions": governor.scored_sessions,
        "label_count": found.labels,
        "drift_resets": governor.drift_resets,
        "model": found.model,
        "trained_at": found.trained_at,
        "fully_trained_at": found.fully_trained_at,
        "last_training": found.last_training,
        "next_training": asdict(found.next_training),
        "breaker": asdict(found.breaker),
        "thresholds": THRESHOLDS,
        "settings": _settings(found.config),
    }
    return dict(PredictorStatusSerializer(shown, context={"is_fitting": found.is_fitting}).data)


def _settings(config: WorkspaceSettings) -> dict[str, Any]:
    return {name: getattr(config, name) for name in SETTINGS}
