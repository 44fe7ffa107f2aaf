"""Routes of memories below `/api/v1/`."""

from django.urls import path

from memories import api

urlpatterns = [
    path("memories", api.MemoryCollection.as_view(), name="memories"),
    path("memories/batch", api.MemoryBatch.as_view(), name="memories-batch"),
    path("memories/recall", api.Recall.as_view(), name="memories-recall"),
    path("memories/forget", api.Forget.as_view(), name="memories-forget"),
    path("memories/restore", api.Restore.as_view(), name="memories-restore"),
    path("memories/<uuid:memory_id>", api.MemoryDetail.as_view(), name="memory"),
    path("memories/<uuid:memory_id>/history", api.MemoryHistory.as_view(), name="memory-history"),
]
