"""Invite people to a workspace by a link, shown once, that the invited person accepts or declines.

The inviter does not learn whether an account of that name exists: the response is the same.
"""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta

from django.contrib.auth.models import User

from engram.kernel.actors import Actor
from engram.kernel.history import record
from engram.kernel.keys import digest_of
from engram.kernel.models import Event, Invitation, Membership, Role, Workspace
from engram.kernel.refusals import InvalidError, MissingError
from engram.kernel.tenancy import in_workspace

LASTS = timedelta(days=7)
DAYS_MAX = 90
NOT_VALID = (
    "This link is not valid: it was used, revoked or has expired, or it is for another account."
)


def invite(
    workspace: Workspace,
    *,
    username: str,
    role: Role,
    actor: Actor,
    now: datetime,
    lasts: timedelta = LASTS,
) -> tuple[Invitation, str]:
    """Create an invitation and return it with its token, which is never shown again.

    It is valid while the inviter is an admin. An open earlier invitation of the same person is
    revoked.
    """
    if Membership.objects.filter(workspace=workspace, user__username=username).exists():
        raise InvalidError("username", "This person is a member already.")
    token = secrets.token_urlsafe(32)
    with in_workspace(workspace):
        for earlier in Invitation.objects.filter(workspace=workspace, username=username):
            _revoke(earlier, actor=actor, now=now)
        invitation = Invitation.objects.create(
            workspace=workspace,
            username=username,
            role=role,
            digest=digest_of(token),
            invited_by=actor.label,
            created_at=now,
            expires_at=now + lasts,
        )
        _record(invitation, "member.invited", actor=actor, now=now)
    return invitation, token


def revoke(invitation: Invitation, *, actor: Actor, now: datetime) -> bool:
    """Revoke an invitation; return whether it was open."""
    with in_workspace(invitation.workspace):
        return _revoke(invitation, actor=actor, now=now)


def find(token: str, *, username: str, now: datetime) -> Invitation:
    """Return the open invitation of a token for the invited person; raise otherwise."""
    invitation = Invitation.objects.select_related("workspace").filter(digest=digest_of(token))
    found = invitation.first()
    if found is None or found.username != username or not found.is_open(now):
        raise MissingError(NOT_VALID)
    with in_workspace(found.workspace):
        if not _may_still_invite(found):
            raise MissingError(NOT_VALID)
    return found


def accept(token: str, *, user: User, now: datetime) -> Membership:
    """Make the person a member; their chosen workspace does not change."""
    invitation = find(token, username=user.get_username(), now=now)
    with in_workspace(invitation.workspace):
        _close(invitation, "accepted_at", now)
        membership, _ = Membership.objects.get_or_create(
            workspace=invitation.workspace, user=user, defaults={"role": invitation.role}
        )
        _record(invitation, "member.added", actor=_actor(user, invitation), now=now)
    return membership


def decline(token: str, *, user: User, now: datetime) -> None:
    """Close an invitation without becoming a member."""
    invitation = find(token, username=user.get_username(), now=now)
    with in_workspace(invitation.workspace):
        _close(invitation, "declined_at", now)
        _record(invitation, "member.declined", actor=_actor(user, invitation), now=now)


def revoke_of_former_admins(workspace: Workspace, *, actor: Actor, now: datetime) -> int:
    """Revoke the open invitations of former admins; return their number."""
    with in_workspace(workspace):
        unanswered = Invitation.objects.filter(
            workspace=workspace, accepted_at=None, declined_at=None, revoked_at=None
        )
        former = [one for one in unanswered if not _may_still_invite(one)]
        return sum(_revoke(one, actor=actor, now=now) for one in former)


def _may_still_invite(invitation: Invitation) -> bool:
    """Return whether the inviter is still an active admin.

    Always true for invitations made by a command.
    """
    made = Event.objects.filter(type="member.invited", object_id=str(invitation.pk)).first()
    if made is None or made.actor_kind != "user":
        return True
    return Membership.objects.filter(
        workspace=invitation.workspace_id,
        user=int(made.actor_id),
        user__is_active=True,
        role=Role.ADMIN,
    ).exists()


def _actor(user: User, invitation: Invitation) -> Actor:
    role = Role(invitation.role)
    return Actor(kind="user", id=str(user.pk), label=user.get_username(), role=role)


def _close(invitation: Invitation, stamp: str, now: datetime) -> None:
    """Set a timestamp of an open invitation; a concurrent second call raises."""
    still_open = Invitation.objects.filter(
        pk=invitation.pk, accepted_at=None, declined_at=None, revoked_at=None
    )
    if not still_open.update(**{stamp: now}):
        raise MissingError(NOT_VALID)


def _revoke(invitation: Invitation, *, actor: Actor, now: datetime) -> bool:
    if not invitation.is_open(now):
        return False
    try:
        _close(invitation, "revoked_at", now)
    except MissingError:
        return False
    _record(invitation, "member.invitation_revoked", actor=actor, now=now)
    return True


def _record(invitation: Invitation, what: str, *, actor: Actor, now: datetime) -> None:
    data = {"username": invitation.username, "role": invitation.role}
    record(what, of=("invitation", invitation.pk), actor=actor, now=now, data=data)
