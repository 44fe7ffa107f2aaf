"""Routes of conflicts below `/api/v1/`."""

from django.urls import path

from conflicts.api import cards, detections, muting, questions, relations

urlpatterns = [
    path(
        "memories/<uuid:memory_id>/relations",
        relations.MemoryRelations.as_view(),
        name="memory-relations",
    ),
    path("conflicts", cards.ConflictCollection.as_view(), name="conflicts"),
    path("conflicts/detect", detections.Detect.as_view(), name="conflicts-detect"),
    path("conflicts/quality", detections.ConflictQuality.as_view(), name="conflicts-quality"),
    path("conflicts/<uuid:conflict_id>", cards.ConflictDetail.as_view(), name="conflict"),
    path(
        "conflicts/<uuid:conflict_id>/resolve",
        cards.ConflictResolve.as_view(),
        name="conflict-resolve",
    ),
    path("conflicts/<uuid:conflict_id>/undo", cards.ConflictUndo.as_view(), name="conflict-undo"),
    path(
        "conflicts/<uuid:conflict_id>/snooze",
        cards.ConflictSnooze.as_view(),
        name="conflict-snooze",
    ),
    path(
        "conflicts/<uuid:conflict_id>/assign",
        cards.ConflictAssign.as_view(),
        name="conflict-assign",
    ),
    path(
        "conflicts/<uuid:conflict_id>/comments",
        cards.ConflictComments.as_view(),
        name="conflict-comments",
    ),
    path("mutings", muting.MutingCollection.as_view(), name="mutings"),
    path("mutings/unmute", muting.Unmute.as_view(), name="mutings-unmute"),
    path("mutings/<uuid:muting_id>/accept", muting.AcceptMuting.as_view(), name="muting-accept"),
    path("mutings/<uuid:muting_id>/reject", muting.RejectMuting.as_view(), name="muting-reject"),
    path("questions", questions.QuestionCollection.as_view(), name="questions"),
    path("questions/<uuid:question_id>", questions.QuestionDetail.as_view(), name="question"),
    path("detections", detections.DetectionCollection.as_view(), name="detections"),
    path("detections/<uuid:run_id>", detections.DetectionDetail.as_view(), name="detection"),
]
