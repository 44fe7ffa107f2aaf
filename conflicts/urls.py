"""Routes of conflicts below `/api/v1/`."""

from django.urls import path

from conflicts import api

urlpatterns = [
    path("conflicts", api.ConflictCollection.as_view(), name="conflicts"),
    path("conflicts/detect", api.Detect.as_view(), name="conflicts-detect"),
    path("conflicts/quality", api.ConflictQuality.as_view(), name="conflicts-quality"),
    path("conflicts/<uuid:conflict_id>", api.ConflictDetail.as_view(), name="conflict"),
    path(
        "conflicts/<uuid:conflict_id>/resolve",
        api.ConflictResolve.as_view(),
        name="conflict-resolve",
    ),
    path("conflicts/<uuid:conflict_id>/undo", api.ConflictUndo.as_view(), name="conflict-undo"),
    path(
        "conflicts/<uuid:conflict_id>/snooze", api.ConflictSnooze.as_view(), name="conflict-snooze"
    ),
    path(
        "conflicts/<uuid:conflict_id>/assign", api.ConflictAssign.as_view(), name="conflict-assign"
    ),
    path(
        "conflicts/<uuid:conflict_id>/comments",
        api.ConflictComments.as_view(),
        name="conflict-comments",
    ),
    path("detections", api.DetectionCollection.as_view(), name="detections"),
    path("detections/<uuid:run_id>", api.DetectionDetail.as_view(), name="detection"),
]
