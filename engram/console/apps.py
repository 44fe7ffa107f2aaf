from django.apps import AppConfig


class ConsoleConfig(AppConfig):
    """Pages, API views and commands that use all apps."""

    name = "engram.console"
    label = "console"

    def ready(self) -> None:
        """Write deliveries of webhooks with events."""
        from engram.console.webhooks.enqueue import follow_events

        follow_events()
