"""Answer a proposal to mute, take the answer back, and unmute."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from conflicts.core.muting import MUTEABLE
from conflicts.models import Muting, MutingStatus
from conflicts.services.causes import MUTING_SETTLED
from conflicts.services.muting.settle import SETTING, settle, tell
from engram.kernel.actors import Actor
from engram.kernel.models import Workspace
from engram.kernel.refusals import InvalidError, MissingError, StaleError
from engram.kernel.services import change_settings, lock_settings
from engram.kernel.tenancy import in_workspace


def accept(workspace: Workspace, muting_id: UUID, *, actor: Actor, now: datetime) -> Muting:
    """Mute the rule: what it finds from now on opens no cards. Open cards stay."""
    with in_workspace(workspace):
        proposal = _lock_pending(workspace, muting_id)
        if not _set_muted(workspace, proposal.rule, is_muted=True, actor=actor, now=now):
            return settle(proposal, MutingStatus.MUTED, actor=actor, now=now)
        proposal.refresh_from_db()  # the change of the setting has settled it
        return proposal


def reject(workspace: Workspace, muting_id: UUID, *, actor: Actor, now: datetime) -> Muting:
    """Let the rule go on; it is proposed again after thirty further verdicts at the earliest."""
    with in_workspace(workspace):
        proposal = _lock_pending(workspace, muting_id)
        return settle(proposal, MutingStatus.REJECTED, actor=actor, now=now)


def take_back(workspace: Workspace, muting_id: UUID, *, actor: Actor, now: datetime) -> Muting:
    """Take an answer back: the proposal waits again, and a muted rule finds again."""
    with in_workspace(workspace):
        proposal = _lock(workspace, muting_id)
        others = Muting.objects.filter(rule=proposal.rule, created_at__gt=proposal.created_at)
        answered = (MutingStatus.MUTED, MutingStatus.REJECTED)
        if proposal.status not in answered or others.exists():
            raise StaleError("There is no answer to take back.", cause=MUTING_SETTLED)
        was_muted = proposal.status == MutingStatus.MUTED
        proposal.status, proposal.settled_at, proposal.settled_by = MutingStatus.PENDING, None, ""
        proposal.save(update_fields=["status", "settled_at", "settled_by"])
        tell("muting.reopened", proposal, actor=actor, now=now)
        if was_muted:
            _set_muted(workspace, proposal.rule, is_muted=False, actor=actor, now=now)
        return proposal


def unmute(workspace: Workspace, rule: str, *, actor: Actor, now: datetime) -> Muting:
    """Let a muted rule or tier find again, whoever muted it; earlier verdicts count no more."""
    with in_workspace(workspace):
        if not _set_muted(workspace, rule, is_muted=False, actor=actor, now=now):
            raise InvalidError("rule", "This is not muted.")
        ended = Muting.objects.filter(rule=rule, status=MutingStatus.UNMUTED, settled_at=now)
        if (proposal := ended.first()) is not None:
            return proposal
        # Without a row it was muted by the setting alone.
        muted = Muting.objects.create(rule=rule, status=MutingStatus.MUTED, created_at=now)
        return settle(muted, MutingStatus.UNMUTED, actor=actor, now=now)


def _lock(workspace: Workspace, muting_id: UUID) -> Muting:
    """Return the locked proposal; the settings, which change with it, are locked before."""
    lock_settings(workspace)
    proposal = Muting.objects.select_for_update().filter(pk=muting_id).first()
    if proposal is None:
        raise MissingError("There is no such proposal.")
    return proposal


def _lock_pending(workspace: Workspace, muting_id: UUID) -> Muting:
    proposal = _lock(workspace, muting_id)
    if proposal.status != MutingStatus.PENDING:
        raise StaleError("This proposal is answered already.", cause=MUTING_SETTLED)
    return proposal


def _set_muted(
    workspace: Workspace, rule: str, *, is_muted: bool, actor: Actor, now: datetime
) -> bool:
    """Change the setting; return whether it changed. Names that mean nothing any more are kept."""
    before = lock_settings(workspace).config.muted_rules
    after = sorted({*before, rule} if is_muted and rule in MUTEABLE else {*before} - {rule})
    if after == sorted(before):
        return False
    change_settings(workspace, {SETTING: after}, actor=actor, now=now)
    return True
