"""A worker's process that runs a real task and is killed (kill -9) at a named step of it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

from django.db import connection

from tests.conftest import Tenant
from tests.homes import PATIENCE_SECONDS

_WORKER = """
import importlib, os, signal, sys
import django; django.setup()
from django.db import connection
workspace, database, tasks, task, module, name, when = sys.argv[1:]
connection.settings_dict["NAME"] = database
place = importlib.import_module(module)
for part in name.split(".")[:-1]:
    place = getattr(place, part)
real = getattr(place, name.split(".")[-1])
def die():
    os.kill(os.getpid(), signal.SIGKILL)
def step(*args, **kwargs):
    if when == "before":
        die()
    answer = real(*args, **kwargs)
    die()
setattr(place, name.split(".")[-1], step)
getattr(importlib.import_module(tasks), task)(workspace)
"""


def kill_at(tenant: Tenant, task: str, module: str, name: str, when: str) -> None:
    """Let a worker run a task such as `conflicts.tasks.detect_workspace`; it dies at the step.

    The step is a function, named as its callers in `module` find it; it dies `before` or `after`
    its first call.
    """
    tasks, _, called = task.rpartition(".")
    database = connection.settings_dict["NAME"]
    arguments = [str(tenant.workspace.pk), database, tasks, called, module, name, when]
    died = subprocess.run(
        [sys.executable, "-c", _WORKER, *arguments],
        check=False,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        env=os.environ | {"DJANGO_SETTINGS_MODULE": "engram.settings"},
    )
    assert died.returncode == -signal.SIGKILL, died.stderr
