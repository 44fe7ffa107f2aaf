"""When a member last looked at a workspace's home page, so that it can say what changed since."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final, NamedTuple

from django.db.models import F

from engram.kernel.models import Membership, Workspace

# Looking again within this time continues a visit.
PAUSE: Final = timedelta(minutes=30)
# Within a visit the moment is written this seldom.
GRAIN: Final = timedelta(minutes=1)


class Visit(NamedTuple):
    """When the visit before this one ended, None at the first; `is_new`: never here before."""

    after: datetime | None
    is_new: bool = False


def note_visit(workspace: Workspace, user_id: int, now: datetime) -> Visit:
    """Note that a member is here, and return what kind of visit it is.

    Kept on the membership, one for each account and workspace, so that it is the same in every
    browser and goes when the member leaves.
    """
    own = Membership.objects.filter(workspace=workspace, user=user_id)
    found = own.values_list("seen_at", "seen_before_at").first()
    if found is None:
        return Visit(None)
    seen_at, before = found
    if seen_at is None:
        own.filter(seen_at=None).update(seen_at=now)
        return Visit(None, is_new=True)
    if now - seen_at >= PAUSE:
        # Of two pages that are opened at once only one begins the visit.
        if own.filter(seen_at=seen_at).update(seen_at=now, seen_before_at=F("seen_at")):
            return Visit(seen_at)
        return Visit(own.values_list("seen_before_at", flat=True).first())
    if now - seen_at >= GRAIN:
        own.update(seen_at=now)
    return Visit(before)
