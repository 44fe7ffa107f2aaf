"""Answer shapes of the predictor's status."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from engram.kernel.answers import fields_of
from predictor.core.governance import Governor, Phase
from predictor.core.metrics import Interval
from predictor.models import JudgeKind, ModelVersion
from predictor.services.status.drafted_lists import DraftedLists, Measured, VoidSessions
from predictor.services.status.scoreboard import Scoreboard
from predictor.services.status.standings import ENOUGH_SESSIONS, RANKERS, Standing
from predictor.services.status.status import Breaker, NextTraining, PredictorStatus
from predictor.services.status.track_record import JudgedBy

MODES = ("off", "collect", "on")


class EvidenceSerializer(serializers.Serializer[Governor]):
    """Evidence from the margins of recent drafted lists, discounted by age."""

    mean_margin = serializers.FloatField(source="margins.mean")
    z = serializers.FloatField(help_text="Standard errors by which the mean lies above 0.")
    n_eff = serializers.FloatField(help_text="Effective number of comparisons.")
    wealth = serializers.FloatField(
        source="betting.wealth", help_text="What bets that the mean is above .036 have won, of 1."
    )
    drift_sum = serializers.FloatField(help_text="Above the drift limit influence is lost.")
    draft_share = serializers.FloatField(
        help_text="Probability that the next list is drafted from both rankings."
    )
    out_of_sample = serializers.IntegerField()
    active_sessions = serializers.IntegerField()


class LiteralSerializer(serializers.Serializer[Governor]):
    """Figures of the source document's rules, shown for comparison only."""

    alpha = serializers.FloatField(source="literal_alpha")
    success_rate = serializers.FloatField(source="literal.success_rate")
    resets = serializers.IntegerField(source="literal.resets")


