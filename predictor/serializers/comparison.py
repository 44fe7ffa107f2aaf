"""Answer shape of a comparison."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from predictor.models import Comparison, ComparisonOutcome
from predictor.models.comparison import WINNERS


class ComparisonSerializer(serializers.ModelSerializer[Comparison]):
    """Comparison of the two rankings of one session.

    `margin` is the predictor's nDCG@10 minus the baseline's, null when the comparison is void;
    `ema_updated` is whether it changed the success rate. Both describe. Influence depends on
    `drafted_margin`: of a list that both rankings drafted, over the memories that could be drafted;
    null for other lists, and where it is void for `drafted_void_reason`. `alpha_served` is the
    baseline's weight in this session; `alpha`, `phase`, `success_rate` and `literal_alpha` are
    those after it.
    """

    session_key = serializers.CharField(source="session.session_key")
    project = serializers.CharField(source="session.project")
    winner = serializers.SerializerMethodField()
    ema_updated = serializers.BooleanField(source="is_evidence")

    class Meta:
        model = Comparison
        fields = [
            "id",
            "session_key",
            "project",
            "winner",
            "void_reason",
            "predictor_ndcg",
            "baseline_ndcg",
            "margin",
            "is_drafted",
            "drafted_margin",
            "drafted_void_reason",
            "judge_confidence",
            "ema_updated",
            "is_out_of_sample",
            "model_version",
            "alpha_served",
            "alpha",
            "phase",
            "success_rate",
            "literal_alpha",
            "is_drift_reset",
            "is_literal_reset",
            "fts_overlap",
            "created_at",
        ]
        read_only_fields = fields

    @extend_schema_field(serializers.ChoiceField(list(WINNERS.values())))
    def get_winner(self, comparison: Comparison) -> str:
        """Return who ranked better."""
        return WINNERS[ComparisonOutcome(comparison.outcome)]
