from django.apps import AppConfig


class KernelConfig(AppConfig):
    """What every app stands on: workspaces, keys, history, embeddings, live events."""

    name = "engram.kernel"
    label = "kernel"
    verbose_name = "Workspace"

    def ready(self) -> None:
        """Let Celery's processes tell of themselves."""
        from engram.kernel import pulse

        pulse.listen()
