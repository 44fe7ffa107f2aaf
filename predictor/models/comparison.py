"""The two rankings of one session, measured by the judge's relevance."""

from __future__ import annotations

import uuid

from django.contrib.postgres.fields import ArrayField
from django.db import models

from engram.kernel.tenancy import WorkspaceModel
from memories.models import Session


class ComparisonOutcome(models.TextChoices):
    """Result of a comparison for the predictor."""

    WIN = "win", "Win"
    LOSS = "loss", "Loss"
    TIE = "tie", "Tie"
    VOID = "void", "Void: it says nothing"


# Names in the API of the stored outcomes.
WINNERS = {
    ComparisonOutcome.WIN: "predictor",
    ComparisonOutcome.LOSS: "baseline",
    ComparisonOutcome.TIE: "tie",
    ComparisonOutcome.VOID: "void",
}
LEARNED = "learned ranking"  # what pages call what the predictor ranks with
WINNER_WORDS = WINNERS | {ComparisonOutcome.WIN: LEARNED}
# What pages say of a learned ranking in a phase.
PHASE_WORDS = {
    "collecting": "it has not begun",
    "warming": "it is compared and has no say yet",
    "ramp": "its say grows",
    "active": "it has a say",
    "disabled": "it is switched off",
    "retraining": "it is trained anew",
}


class Comparison(WorkspaceModel):
    """nDCG@10 of predictor and baseline over the judged memories, and the governor's state after.

    `evidence` is the governor's whole state after this session; `alpha` and `phase` are those of
    the next session, `alpha_served` is the weight that was used in this one. `margin` describes;
    influence depends on `drafted_margin`, of a list that both rankings drafted, over the memories
    that could be drafted: null for other lists, and where it is void for `drafted_void_reason`.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    session = models.OneToOneField(Session, models.CASCADE, related_name="comparison")
    outcome = models.CharField(max_length=4, choices=ComparisonOutcome.choices)
    void_reason = models.CharField(max_length=60, blank=True)
    predictor_ndcg = models.FloatField(null=True)
    baseline_ndcg = models.FloatField(null=True)
    margin = models.FloatField(null=True)
    is_drafted = models.BooleanField(default=False, db_default=False)
    drafted_margin = models.FloatField(null=True)
    drafted_void_reason = models.CharField(max_length=60, blank=True, db_default="")
    judge_confidence = models.FloatField(null=True)
    is_evidence = models.BooleanField(default=False)  # it changed the success rate
    is_out_of_sample = models.BooleanField(default=False)
    model_version = models.PositiveIntegerField(null=True)
    alpha_served = models.FloatField(default=1.0)
    alpha = models.FloatField(default=1.0)
    phase = models.CharField(max_length=20)
    success_rate = models.FloatField(default=0.5)
    literal_alpha = models.FloatField(default=1.0)
    is_drift_reset = models.BooleanField(default=False)
    is_literal_reset = models.BooleanField(default=False)
    evidence = models.JSONField(default=dict)
    predictor_top_ids = ArrayField(models.UUIDField(), default=list)
    baseline_top_ids = ArrayField(models.UUIDField(), default=list)
    relevance = models.JSONField(default=dict)  # memory id → the judge's relevance
    fts_overlap = models.FloatField(null=True)  # share of the injected that a prompt matched
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["-created_at", "-id"]
        indexes = [
            models.Index(fields=["workspace", "-created_at", "-id"], name="comparison_newest")
        ]

    def __str__(self) -> str:
        return f"{self.session_id}: {self.outcome}"
