"""The last decision of a signed-in person, kept in their session so that a later page undoes it."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple
from uuid import UUID

from django.http import HttpRequest

from engram.kernel.literals import moment
from engram.kernel.pages import staff_of

SLOT: Final = "last_decision"
VISIT: Final = timedelta(hours=12)  # a key does not undo what was decided on another day


class LastDecision(NamedTuple):
    """What was decided: the source of the inbox, and the item of it. No text is kept."""

    source: str
    item: UUID


def keep_last(request: HttpRequest, source: str, item: UUID, now: datetime) -> None:
    """Keep what the person has just decided, or snoozed."""
    request.session[SLOT] = {
        "workspace": str(staff_of(request).workspace.pk),
        "source": source,
        "item": str(item),
        "at": now.isoformat(),
    }


def forget_last(request: HttpRequest) -> None:
    """Keep nothing: what was done since is undone on its own page."""
    request.session.pop(SLOT, None)


def last_kept(request: HttpRequest, now: datetime) -> LastDecision | None:
    """Return the person's last decision of this visit in this workspace, None without one."""
    kept: dict[str, Any] | None = request.session.get(SLOT)
    if not kept or kept["workspace"] != str(staff_of(request).workspace.pk):
        return None
    if now - moment(kept["at"]) > VISIT:
        return None
    return LastDecision(kept["source"], UUID(kept["item"]))