class ServedModelSerializer(serializers.ModelSerializer[ModelVersion]):
    """The model that is served."""

    version = serializers.IntegerField(source="number")
    is_fitting = serializers.SerializerMethodField(
        help_text="Whether it fits the workspace's embedding model and this release."
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
        """Return whether it can score."""
        return bool(self.context["is_fitting"])


@fields_of(NextTraining)
class NextTrainingSerializer(serializers.Serializer[Any]):
    """When the next training is due, and why."""

    reason = serializers.CharField(allow_blank=True)


class LastTrainingSerializer(serializers.Serializer[Any]):
    """The last finished training."""

    status = serializers.CharField()
    reason = serializers.CharField()
    finished_at = serializers.DateTimeField(allow_null=True)
    loss = serializers.FloatField(allow_null=True)
    version = serializers.IntegerField(allow_null=True, help_text="The version it promoted.")
    error = serializers.CharField(allow_blank=True)


@fields_of(Breaker)
class BreakerSerializer(serializers.Serializer[Any]):
    """Circuit breaker: whether failures have switched scoring off."""

    failures = serializers.IntegerField(help_text="Failures within the last hour that count.")


class ThresholdsSerializer(serializers.Serializer[Any]):
    """Thresholds of the predictor's influence."""

    min_scored_sessions = serializers.IntegerField()
    min_out_of_sample = serializers.IntegerField()
    enough_wealth = serializers.FloatField()
    least_alpha = serializers.FloatField()
    drift_limit = serializers.FloatField()


@fields_of(JudgedBy)
class JudgedBySerializer(serializers.Serializer[Any]):
    """The sessions that one kind of judge has judged."""

    judge = serializers.ChoiceField(JudgeKind.choices)
    sessions = serializers.IntegerField()
    void = serializers.IntegerField(help_text="Those of which nothing is learned.")


@fields_of(Measured)
class MeasuredSerializer(serializers.Serializer[Any]):
    """Mean nDCG@10 of both rankings, and their mean margin with its 95 % interval."""


@fields_of(VoidSessions)
class VoidSessionsSerializer(serializers.Serializer[Any]):
    """Sessions that said nothing of the rankings, and what to do about it."""


@fields_of(DraftedLists)
class DraftedListsSerializer(serializers.Serializer[Any]):
    """Both rankings side by side since the last reset, and how far adoption is.

    Only drafted lists are evidence; the others favour the ranking that chose them.
    """

    drafted = MeasuredSerializer()
    others = MeasuredSerializer(help_text="Lists that one ranking chose: a description only.")
    void = VoidSessionsSerializer(many=True)
    adopted_at = serializers.IntegerField(
        help_text="Scored sessions when influence was, or would have been, earned; 0: not yet."
    )


class MeanSerializer(serializers.Serializer[Interval]):
    """A mean over sessions with its bootstrap 95 % interval."""

    mean = serializers.FloatField()
    low = serializers.FloatField()
    high = serializers.FloatField()
    sessions = serializers.IntegerField(source="n")


class StandingSerializer(serializers.Serializer[Standing]):
    """How one ranker orders the candidates of judged sessions, by nDCG@10."""

    ranker = serializers.ChoiceField(list(RANKERS))
    ndcg = MeanSerializer(help_text="Over the sessions in which it has an order.")
    gain = MeanSerializer(
        allow_null=True, help_text="Over the baseline in the same sessions; null: the baseline."
    )
    judged_share = serializers.FloatField(
        help_text="Share of its first ten that the judge has rated."
    )
    is_known = serializers.BooleanField(
        help_text="Whether enough of its first ten were judged to speak of its quality."
    )
    is_enough = serializers.BooleanField(
        help_text=f"Whether it has an order in {ENOUGH_SESSIONS} sessions or more: over fewer, its"
        " figures say little."
    )


class RankerFiguresSerializer(serializers.Serializer[Any]):
    """Every ranker over some judged sessions."""

    sessions = serializers.IntegerField()
    since = serializers.DateTimeField(allow_null=True)
    standings = StandingSerializer(many=True)


class JudgeFiguresSerializer(RankerFiguresSerializer):
    """Every ranker over the sessions that one kind of judge judged."""

    judge = serializers.CharField(help_text="model: a language model; offline: the one without.")


class ScoreboardSerializer(RankerFiguresSerializer):
    """Every ranker over the newest well judged sessions: a description that decides nothing."""

    drafted = RankerFiguresSerializer(
        help_text="The same over the newest hundred drafted lists, of the memories that could be"
        " drafted: neither baseline nor learned ranking is favoured there."
    )
    by_judge = JudgeFiguresSerializer(
        many=True, help_text="The same sessions by kind of judge; empty where there is one kind."
    )


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
    """Status of the predictor."""

    mode = serializers.ChoiceField(MODES, source="config.predictor_mode")
    phase = serializers.ChoiceField([phase.value for phase in Phase], source="governor.phase.value")
    alpha = serializers.FloatField(
        source="governor.alpha", help_text="The baseline's weight as earned."
    )
    alpha_served = serializers.FloatField(help_text="The baseline's weight in the next session.")
    reason = serializers.CharField(help_text="Why the baseline has this weight.")
    status_line = serializers.CharField(allow_blank=True)
    success_rate = serializers.FloatField(
        source="governor.success_rate", help_text="Recent success rate; it starts at 0.5."
    )
    comparisons = serializers.IntegerField(help_text="Comparisons in the success rate.")
    literal = LiteralSerializer(source="governor")
    evidence = EvidenceSerializer(source="governor")
    scored_sessions = serializers.IntegerField(source="governor.scored_sessions")
    label_count = serializers.IntegerField(
        source="labels", help_text="Labelled pairs of session and memory that can be trained on."
    )
    judged_by = JudgedBySerializer(many=True, help_text="Judged sessions by kind of judge.")
    drift_resets = serializers.IntegerField(source="governor.drift_resets")
    model = ServedModelSerializer(allow_null=True)
    trained_at = serializers.DateTimeField(
        allow_null=True, help_text="When the model was trained; null when it came from a file."
    )
    fully_trained_at = serializers.DateTimeField(
        allow_null=True, help_text="When a training on all sessions was last promoted."
    )
    last_training = LastTrainingSerializer(
        allow_null=True, help_text="The last finished training, promoted or not."
    )
    next_training = NextTrainingSerializer()
    breaker = BreakerSerializer()
    drafted_lists = DraftedListsSerializer()
    scoreboard = serializers.SerializerMethodField()
    thresholds = ThresholdsSerializer()
    settings = PredictorSettingsSerializer(source="config")

    @extend_schema_field(ScoreboardSerializer)
    def get_scoreboard(self, found: PredictorStatus) -> dict[str, Any]:
        """Return the scoreboard, which is read apart."""
        return dict(ScoreboardSerializer(self.context["scoreboard"]).data)


class PredictorResetSerializer(PredictorStatusSerializer):
    """Status of the predictor after a reset."""

    detail = serializers.CharField(help_text="What the reset keeps, and when training starts.")


def reset_detail(shown: Mapping[str, Any]) -> str:
    """Return sentences on what a reset keeps, given the status after it."""
    sentences = [
        "No model serves and no evidence counts; weights that are kept do not serve again.",
        f"{shown['label_count']} labels stay to be learned from.",
        shown["next_training"]["says"],
    ]
    if shown["mode"] != "off":
        sentences.append("`manage.py train` learns at once, from what was judged before, too.")
    return " ".join(sentences)


def present_status(found: PredictorStatus, board: Scoreboard) -> dict[str, Any]:
    """Return the status as `PredictorStatusSerializer` shows it."""
    context = {"is_fitting": found.is_fitting, "scoreboard": board}
    shown = PredictorStatusSerializer(found, context=context)
    return dict(shown.data)
