"""Make the digest of a day, once: its row, its event (which webhooks are told of), its mails."""

from __future__ import annotations

from datetime import date, datetime
from uuid import uuid4

from django.conf import settings

from engram.console.digests.due import is_wanted, next_at
from engram.console.digests.sweeps import MAIL_TASK
from engram.console.digests.waiting import Waiting, find_waiting
from engram.console.models import Digest, DigestLease, DigestMail, DigestSubscription
from engram.console.webhooks.events import DIGEST
from engram.kernel import lease
from engram.kernel.actors import SYSTEM
from engram.kernel.history import record
from engram.kernel.inserting import insert
from engram.kernel.jobs import wake
from engram.kernel.lease import TakenOverError
from engram.kernel.middleware import zone_of
from engram.kernel.models import Role, Workspace
from engram.kernel.tenancy import in_workspace


def run(workspace: Workspace, *, now: datetime) -> bool:
    """Make the digest that is due; return whether there was one.

    One transaction, which also plans the next one: after a crash everything is done again.
    """
    mine, holder = lease.lease_of(DigestLease, workspace.pk), uuid4()
    if not lease.stalled(mine, now).exists() or not lease.acquire(mine, holder, now):
        return False
    with in_workspace(workspace):
        due_at = mine.get().due_at
        is_due = due_at is not None and due_at <= now
        if due_at is not None and is_due:
            make(workspace, due_at.astimezone(zone_of(workspace)).date(), now)
        following = next_at(workspace, now) if is_wanted() else None
        if not lease.release(mine, holder, due_at=following):
            raise TakenOverError
    return is_due


def make(workspace: Workspace, day: date, now: datetime) -> None:
    """Make the digest of a day in the current workspace, unless it was made."""
    found = find_waiting(Role.ADMIN, now)
    made = {"made_at": now, "open_count": found.total}
    digest, is_new = Digest.objects.get_or_create(day=day, defaults=made)
    if not is_new or not found.total:
        return
    data = data_of(found)
    record(DIGEST, of=("digest", digest.pk), actor=SYSTEM, now=now, data=data)
    if settings.ENGRAM_SENDS_MAIL:
        queue_mails(workspace, digest, now)


def data_of(found: Waiting) -> dict[str, object]:
    """Return what the event says: how many of each kind, and the ids of the most urgent."""
    return {
        "open": {source.name: counted.count for source, counted in found.kinds},
        "items": [
            {"source": entry.mark.source, "id": str(entry.mark.id), "severity": entry.severity}
            for entry in found.entries
        ],
    }


def queue_mails(workspace: Workspace, digest: Digest, now: datetime) -> None:
    """Queue a mail for each subscriber; when it is sent, whether they may see it is checked."""
    users = DigestSubscription.objects.values_list("user_id", flat=True)
    mails = [DigestMail(digest=digest, user_id=one, queued_at=now, due_at=now) for one in users]
    if mails:
        insert(mails)
        wake(MAIL_TASK, workspace.pk)
