"""Waking background tasks by name: a row says what is due, the task is only a wake-up."""

from __future__ import annotations

import logging
from time import monotonic
from uuid import UUID

from django.db import transaction
from kombu.exceptions import OperationalError

from engram.celery import app

log = logging.getLogger(__name__)

# After a failure nobody knocks at the broker for so long; the sweeps find the work meanwhile.
QUIET_SECONDS = 5.0


class _Breaker:
    """Remembers until when the broker is left alone."""

    quiet_until = 0.0


def wake(task_name: str, *ids: UUID | str) -> None:
    """Ask a worker, after commit, to look at rows that are due.

    A dead broker is no error here: the rows stay due and the periodic sweep finds them.
    """
    arguments = [str(i) for i in ids]

    def send() -> None:
        if monotonic() < _Breaker.quiet_until:
            return
        try:
            app.send_task(task_name, args=arguments, retry=False)
        except (OperationalError, OSError) as error:
            _Breaker.quiet_until = monotonic() + QUIET_SECONDS
            log.warning("%s was not woken, its sweep will find the work: %s", task_name, error)

    transaction.on_commit(send)
