"""Store the workspace that a member has chosen, in the session and for the next sign-in."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.contrib.auth.signals import user_logged_in
from django.dispatch import receiver
from django.http import HttpRequest

from engram.kernel.middleware import SESSION_SLOT
from engram.kernel.models import Membership, Workspace


def choose_workspace(request: HttpRequest, workspace: Workspace, now: datetime) -> None:
    """Choose one of the person's workspaces for this session."""
    request.session[SESSION_SLOT] = str(workspace.pk)
    Membership.objects.filter(user=request.user.pk, workspace=workspace).update(chosen_at=now)


@receiver(user_logged_in)
def open_last_chosen(request: HttpRequest, user: User, **_: Any) -> None:
    """Choose the workspace that the person chose last; their other sessions do not change."""
    chosen = Membership.objects.filter(user=user.pk, chosen_at__isnull=False)
    last = chosen.order_by("-chosen_at").values_list("workspace", flat=True).first()
    if last is not None:
        request.session[SESSION_SLOT] = str(last)
