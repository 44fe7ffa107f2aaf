from django.apps import AppConfig
from django.contrib.admin import apps as admin_apps


class AdminConfig(admin_apps.AdminConfig):
    """Django's admin with the site of `engram.kernel.admin_site`."""

    default = False
    default_site = "engram.kernel.admin_site.AdminSite"


class KernelConfig(AppConfig):
    """The base of all apps: workspaces, keys, history, embeddings, live events."""

    default = True
    name = "engram.kernel"
    label = "kernel"
    verbose_name = "Workspace"

    def ready(self) -> None:
        """Connect the signals of Celery's processes and of sign-ins."""
        from engram.kernel import chosen, heartbeat  # noqa: F401  importing connects signals

        heartbeat.connect_signals()
