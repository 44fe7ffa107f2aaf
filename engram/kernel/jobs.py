"""Wake background tasks by name: rows record what is due, the task is only a wake-up."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.db import connection, transaction

from engram.celery import app
from engram.kernel.broker import BrokerCooldown

_broker = BrokerCooldown("waking a worker")


def wake(task_name: str, *ids: UUID | str) -> None:
    """Send a task after commit, to process due rows.

    An unreachable broker is no error: the rows stay due and a periodic sweep finds them.
    """
    wake_up = _WakeUp(task_name, tuple(str(i) for i in ids))
    within = set(connection.savepoint_ids)
    if not any(row[:2] == (within, wake_up) for row in connection.run_on_commit):
        transaction.on_commit(wake_up)


@dataclass(frozen=True, slots=True)
class _WakeUp:
    """One task to send, at most once per transaction."""

    task_name: str
    ids: tuple[str, ...]

    def __call__(self) -> None:
        _broker.call(
            lambda: app.send_task(self.task_name, args=list(self.ids), retry=False),
            self.task_name,
        )
