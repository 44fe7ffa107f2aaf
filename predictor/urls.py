"""Routes of the predictor below `/api/v1/`."""

from django.urls import path

from engram.kernel import paths  # noqa: F401  it knows `session`
from predictor.api import calibration, comparisons, learning, status

urlpatterns = [
    path("predictor/status", status.PredictorStatusView.as_view(), name="predictor-status"),
    path("predictor/reset", status.PredictorReset.as_view(), name="predictor-reset"),
    path("predictor/enable", status.PredictorEnable.as_view(), name="predictor-enable"),
    path("predictor/comparisons", comparisons.ComparisonCollection.as_view(), name="comparisons"),
    path(
        "predictor/comparisons/<uuid:comparison_id>",
        comparisons.ComparisonDetail.as_view(),
        name="comparison",
    ),
    path(
        "predictor/audit/<session:session_key>", comparisons.Audit.as_view(), name="predictor-audit"
    ),
    path("predictor/training", learning.Trainings.as_view(), name="trainings"),
    path("predictor/drift", learning.Drift.as_view(), name="predictor-drift"),
    path("predictor/calibration", calibration.CalibrationView.as_view(), name="calibration"),
    path(
        "predictor/calibration/sample",
        calibration.CalibrationSampleView.as_view(),
        name="calibration-sample",
    ),
    path(
        "predictor/calibration/<uuid:calibration_id>/label",
        calibration.CalibrationLabel.as_view(),
        name="calibration-label",
    ),
]
