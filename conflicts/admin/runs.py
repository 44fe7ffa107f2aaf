"""Admin of detection runs, read-only."""

from __future__ import annotations

from django.contrib import admin
from unfold.decorators import display

from conflicts.models import DetectionRun
from engram.kernel.staff import ReadOnlyAdmin, moment_column, seconds_column


@admin.register(DetectionRun)
class DetectionRunAdmin(ReadOnlyAdmin):
    """Admin of detection runs."""

    list_display = [
        "read_at", "status_label", "reason", "trigger_count", "facts_considered",
        "facts_forgotten", "left_unread", "opened", "joined", "skipped", "narrative", "model",
        "cost", "lag", "duration",
    ]  # fmt: skip
    list_filter = ["status", "narrative", "reason"]
    empty_text = "Detection runs within seconds of a commit; its runs appear here."

    read_at = moment_column("created_at", "read")
    lag = seconds_column("lag_seconds", "lag")
    duration = seconds_column("duration_seconds", "duration")

    @display(
        description="status",
        ordering="status",
        label={"done": "success", "failed": "danger", "running": "info"},
    )
    def status_label(self, run: DetectionRun) -> str:
        """Return the status of the run."""
        return str(run.status)

    @display(description="cost", ordering="cost_usd")
    def cost(self, run: DetectionRun) -> str:
        """Return the cost of the model."""
        return f"${run.cost_usd:.4f}" if run.cost_usd else ""
