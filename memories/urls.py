"""Routes of memories below `/api/v1/`."""

from django.urls import path

from memories.api import forgetting, memories, recall

urlpatterns = [
    path("memories", memories.MemoryCollection.as_view(), name="memories"),
    path("memories/batch", memories.MemoryBatch.as_view(), name="memories-batch"),
    path("memories/recall", recall.Recall.as_view(), name="memories-recall"),
    path("memories/forget", forgetting.Forget.as_view(), name="memories-forget"),
    path("memories/restore", forgetting.Restore.as_view(), name="memories-restore"),
    path("memories/<uuid:memory_id>", memories.MemoryDetail.as_view(), name="memory"),
    path(
        "memories/<uuid:memory_id>/history", memories.MemoryHistory.as_view(), name="memory-history"
    ),
]
