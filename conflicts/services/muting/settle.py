"""Settle proposals to mute: by an answer, or because the setting says so already."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from django.db.models import Q

from conflicts.models import Muting, MutingStatus
from engram.kernel.actors import Actor
from engram.kernel.history import record
from engram.kernel.models import Workspace
from engram.kernel.tenancy import in_workspace

SETTING: Final = "muted_rules"
EVENTS: Final = {
    MutingStatus.MUTED: "muting.accepted",
    MutingStatus.REJECTED: "muting.rejected",
    MutingStatus.UNMUTED: "muting.ended",
}


def settle(proposal: Muting, status: MutingStatus, *, actor: Actor, now: datetime) -> Muting:
    """Write the status of a locked proposal."""
    proposal.status, proposal.settled_at, proposal.settled_by = status, now, actor.label[:150]
    proposal.save(update_fields=["status", "settled_at", "settled_by"])
    tell(EVENTS[status], proposal, actor=actor, now=now)
    return proposal


def tell(event: str, proposal: Muting, *, actor: Actor, now: datetime) -> None:
    """Record what happened to a proposal."""
    record(event, of=("muting", proposal.id), actor=actor, now=now, data={"rule": proposal.rule})


def follow_setting(
    sender: Any,
    *,
    workspace: Workspace,
    changed: Mapping[str, Any],
    actor: Actor,
    now: datetime,
    **_: Any,
) -> None:
    """Settle what the changed setting has answered: nobody is asked to mute what is muted."""
    before, after = (set(names) for names in changed.get(SETTING, ((), ())))
    if before == after:
        return
    with in_workspace(workspace):
        asked = Q(rule__in=after - before, status=MutingStatus.PENDING)
        in_force = Q(rule__in=before - after, status=MutingStatus.MUTED)
        rows = Muting.objects.select_for_update().filter(asked | in_force).order_by("pk")
        for row in rows:
            is_muted = row.status == MutingStatus.PENDING
            status = MutingStatus.MUTED if is_muted else MutingStatus.UNMUTED
            settle(row, status, actor=actor, now=now)
