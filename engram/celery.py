"""The Celery application: configuration from settings, tasks found in the apps."""

import os

from celery import Celery, signals

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "engram.settings")
# Django's checks would load all pages in every worker; `manage.py check` makes them.
os.environ.setdefault("CELERY_SKIP_CHECKS", "true")
app = Celery("engram")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@signals.worker_init.connect
def embed_by_one_thread(**_: object) -> None:
    """Leave the other processors to requests, unless EMBEDDING_THREADS says otherwise."""
    from django.conf import settings

    settings.ENGRAM_EMBEDDING["threads"] = settings.ENGRAM_EMBEDDING["threads"] or 1
