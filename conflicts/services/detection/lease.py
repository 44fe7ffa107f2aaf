"""One runner a workspace: a lease row with a heartbeat, never a lock held while reading.

There are two kinds of leases, for the rules and for the model; neither waits for the other.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import Min, Q, Value
from django.db.models.functions import Coalesce, Greatest, Least

from conflicts.models import DetectionLease
from conflicts.models.detection import Lease
from conflicts.services.detection.backlog import awaited
from engram.kernel.models import Workspace
from engram.kernel.tenancy import in_workspace

# A runner that was silent for so long is taken for dead.
LEASE_SILENCE = timedelta(seconds=60)


def take(
    workspace: Workspace, holder: UUID, now: datetime, of: type[Lease] = DetectionLease
) -> bool:
    """Take the lease if it is free or its holder has fallen silent."""
    of._default_manager.get_or_create(workspace=workspace)
    free = Q(holder=None) | Q(heartbeat_at__lt=now - LEASE_SILENCE)
    taken = of._default_manager.filter(free, workspace=workspace).update(
        holder=holder, heartbeat_at=now
    )
    return bool(taken)


def beat(
    workspace: Workspace, holder: UUID, now: datetime, of: type[Lease] = DetectionLease
) -> bool:
    """Say that the holder is alive; False when somebody took the lease over."""
    held = of._default_manager.filter(workspace=workspace, holder=holder)
    return bool(held.update(heartbeat_at=now))


def note_due(of: type[Lease], workspace_id: UUID, now: datetime) -> None:
    """Write down, within the caller's transaction, that a workspace waits since `now` at least."""
    of._default_manager.get_or_create(workspace_id=workspace_id)
    of._default_manager.filter(workspace_id=workspace_id).update(
        due_since=Least(Coalesce("due_since", Value(now)), Value(now))
    )


def give_back(
    workspace: Workspace, holder: UUID, now: datetime, of: type[Lease] = DetectionLease
) -> bool:
    """Give the lease back; tell whether something is due now.

    What is left waits from now on: who has just had a turn stands last in line.
    """
    with in_workspace(workspace):
        # Waits for commits that are writing due rows; the next statement sees them.
        lease = (
            of._default_manager.select_for_update()
            .filter(workspace=workspace, holder=holder)
            .first()
        )
        if lease is None:
            return False
        earliest = awaited(of.awaits).aggregate(at=Min(Greatest("since", "not_before")))["at"]
        lease.holder = None
        lease.heartbeat_at = None
        lease.due_since = earliest and max(earliest, now)
        lease.save()
        return earliest is not None and earliest <= now


def waiting(now: datetime, limit: int, of: type[Lease] = DetectionLease) -> list[UUID]:
    """Return the workspaces that wait without a living runner, the longest-waiting first."""
    free = Q(holder=None) | Q(heartbeat_at__lt=now - LEASE_SILENCE)
    with transaction.atomic():
        leases = of._default_manager.filter(free, due_since__lte=now)
        return list(leases.order_by("due_since").values_list("workspace_id", flat=True)[:limit])
