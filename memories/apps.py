from django.apps import AppConfig


class MemoriesConfig(AppConfig):
    """Memories: commit, recall, forget."""

    name = "memories"
