"""Merges that people judge on the page of the gate: what was said of one, and the undo of it."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar
from uuid import UUID

from engram.console.inbox.source import Done
from engram.kernel.actors import Actor
from engram.kernel.models import Role, Workspace
from memories.models import Merge
from memories.services.gate.audit import take_back


class JudgedMerges:
    """The judgements of merges, with the part of a source of the inbox that undoing needs."""

    name: ClassVar[str] = "merges"
    acts: ClassVar[Role] = Role.REVIEWER
    has_own_snooze: ClassVar[bool] = True  # none waits in the inbox

    def find_decision(self, item_id: UUID, now: datetime) -> Done | None:
        """Return the judgement of a merge, None without one."""
        merge = Merge.objects.filter(pk=item_id).first()
        if merge is None or merge.is_correct is None:
            return None
        waits = "It waits to be judged again."
        if merge.is_correct:
            return Done("Noted: a right merge.", waits, merge.audited_by)
        if merge.split_at is None:
            return Done("Noted: a wrong merge.", waits, merge.audited_by)
        waits = f"The two are one memory again. {waits}"
        return Done("Taken apart: both are recalled again.", waits, merge.audited_by)

    def undo(self, workspace: Workspace, item_id: UUID, *, actor: Actor, now: datetime) -> None:
        """Undo the judgement, and the split that it made."""
        take_back(workspace, item_id, actor=actor, now=now)
