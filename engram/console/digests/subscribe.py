"""Subscribe to digests by mail, each member for themselves."""

from __future__ import annotations

from datetime import datetime

from engram.console.digests.due import plan_if_changed
from engram.console.models import DigestSubscription
from engram.kernel.models import Workspace
from engram.kernel.tenancy import in_workspace


def is_subscribed(user_id: int) -> bool:
    """Return whether a person gets the digests of the current workspace by mail."""
    return DigestSubscription.objects.filter(user_id=user_id).exists()


def subscribe(workspace: Workspace, *, wants: bool, user_id: int, now: datetime) -> None:
    """Let a person get digests by mail, or none any more."""
    with in_workspace(workspace):
        if wants:
            row = DigestSubscription(user_id=user_id, created_at=now)
            DigestSubscription.objects.bulk_create([row], ignore_conflicts=True)
        else:
            DigestSubscription.objects.filter(user_id=user_id).delete()
        plan_if_changed(workspace.pk, now)
