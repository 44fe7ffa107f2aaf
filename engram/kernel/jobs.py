"""Waking background tasks by name: a row says what is due, the task is only a wake-up."""

from __future__ import annotations

import logging
from uuid import UUID

from django.db import transaction
from kombu.exceptions import OperationalError

from engram.celery import app

log = logging.getLogger(__name__)


def wake(task_name: str, *ids: UUID | str) -> None:
    """Ask a worker, after commit, to look at rows that are due.

    A dead broker is no error here: the rows stay due and the periodic sweep finds them.
    """
    arguments = [str(i) for i in ids]

    def send() -> None:
        try:
            app.send_task(task_name, args=arguments, retry=False)
        except (OperationalError, OSError) as error:
            log.warning("%s was not woken, its sweep will find the work: %s", task_name, error)

    transaction.on_commit(send)
