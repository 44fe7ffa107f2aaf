"""What processes that are killed have loaded when they are forked; see `tests.killing`."""

import os
from importlib import import_module

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "engram.settings")
django.setup()
for name in (
    "conflicts.tasks",
    "engram.console.tasks",
    "engram.kernel.tasks",
    "memories.tasks",
    "predictor.tasks",
    "tests.killing",
):
    import_module(name)
