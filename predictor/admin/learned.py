"""Admin of trainings and model versions."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import BooleanField, Case, QuerySet, Value, When
from django.http import HttpRequest
from unfold.decorators import display

from engram.kernel.labels import duration_words
from engram.kernel.staff import figure_column, format_moment, moment_column
from memories.models import Session
from predictor.admin.detail import DetailedAdmin
from predictor.core.gates import failures_in_words
from predictor.models import ModelVersion, Training
from predictor.serializers.training import TrainingSerializer
from predictor.services.training.due import WHY

SESSIONS_SHOWN = 12


class ReasonFilter(admin.SimpleListFilter):
    """Filter by why a training ran."""

    title = "why"
    parameter_name = "reason"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Offer all reasons, in words."""
        return list(WHY.items())

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:
        """Keep the trainings of one reason."""
        return queryset.filter(reason=self.value()) if self.value() else queryset


def _learned_from(training: Training) -> QuerySet[Session]:
    """Return the sessions that a training used and that are still there, newest first."""
    used = Session.objects.filter(pk__in=training.trained_session_ids)
    return used.only("session_key", "started_at").order_by("-started_at", "-id")


@admin.register(Training)
class TrainingAdmin(DetailedAdmin):
    """Admin of trainings: data, canary results and gates."""

    detail_template = "admin/predictor/training/detail.html"

    list_display = [
        "started", "status_label", "why", "version_label", "sessions", "labels",
        "before_figure", "canary_figure", "failed_gates", "took",
    ]  # fmt: skip
    list_filter = ["status", ReasonFilter]
    empty_text = (
        "After ten scored sessions the learned ranking is trained; the trainings appear here."
    )
    empty_next = ("How far it is", "console:learning")

    started = moment_column("started_at", "started")
    sessions = figure_column("session_count", "sessions", ",d")
    labels = figure_column("label_count", "labels", ",d")
    before_figure = figure_column("canary_ndcg_before", "quality before")
    canary_figure = figure_column("canary_ndcg", "quality after")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Training]:
        """Defer the long lists of sessions."""
        rows: QuerySet[Training] = super().get_queryset(request)
        return rows.defer("trained_session_ids")

    @display(
        description="status",
        ordering="status",
        label={"promoted": "success", "rejected": "warning", "failed": "danger", "running": "info"},
    )
    def status_label(self, training: Training) -> str:
        """Return the status."""
        return str(training.status)

    @display(description="why", ordering="reason")
    def why(self, training: Training) -> str:
        """Return why it ran, in words."""
        return WHY.get(training.reason, training.reason)

    @display(description="version", ordering="version")
    def version_label(self, training: Training) -> str:
        """Return the version that it made."""
        return "" if training.version is None else f"v{training.version}"

    @display(description="gates failed")
    def failed_gates(self, training: Training) -> str:
        """Return what the new version failed to show, in words."""
        return ", ".join(failures_in_words(training.gates))

    @display(description="took", ordering="duration_ms")
    def took(self, training: Training) -> str:
        """Return the duration."""
        ms = training.duration_ms
        return "" if ms is None else duration_words(ms / 1000)

    def title_of(self, row: Training) -> str:
        """Return a title with the start time."""
        return f"Training of {format_moment(row.started_at)}"

    def detail_of(self, row: Training) -> dict[str, Any]:
        """Return its gates and the version it made."""
        return {
            "gates": TrainingSerializer(row).data["gates"],
            "took": self.took(row),
            "sessions": list(_learned_from(row)[:SESSIONS_SHOWN]),
            "made": ModelVersion.objects.defer("checkpoint").filter(number=row.version).first()
            if row.version is not None
            else None,
        }


@admin.register(ModelVersion)
class ModelVersionAdmin(DetailedAdmin):
    """Admin of model versions; `manage.py export_model` exports the weights."""

    detail_template = "admin/predictor/modelversion/detail.html"

    list_display = [
        "name", "origin", "parameters", "embedding_model", "weights", "made", "promoted",
    ]  # fmt: skip
    list_filter = ["origin"]
    empty_text = "Every training that passes its gates adds a version here."
    empty_next = ("How far it is", "console:learning")

    parameters = figure_column("parameter_count", "parameters", ",d")
    made = moment_column("created_at", "made")
    promoted = moment_column("promoted_at", "promoted")

    def get_queryset(self, request: HttpRequest) -> QuerySet[ModelVersion]:
        """Defer the weights, and annotate whether they are kept."""
        rows: QuerySet[ModelVersion] = super().get_queryset(request)
        kept = Case(
            When(checkpoint__isnull=False, then=Value(True)),
            default=Value(False),
            output_field=BooleanField(),
        )
        return rows.defer("checkpoint").annotate(has_weights=kept)

    @display(description="version", ordering="number")
    def name(self, version: ModelVersion) -> str:
        """Return the version's number, as all pages write it."""
        return f"v{version.number}"

    @display(description="weights")
    def weights(self, version: Any) -> str:
        """Return whether the weights are kept: of the model that serves, and of a few before."""
        return "kept" if version.has_weights else "–"

    def title_of(self, row: ModelVersion) -> str:
        """Return the version's name and when it was made."""
        return f"Learned ranking v{row.number}, {format_moment(row.created_at)}"

    def detail_of(self, row: ModelVersion) -> dict[str, Any]:
        """Return the training that made it, if any."""
        made_by = Training.objects.defer("trained_session_ids").filter(version=row.number)
        return {"training": made_by.order_by("-started_at", "-pk").first()}
