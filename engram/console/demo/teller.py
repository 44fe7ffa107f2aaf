"""Who tells a workspace's story: a row with a heartbeat, held over the steps."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from uuid import uuid4

from django.db.models import Q, QuerySet

from engram.console.models import Telling
from engram.kernel.models import Workspace
from predictor.services.heartbeat import living

SILENCE = timedelta(seconds=60)  # who told and was silent for so long is taken for dead


class OvertakenError(Exception):
    """Somebody else tells the story now."""


def rows_untold() -> QuerySet[Telling]:
    """Return the rows of the stories that were not told to their end."""
    return Telling.objects.filter(finished_at=None)


class Teller:
    """Who tells a workspace's story, until nothing is heard of it."""

    def __init__(self, workspace: Workspace, clock: Callable[[], datetime]) -> None:
        self.workspace, self.clock, self._id = workspace, clock, uuid4()

    def take(self) -> bool:
        """Take the story if nobody alive tells it."""
        now = self.clock()
        free = Q(holder=None) | ~Q(heartbeat_at__range=living(now, SILENCE))
        rows = rows_untold().filter(free, workspace=self.workspace)
        return bool(rows.update(holder=self._id, heartbeat_at=now))

    def beat(self) -> None:
        """Say that the story is being told."""
        if not self._rows().update(heartbeat_at=self.clock()):
            raise OvertakenError

    def at(self, position: int, *, is_locked: bool = False) -> Telling:
        """Return the row, which stands at this position."""
        rows = self._rows().filter(told=position)
        telling = (rows.select_for_update() if is_locked else rows).first()
        if telling is None:
            raise OvertakenError
        return telling

    def give_back(self) -> None:
        """Let another go on at once."""
        self._rows().update(holder=None, heartbeat_at=None)

    def _rows(self) -> QuerySet[Telling]:
        return rows_untold().filter(workspace=self.workspace, holder=self._id)
