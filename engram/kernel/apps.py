from django.apps import AppConfig


class KernelConfig(AppConfig):
    """What every app stands on: workspaces, keys, history, embeddings, live events."""

    name = "engram.kernel"
    label = "kernel"
    verbose_name = "Workspace"
