"""When a member last looked at a workspace's home page, so that it can say what changed since."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from django.db.models import F

from engram.kernel.models import Membership, Workspace

# Looking again within this time continues a visit.
PAUSE: Final = timedelta(minutes=30)
# Within a visit the moment is written this seldom.
GRAIN: Final = timedelta(minutes=1)


def note_visit(workspace: Workspace, user_id: int, now: datetime) -> datetime | None:
    """Note that a member is here; return when the visit before this one ended, None at the first.

    Kept on the membership, one for each account and workspace, so that it is the same in every
    browser and goes when the member leaves.
    """
    own = Membership.objects.filter(workspace=workspace, user=user_id)
    found = own.values_list("seen_at", "seen_before_at").first()
    if found is None:
        return None
    seen_at, before = found
    if seen_at is None:
        own.filter(seen_at=None).update(seen_at=now)
        return None
    if now - seen_at >= PAUSE:
        # Of two pages that are opened at once only one begins the visit.
        if own.filter(seen_at=seen_at).update(seen_at=now, seen_before_at=F("seen_at")):
            return seen_at
        return own.values_list("seen_before_at", flat=True).first()
    if now - seen_at >= GRAIN:
        own.update(seen_at=now)
    return before
