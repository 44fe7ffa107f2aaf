"""A worker's process that runs a real task and is killed (kill -9) at a named step of it.

The processes are forked from one that has loaded Django and the tasks, as a worker's are.
"""

from __future__ import annotations

import importlib
import multiprocessing
import os
import signal
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, NoReturn
from uuid import UUID

from django.db import connection

from tests.conftest import Tenant
from tests.homes import PATIENCE_SECONDS

_forks = multiprocessing.get_context("forkserver")
_forks.set_forkserver_preload(["tests.killed_worker"])


class Step(NamedTuple):
    """The step of a task at which a process dies."""

    task: str
    module: str
    name: str
    when: str


def kill_at(subject: Tenant | UUID, task: str, module: str, name: str, when: str) -> None:
    """Let a worker run a task with the id of a workspace, or another id; it dies at the step.

    The step is a function, named as its callers in `module` find it; it dies `before` or `after`
    its first call.
    """
    argument = str(subject if isinstance(subject, UUID) else subject.workspace.pk)
    database = connection.settings_dict["NAME"]
    with TemporaryDirectory() as folder:
        printed = Path(folder, "printed")
        printed.touch()
        died = _forks.Process(
            target=run_to_death,
            args=(Step(task, module, name, when), argument, database, printed),
        )
        died.start()
        died.join(PATIENCE_SECONDS)
        exit_code = died.exitcode
        died.kill()  # one that hangs before the step: else the end of all tests would wait for it
        died.join()
        died.close()
        assert exit_code == -signal.SIGKILL, printed.read_text()


def run_to_death(step: Step, argument: str, database: str, printed: Path) -> None:
    """Run a task with an id, and die at the step; the output goes to the file `printed`."""
    sys.stdout = sys.stderr = printed.open("w", buffering=1)
    connection.settings_dict["NAME"] = database
    owner: Any = importlib.import_module(step.module)
    *path, last = step.name.split(".")
    for part in path:
        owner = getattr(owner, part)
    setattr(owner, last, _deadly(getattr(owner, last), step.when))
    tasks, _, called = step.task.rpartition(".")
    getattr(importlib.import_module(tasks), called)(argument)


def _deadly(real: Any, when: str) -> Any:
    def step(*args: Any, **kwargs: Any) -> NoReturn:
        if when == "after":
            real(*args, **kwargs)
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError  # it is dead

    return step
