"""Routes of memories below `/api/v1/`."""

from django.urls import path

from engram.kernel import paths  # noqa: F401  it knows `session` and `note`
from memories.api import (
    asks,
    associations,
    drift,
    extraction,
    forgetting,
    gate,
    janitor,
    memories,
    notes,
    recall,
    reports,
    reviews,
    sessions,
)

urlpatterns = [
    path("memories", memories.MemoryCollection.as_view(), name="memories"),
    path("memories/batch", memories.MemoryBatch.as_view(), name="memories-batch"),
    path("memories/asks", asks.AskCollection.as_view(), name="memories-asks"),
    path("memories/extract", extraction.Extract.as_view(), name="memories-extract"),
    path(
        "memories/extraction-refusals",
        extraction.RefusalCollection.as_view(),
        name="extraction-refusals",
    ),
    path(
        "memories/extraction-refusals/<uuid:refusal_id>/accept",
        extraction.AcceptRefusal.as_view(),
        name="extraction-refusal-accept",
    ),
    path(
        "memories/extraction-refusals/<uuid:refusal_id>/reject",
        extraction.RejectRefusal.as_view(),
        name="extraction-refusal-reject",
    ),
    path(
        "memories/extraction-refusals/<uuid:refusal_id>/undo",
        extraction.UndoRefusal.as_view(),
        name="extraction-refusal-undo",
    ),
    path("memories/recall", recall.Recall.as_view(), name="memories-recall"),
    path("memories/forget", forgetting.Forget.as_view(), name="memories-forget"),
    path("memories/restore", forgetting.Restore.as_view(), name="memories-restore"),
    path("memories/rollback", forgetting.Rollback.as_view(), name="memories-rollback"),
    path("memories/<uuid:memory_id>", memories.MemoryDetail.as_view(), name="memory"),
    path(
        "memories/<uuid:memory_id>/history", memories.MemoryHistory.as_view(), name="memory-history"
    ),
    path(
        "memories/<uuid:memory_id>/note-links",
        notes.MemoryNoteLinks.as_view(),
        name="memory-note-links",
    ),
    path(
        "memories/<uuid:memory_id>/associations",
        associations.MemoryAssociations.as_view(),
        name="memory-associations",
    ),
    path(
        "memories/<uuid:memory_id>/recalls", recall.MemoryRecalls.as_view(), name="memory-recalls"
    ),
    path("memories/<uuid:memory_id>/why-not", recall.WhyNotView.as_view(), name="memory-why-not"),
    path("memories/<uuid:memory_id>/split", gate.MemorySplit.as_view(), name="memory-split"),
    path("memories/<uuid:memory_id>/signals", drift.MemorySignals.as_view(), name="memory-signals"),
    path("prediction-errors", drift.PredictionErrors.as_view(), name="prediction-errors"),
    path(
        "prediction-errors/resolve",
        drift.ResolveErrors.as_view(),
        name="prediction-errors-resolve",
    ),
    path(
        "prediction-errors/<uuid:error_id>",
        drift.PredictionErrorDetail.as_view(),
        name="prediction-error",
    ),
    path(
        "prediction-errors/<uuid:error_id>/resolve",
        drift.ResolveError.as_view(),
        name="prediction-error-resolve",
    ),
    path("merge-suggestions", gate.SuggestionCollection.as_view(), name="merge-suggestions"),
    path(
        "merge-suggestions/<uuid:suggestion_id>",
        gate.SuggestionDetail.as_view(),
        name="merge-suggestion",
    ),
    path(
        "merge-suggestions/<uuid:suggestion_id>/accept",
        gate.AcceptSuggestion.as_view(),
        name="merge-suggestion-accept",
    ),
    path(
        "merge-suggestions/<uuid:suggestion_id>/reject",
        gate.RejectSuggestion.as_view(),
        name="merge-suggestion-reject",
    ),
    path("gate/metrics", gate.GateMetricsView.as_view(), name="gate-metrics"),
    path("gate/audit", gate.GateAudit.as_view(), name="gate-audit"),
    path("gate/audit/<uuid:merge_id>", gate.GateAuditAnswer.as_view(), name="gate-audit-answer"),
    path("gate/audit/<uuid:merge_id>/undo", gate.GateAuditUndo.as_view(), name="gate-audit-undo"),
    path("notes", notes.Notes.as_view(), name="notes"),
    path("notes/<note:note_path>", notes.NoteDetail.as_view(), name="note"),
    path("context", notes.ContextView.as_view(), name="context"),
    path("reviews", reviews.ReviewCollection.as_view(), name="reviews"),
    path("reviews/<uuid:review_id>", reviews.ReviewDetail.as_view(), name="review"),
    path("reviews/<uuid:review_id>/accept", reviews.AcceptReview.as_view(), name="review-accept"),
    path("reviews/<uuid:review_id>/reject", reviews.RejectReview.as_view(), name="review-reject"),
    path("janitor/preview", janitor.JanitorPreview.as_view(), name="janitor-preview"),
    path("janitor/runs", janitor.JanitorRuns.as_view(), name="janitor-runs"),
    path(
        "janitor/runs/<uuid:janitor_run_id>/actions",
        janitor.JanitorActions.as_view(),
        name="janitor-actions",
    ),
    path(
        "janitor/runs/<uuid:janitor_run_id>/undo",
        janitor.JanitorRunUndo.as_view(),
        name="janitor-run-undo",
    ),
    path(
        "janitor/actions/<uuid:janitor_action_id>/undo",
        janitor.JanitorActionUndo.as_view(),
        name="janitor-action-undo",
    ),
    path("session-reports", reports.SessionReports.as_view(), name="session-reports"),
    path("sessions", sessions.Sessions.as_view(), name="sessions"),
    path(
        "sessions/<session:session_key>/prompts",
        sessions.SessionPrompts.as_view(),
        name="session-prompts",
    ),
    path(
        "sessions/<session:session_key>/feedback",
        sessions.SessionFeedback.as_view(),
        name="session-feedback",
    ),
    path("sessions/<session:session_key>/end", sessions.SessionEnd.as_view(), name="session-end"),
    path("sessions/<session:session_key>", sessions.SessionDetail.as_view(), name="session"),
]
