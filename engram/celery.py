"""The Celery application: configuration from settings, tasks found in the apps."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "engram.settings")
# Django's checks would load all pages in every worker; `manage.py check` makes them.
os.environ.setdefault("CELERY_SKIP_CHECKS", "true")
app = Celery("engram")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
