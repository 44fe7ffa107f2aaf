from django.apps import AppConfig
from django.contrib.admin import apps as admin_apps


class AdminConfig(admin_apps.AdminConfig):
    """Django's admin with the site of `engram.kernel.admin_site`."""

    default = False
    default_site = "engram.kernel.admin_site.AdminSite"


class KernelConfig(AppConfig):
    """What every app stands on: workspaces, keys, history, embeddings, live events."""

    default = True
    name = "engram.kernel"
    label = "kernel"
    verbose_name = "Workspace"

    def ready(self) -> None:
        """Let Celery's processes tell of themselves, and sign-ins find the last workspace."""
        from engram.kernel import chosen, heartbeat  # noqa: F401  the first listens by itself

        heartbeat.connect_signals()
