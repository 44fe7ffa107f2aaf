from django.apps import AppConfig


class ConsoleConfig(AppConfig):
    """The surfaces that see every app."""

    name = "engram.console"
    label = "console"

    def ready(self) -> None:
        """Keep workers out of a workspace whose past is being told."""
        from engram.console.demo.telling import may_work
        from predictor.signals import workers_asked

        workers_asked.connect(may_work, dispatch_uid="console.telling")
