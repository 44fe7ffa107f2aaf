"""Waking background tasks by name: a row says what is due, the task is only a wake-up."""

from __future__ import annotations

from uuid import UUID

from django.db import transaction

from engram.celery import app
from engram.kernel.broker import Knocker

_knock = Knocker("waking a worker")


def wake(task_name: str, *ids: UUID | str) -> None:
    """Ask a worker, after commit, to look at rows that are due.

    A dead broker is no error here: the rows stay due and the periodic sweep finds them.
    """
    arguments = [str(i) for i in ids]
    transaction.on_commit(
        lambda: _knock(lambda: app.send_task(task_name, args=arguments, retry=False), task_name)
    )
