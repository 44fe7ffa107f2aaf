"""Trainings with their gates, and the versions that came of them."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import BooleanField, Case, QuerySet, Value, When
from django.http import HttpRequest
from unfold.contrib.filters.admin import ChoicesDropdownFilter
from unfold.decorators import display

from engram.kernel.staff import ReadOnlyAdmin, moment_column
from predictor.admin.judged import figure_column
from predictor.models import ModelVersion, Training


@admin.register(Training)
class TrainingAdmin(ReadOnlyAdmin):
    """What was learned, what the canary said, and why it serves or does not."""

    list_display = [
        "started", "status_label", "reason", "version_label", "session_count", "label_count",
        "loss_figure", "before_figure", "canary_figure", "failed_gates", "took",
    ]  # fmt: skip
    list_filter = [("status", ChoicesDropdownFilter), "reason"]
    list_filter_submit = True
    fields = [
        "status", "reason", "started_at", "finished_at", "progress", "base_version", "version",
        "seed", "loss", "session_count", "replay_count", "skipped_count", "label_count",
        "canary_count", "canary_ndcg", "canary_ndcg_before", "canary_ndcg_delta",
        "canary_score_variance", "canary_topk_churn", "gates", "error", "cpu_ms", "duration_ms",
    ]  # fmt: skip
    empty_text = "After ten scored sessions a ranker is trained; every training stands here."

    started = moment_column("started_at", "started")
    loss_figure = figure_column("loss", "loss")
    before_figure = figure_column("canary_ndcg_before", "nDCG before")
    canary_figure = figure_column("canary_ndcg", "nDCG after")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Training]:
        """Leave out the long lists of sessions."""
        rows: QuerySet[Training] = super().get_queryset(request)
        return rows.defer("trained_session_ids")

    @display(
        description="status",
        ordering="status",
        label={"promoted": "success", "rejected": "warning", "failed": "danger", "running": "info"},
    )
    def status_label(self, training: Training) -> str:
        """Return how it ended."""
        return str(training.status)

    @display(description="model", ordering="version")
    def version_label(self, training: Training) -> str:
        """Return the version that it made."""
        return "" if training.version is None else f"v{training.version}"

    @display(description="gates failed")
    def failed_gates(self, training: Training) -> str:
        """Return the names of the gates that it did not pass."""
        gates: list[Any] = training.gates if isinstance(training.gates, list) else []
        return ", ".join(str(gate.get("name")) for gate in gates if not gate.get("is_passed"))

    @display(description="took", ordering="duration_ms")
    def took(self, training: Training) -> str:
        """Return how long it took."""
        return "" if training.duration_ms is None else f"{training.duration_ms / 1000:.1f} s"


@admin.register(ModelVersion)
class ModelVersionAdmin(ReadOnlyAdmin):
    """The versions of a workspace's model; the weights themselves are exported by a command."""

    list_display = [
        "name", "origin", "parameter_count", "embedding_model", "is_kept", "made", "promoted",
    ]  # fmt: skip
    list_filter = ["origin"]
    fields = [
        "number", "origin", "sha256", "embedding_model", "feature_version", "parameter_count",
        "created_at", "promoted_at", "is_learned_here", "erased_at",
    ]  # fmt: skip
    empty_text = "Every training that passes its gates leaves a version here."

    made = moment_column("created_at", "made")
    promoted = moment_column("promoted_at", "promoted")

    def get_queryset(self, request: HttpRequest) -> QuerySet[ModelVersion]:
        """Leave out the weights, and tell whether they are there."""
        rows: QuerySet[ModelVersion] = super().get_queryset(request)
        kept = Case(
            When(checkpoint__isnull=False, then=Value(True)),
            default=Value(False),
            output_field=BooleanField(),
        )
        return rows.defer("checkpoint").annotate(has_weights=kept)

    @display(description="version", ordering="number")
    def name(self, version: ModelVersion) -> str:
        """Return the version's name."""
        return str(version)

    @display(description="weights kept", boolean=True)
    def is_kept(self, version: Any) -> bool:
        """Tell whether the weights are still there."""
        return bool(version.has_weights)
