"""When the next digest of a workspace is due: at its hour, in its time zone, if anybody wants it.

The lease of the workspace says it, so that one query finds the workspaces whose hour has come, and
workspaces without digests cost nothing.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from engram.console.models import DigestLease, DigestSubscription, WebhookEndpoint
from engram.console.webhooks.events import DIGEST
from engram.kernel.lease import lease_of
from engram.kernel.middleware import zone_of
from engram.kernel.models import Workspace

SETTINGS: Final = {"digest_hour", "time_zone"}


def next_at(workspace: Workspace, now: datetime) -> datetime:
    """Return the next time, later than now, at which it is the workspace's hour for digests."""
    local = now.astimezone(zone_of(workspace))
    hour = local.replace(
        hour=workspace.config.digest_hour, minute=0, second=0, microsecond=0, fold=0
    )
    at = hour.astimezone(now.tzinfo)
    return at if at > now else (hour + timedelta(days=1)).astimezone(now.tzinfo)


def is_wanted() -> bool:
    """Return whether anybody wants the digests of the current workspace."""
    told = WebhookEndpoint.objects.filter(is_enabled=True, events__contains=[DIGEST])
    return DigestSubscription.objects.exists() or told.exists()


def plan(workspace: Workspace, now: datetime) -> None:
    """Note when the next digest is due, in the current workspace's transaction."""
    due = next_at(workspace, now) if is_wanted() else None
    lease_of(DigestLease, workspace.pk).update(due_at=due)


def follow_settings(
    sender: Any, *, workspace: Workspace, changed: dict[str, Any], now: datetime, **_: Any
) -> None:
    """Plan anew when the hour or the time zone has changed."""
    if SETTINGS & set(changed):
        plan(workspace, now)


def follow_webhooks(sender: Any, *, workspace_id: UUID, now: datetime, **_: Any) -> None:
    """Plan when a webhook wants digests, or none does any more."""
    plan_if_changed(workspace_id, now)


def plan_if_changed(workspace_id: UUID, now: datetime) -> None:
    """Plan in the current workspace if nothing is planned and somebody wants digests, or reversed.

    What is planned stays, so that nobody's choice moves or repeats the digest of the others.
    """
    planned = lease_of(DigestLease, workspace_id).values_list("due_at", flat=True)
    if (planned.get() is None) == is_wanted():
        plan(Workspace.objects.get(pk=workspace_id), now)
