"""Find the digests and mails that are due, and drop old ones.

Apart from what makes and sends them, which loads the inbox: every worker process loads this.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from django.db.models import QuerySet

from engram.console.models import Digest, DigestLease, DigestMail
from engram.kernel import lease
from engram.kernel.due import due_workspaces
from engram.kernel.jobs import wake
from engram.kernel.tenancy import in_workspace

MAKE_TASK: Final = "console.make_digest"
MAIL_TASK: Final = "console.send_mails"
KEPT_FOR: Final = timedelta(days=90)


def wake_due(now: datetime) -> None:
    """Wake workers: for digests whose hour has come, and for mails that are due.

    Mails are due again after a pause, a lost wake-up or a dead worker.
    """
    for due in lease.stalled(DigestLease.objects.all(), now):
        wake(MAKE_TASK, due.workspace_id)
    for workspace in due_workspaces(lambda: select_due_mails(now), "due_at"):
        with in_workspace(workspace):
            wake(MAIL_TASK, workspace.pk)


def select_due_mails(now: datetime) -> QuerySet[DigestMail]:
    """Return the mails that can be sent now."""
    return lease.stalled(DigestMail.objects.exclude(due_at=None), now)


def old_digests(now: datetime) -> QuerySet[Digest]:
    """Return the digests that are kept no longer."""
    return Digest.objects.filter(made_at__lte=now - KEPT_FOR)


def drop_old(now: datetime) -> None:
    """Delete digests that were made 90 days ago or earlier, with their mails."""
    for workspace in due_workspaces(lambda: old_digests(now), "made_at"):
        with in_workspace(workspace):
            old_digests(now).delete()
