"""Snooze items of sources without a snooze of their own."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from engram.console.models import PutOff
from engram.kernel.actors import Actor
from engram.kernel.causes import NOT_PUT_OFF
from engram.kernel.history import record
from engram.kernel.models import Workspace
from engram.kernel.refusals import InvalidError, StaleError
from engram.kernel.tenancy import in_workspace


def put_off(
    workspace: Workspace, source: str, item: UUID, *, until: datetime, actor: Actor, now: datetime
) -> None:
    """Hide an item from the queue until a time in the future."""
    if until <= now:
        raise InvalidError("until", "Must be in the future.")
    with in_workspace(workspace):
        PutOff.objects.filter(until__lte=now).delete()
        PutOff.objects.bulk_create(
            [PutOff(source=source, item=item, until=until, by=actor.label)],
            update_conflicts=True,
            unique_fields=["workspace", "source", "item"],
            update_fields=["until", "by"],
        )
        data = {"source": source, "until": until.isoformat()}
        record("inbox.put_off", of=("inbox", item), actor=actor, now=now, data=data)


def take_up(workspace: Workspace, source: str, item: UUID, *, actor: Actor, now: datetime) -> None:
    """End an item's snooze early."""
    with in_workspace(workspace):
        gone, _ = PutOff.objects.filter(source=source, item=item).delete()
        if not gone:
            raise StaleError("This is not snoozed any more.", cause=NOT_PUT_OFF)
        record("inbox.taken_up", of=("inbox", item), actor=actor, now=now, data={"source": source})


def find_put_off(source: str, item: UUID, now: datetime) -> PutOff | None:
    """Return an item's snooze, None without one."""
    return PutOff.objects.filter(source=source, item=item, until__gt=now).first()
