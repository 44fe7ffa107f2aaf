"""The last decisions of a signed-in person, kept in their session so that later pages undo them."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple
from uuid import UUID

from django.http import HttpRequest

from engram.kernel.literals import moment
from engram.kernel.pages import staff_of

SLOT: Final = "last_decisions"
MOST: Final = 10  # decisions of one workspace
VISIT: Final = timedelta(hours=12)  # a key does not undo what was decided on another day


class LastDecision(NamedTuple):
    """What was decided: the source of the inbox, and the item of it. No text is kept."""

    source: str
    item: UUID


def keep_last(request: HttpRequest, source: str, item: UUID, now: datetime) -> None:
    """Keep what the person has just decided, or snoozed, as the newest of this workspace."""
    forget_one(request, source, item)
    here, elsewhere = _split(request)
    newest = {"workspace": _workspace(request), "source": source, "item": str(item)}
    recent = [one for one in elsewhere if now - moment(one["at"]) <= VISIT]
    request.session[SLOT] = [{**newest, "at": now.isoformat()}, *here[: MOST - 1], *recent]


def forget_one(request: HttpRequest, source: str, item: UUID) -> None:
    """Keep a decision no longer: it is being undone."""
    kept = request.session.get(SLOT, [])
    named = {"workspace": _workspace(request), "source": source, "item": str(item)}
    left = [one for one in kept if not named.items() <= one.items()]
    if len(left) < len(kept):
        request.session[SLOT] = left


def forget_last(request: HttpRequest) -> None:
    """Keep nothing of this workspace: what was done since is undone on its own page."""
    here, elsewhere = _split(request)
    if here:
        request.session[SLOT] = elsewhere


def last_kept(request: HttpRequest, now: datetime) -> list[LastDecision]:
    """Return the person's decisions of this visit in this workspace, at most ten, newest first."""
    here, _ = _split(request)
    return [
        LastDecision(one["source"], UUID(one["item"]))
        for one in here
        if now - moment(one["at"]) <= VISIT
    ]


def _split(request: HttpRequest) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the kept decisions of this workspace, newest first, and those of others."""
    kept, own = request.session.get(SLOT, []), _workspace(request)
    here = [one for one in kept if one["workspace"] == own]
    return here, [one for one in kept if one["workspace"] != own]


def _workspace(request: HttpRequest) -> str:
    return str(staff_of(request).workspace.pk)
