from django.apps import AppConfig


class KernelConfig(AppConfig):
    """What every app stands on: workspaces, keys, history, embeddings, live events."""

    name = "engram.kernel"
    label = "kernel"
    verbose_name = "Workspace"

    def ready(self) -> None:
        """Let Celery's processes tell of themselves, and sign-ins find the last workspace."""
        from engram.kernel import chosen, pulse  # noqa: F401  the first listens by itself

        pulse.listen()
