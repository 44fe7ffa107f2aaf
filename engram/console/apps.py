from django.apps import AppConfig


class ConsoleConfig(AppConfig):
    """Pages, API views and commands that use all apps."""

    name = "engram.console"
    label = "console"

    def ready(self) -> None:
        """Write deliveries of webhooks with events, and plan digests when somebody wants them."""
        from engram.console.digests import due
        from engram.console.webhooks.enqueue import follow_events
        from engram.console.webhooks.signals import webhooks_changed
        from engram.kernel.signals import settings_changed

        follow_events()
        webhooks_changed.connect(due.follow_webhooks, dispatch_uid="console.digests_wanted")
        settings_changed.connect(due.follow_settings, dispatch_uid="console.digests_hour")
