"""Routes of the predictor below `/api/v1/`."""

from django.urls import path

from predictor.api import calibration

urlpatterns = [
    path("predictor/calibration", calibration.Calibration.as_view(), name="calibration"),
    path(
        "predictor/calibration/sample",
        calibration.CalibrationSample.as_view(),
        name="calibration-sample",
    ),
    path(
        "predictor/calibration/<uuid:calibration_id>/label",
        calibration.CalibrationLabel.as_view(),
        name="calibration-label",
    ),
]
