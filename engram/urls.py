"""All routes: the API, the console, the admin, and what is asked of every service."""

from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path

from engram.console import api as operations
from engram.console import deletion_api, operations_api, retention_api
from engram.console.inbox import api as inbox
from engram.console.metrics_api import metrics
from engram.console.readiness import readyz
from engram.console.schema import Schema
from engram.console.webhooks import api as webhooks

api_v1: list[URLPattern | URLResolver] = [
    path("", include("memories.urls")),
    path("", include("conflicts.urls")),
    path("", include("predictor.urls")),
    path("keys", operations.KeyCollection.as_view(), name="keys"),
    path("keys/<uuid:key_id>", operations.KeyDetail.as_view(), name="key"),
    path("jobs/<uuid:job_id>", operations.JobDetail.as_view(), name="job"),
    path("webhooks", webhooks.WebhookCollection.as_view(), name="webhooks"),
    path("webhooks/<uuid:webhook_id>", webhooks.WebhookDetail.as_view(), name="webhook"),
    path(
        "webhooks/<uuid:webhook_id>/secret",
        webhooks.WebhookSecret.as_view(),
        name="webhook-secret",
    ),
    path("webhooks/<uuid:webhook_id>/test", webhooks.WebhookTest.as_view(), name="webhook-test"),
    path(
        "webhooks/<uuid:webhook_id>/deliveries",
        webhooks.DeliveryCollection.as_view(),
        name="webhook-deliveries",
    ),
    path(
        "webhooks/deliveries/<uuid:delivery_id>/redeliver",
        webhooks.DeliveryAgain.as_view(),
        name="webhook-redeliver",
    ),
    path("inbox", inbox.Inbox.as_view(), name="inbox"),
    path("events", operations.EventCollection.as_view(), name="events"),
    path(
        "workspace/settings/replay",
        operations.SettingsReplay.as_view(),
        name="workspace-settings-replay",
    ),
    path(
        "workspace/settings",
        operations.WorkspaceSettingsView.as_view(),
        name="workspace-settings",
    ),
    path("workspace/retention", retention_api.Retention.as_view(), name="workspace-retention"),
    path("workspace/deletion", deletion_api.Deletion.as_view(), name="workspace-deletion"),
    path("diagnostics", operations_api.Diagnostics.as_view(), name="diagnostics"),
    path(
        "diagnostics/predictor",
        operations_api.PredictorDiagnostics.as_view(),
        name="diagnostics-predictor",
    ),
    path("analytics/latency", operations_api.Latencies.as_view(), name="latencies"),
    path("analytics/errors", operations_api.Errors.as_view(), name="stage-errors"),
    path(
        "timeline/<session:session_key>",
        operations_api.SessionTimelineView.as_view(),
        name="timeline",
    ),
    path("pipeline/status", operations_api.PipelineStatus.as_view(), name="pipeline-status"),
    path("schema/", Schema.as_view(), name="schema"),
]

admin.autodiscover()  # registers the pages of `admin.site.urls`
urlpatterns = [
    path("api/v1/", include(api_v1)),
    path("healthz", operations.healthz, name="healthz"),
    path("readyz", readyz, name="readyz"),
    path("metrics", metrics, name="metrics"),
    path("admin/", admin.site.urls),
    path("", include("engram.console.urls")),
]

handler400 = "engram.console.errors.bad_request"
handler403 = "engram.console.errors.forbidden"
handler404 = "engram.console.errors.not_found"
handler500 = "engram.console.errors.server_error"
