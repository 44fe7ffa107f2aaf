"""Admin of judgements and comparisons."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import Http404, HttpRequest
from django.utils import timezone
from unfold.decorators import display

from engram.kernel.staff import figure_column, format_moment, moment_column
from memories.core.shares import percent
from predictor.admin.detail import DetailedAdmin
from predictor.admin.inspected import comparison_detail, judgement_detail
from predictor.core.offline_judge import version_in_words
from predictor.models import Comparison, ComparisonOutcome, Judgement, JudgeStatus
from predictor.models.comparison import LEARNED, PHASE_WORDS, WINNER_WORDS
from predictor.services.status.records import SessionRecord, record_of
from predictor.services.status.unused import void_words


def record_behind(row: Judgement | Comparison) -> SessionRecord:
    """Return the records of a row's session."""
    record = record_of(row.session.session_key, now=timezone.now())
    if record is None:  # deleted since the row was read
        raise Http404
    return record


class OfSessionAdmin(DetailedAdmin):
    """Admin of rows that belong to one session."""

    list_per_page = 25  # of many columns, which flow over several lines on narrow screens
    search_fields = ["session__session_key"]
    search_help_text = "Part of a session's key"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Fetch the sessions' keys with the rows."""
        rows: QuerySet[Any] = super().get_queryset(request)
        return rows.select_related("session").only(
            *(field.attname for field in self.opts.concrete_fields if field.name != "raw"),
            "session__session_key",
        )

    @display(description="session", ordering="session__session_key")
    def session_key(self, row: Any) -> str:
        """Return the session's key."""
        return str(row.session.session_key)


@admin.register(Judgement)
class JudgementAdmin(OfSessionAdmin):
    """Admin of judgements, done and due."""

    detail_template = "admin/predictor/judgement/detail.html"

    list_display = [
        "session_key", "status_label", "kind", "judge_version", "overall_figure",
        "confidence_figure", "why_void", "tries", "judged",
    ]  # fmt: skip
    list_filter = ["status", "kind", "is_flat"]
    ordering = ["-due_at", "-id"]
    empty_text = (
        "When a session ends with a transcript, or its agent says what it used, it is judged; the"
        " judgements appear here."
    )
    empty_next = ("How far it is", "console:learning")

    overall_figure = figure_column("overall", "overall", percent)
    confidence_figure = figure_column("confidence", "confidence", percent)
    tries = figure_column("attempts", "tries", "d")
    judged = moment_column("judged_at", "judged")

    @display(
        description="status",
        ordering="status",
        label={"Due": "info", "Done": "success", "Failed for good": "danger"},
    )
    def status_label(self, judgement: Judgement) -> str:
        """Return the status."""
        return str(judgement.get_status_display())

    @display(description="why it says nothing", ordering="void_reason")
    def why_void(self, judgement: Judgement) -> str:
        """Return why nothing is learned from it, where the status does not say it."""
        is_told = judgement.status == JudgeStatus.SKIPPED
        return "" if is_told else void_words(judgement.void_reason)

    @display(description="judge's version", ordering="version")
    def judge_version(self, judgement: Judgement) -> str:
        """Return the version of the judge, whose name is beside it."""
        return version_in_words(judgement.version)

    def title_of(self, row: Judgement) -> str:
        """Return the session's key and when it was judged or became due."""
        at = format_moment(row.judged_at or row.due_at)
        return f"Judgement of {row.session.session_key}, {at}"

    def detail_of(self, row: Judgement) -> dict[str, Any]:
        """Return the judge's relevance of each memory."""
        return judgement_detail(record_behind(row))


@admin.register(Comparison)
class ComparisonAdmin(OfSessionAdmin):
    """Admin of comparisons of the two rankings."""

    detail_template = "admin/predictor/comparison/detail.html"

    list_display = [
        "session_key", "winner", "margin_figure", "predictor_figure", "baseline_figure",
        "is_counted", "phase_words", "alpha_figure", "rate_figure", "model_label", "compared",
    ]  # fmt: skip
    list_filter = ["outcome", "is_evidence", "is_drafted", "is_drift_reset"]
    empty_text = "Every judged session compares the learned ranking with the baseline's."
    empty_next = ("How far it is", "console:learning")

    margin_figure = figure_column("margin", "margin", "+.3f")
    predictor_figure = figure_column("predictor_ndcg", "learned")
    baseline_figure = figure_column("baseline_ndcg", "baseline")
    alpha_figure = figure_column("alpha", "weight", percent)
    rate_figure = figure_column("success_rate", "success", percent)
    compared = moment_column("created_at", "compared")

    @display(
        description="winner",
        ordering="outcome",
        label={LEARNED: "success", "baseline": "danger", "tie": "info"},
    )
    def winner(self, comparison: Comparison) -> str:
        """Return who ranked better."""
        return WINNER_WORDS[ComparisonOutcome(comparison.outcome)]

    @display(description="the learned ranking", ordering="phase")
    def phase_words(self, comparison: Comparison) -> str:
        """Return what it could do afterwards."""
        return PHASE_WORDS.get(comparison.phase, comparison.phase)

    @display(description="version", ordering="model_version")
    def model_label(self, comparison: Comparison) -> str:
        """Return the version of the model that ranked."""
        number = comparison.model_version
        return "" if number is None else f"v{number}"

    @display(description="counts", ordering="is_evidence", boolean=True)
    def is_counted(self, comparison: Comparison) -> bool:
        """Return whether it changed the evidence."""
        return comparison.is_evidence

    def title_of(self, row: Comparison) -> str:
        """Return the session's key and when its rankings were compared."""
        return f"Comparison of {row.session.session_key}, {format_moment(row.created_at)}"

    def detail_of(self, row: Comparison) -> dict[str, Any]:
        """Return both rankings and the change of the evidence."""
        return comparison_detail(record_behind(row), row)
