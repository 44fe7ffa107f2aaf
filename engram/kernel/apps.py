from typing import Any

from django.apps import AppConfig
from django.contrib.admin import apps as admin_apps
from django.contrib.admin.checks import check_admin_app, check_dependencies
from django.core import checks
from django.urls import get_resolver


class AdminConfig(admin_apps.SimpleAdminConfig):
    """Django's admin with the site of `engram.kernel.admin_site`.

    `engram/urls.py` registers the pages. Processes that show none, workers and commands, start
    without loading them.
    """

    default = False
    default_site = "engram.kernel.admin_site.AdminSite"

    def ready(self) -> None:
        """Register Django's checks of the admin, to be made when its pages are registered."""
        checks.register(check_dependencies, checks.Tags.admin)
        checks.register(_check_pages, checks.Tags.admin)


class KernelConfig(AppConfig):
    """The base of all apps: workspaces, keys, history, embeddings, live events."""

    default = True
    name = "engram.kernel"
    label = "kernel"
    verbose_name = "Workspace"

    def ready(self) -> None:
        """Connect the signals of Celery's processes and of sign-ins."""
        from celery import signals

        from engram.kernel import chosen, heartbeat  # noqa: F401  importing connects signals

        heartbeat.connect_signals()
        signals.celeryd_init.connect(_acknowledge_safely, weak=False)


def _acknowledge_safely(**_: Any) -> None:
    from engram.kernel import acknowledging  # a worker's alone: it loads Kombu's Redis transport

    acknowledging.install()


def _check_pages(app_configs: Any, **options: Any) -> list[checks.CheckMessage]:
    """Check the admin's pages, which the routes register."""
    get_resolver().url_patterns  # noqa: B018  imports them
    return check_admin_app(app_configs, **options)
