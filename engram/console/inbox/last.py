"""The last decisions, with the way to undo each: in a toast, and by key on the pages after it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Protocol
from urllib.parse import urlencode
from uuid import UUID

from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone

from conflicts.services.cards.show import local_time
from engram.console.inbox.addresses import address_of
from engram.console.inbox.forms import named_item
from engram.console.inbox.judged_merges import JudgedMerges
from engram.console.inbox.put_off import find_put_off
from engram.console.inbox.registry import source_named
from engram.console.inbox.source import Done, Source
from engram.kernel.actors import Actor
from engram.kernel.last_decision import last_kept
from engram.kernel.models import Role, Workspace
from engram.kernel.pages import has_role, staff_of

NOTHING = "Nothing to undo: you have decided nothing in this visit, or have undone it."
GONE = (
    "Nothing to undo: your last decisions of this visit were undone already, or what they were"
    " about has changed since."
)
ELSEWHERE = "This is not undone here."
ON_ITS_PAGE = "It is undone on the page of its memory."


@dataclass(frozen=True, slots=True)
class LastUndo:
    """Where undoing a decision is sent, and what it leads to.

    `why_not` says of a later decision, or of all, why it is not undone here, and `where` is the
    address at which it is.
    """

    url: str = ""
    back: str = ""
    why_not: str = ""
    where: str = ""


class Undoable(Protocol):
    """What is decided about and undone: a source of the inbox, or the judgements of merges."""

    @property
    def name(self) -> str: ...
    @property
    def acts(self) -> Role: ...
    @property
    def has_own_snooze(self) -> bool: ...

    def find_decision(self, item_id: UUID, now: datetime) -> Done | None:
        """Return the decision about an item, None without one."""

    def undo(
        self, workspace: Workspace, item_id: UUID, *, actor: Actor, now: datetime
    ) -> str | None:
        """Undo the decision; return what to tell about it besides."""


def undoable_named(name: str, role: Role) -> Undoable | None:
    """Return what has this name in addresses and in the session, if the role may act on it."""
    found: Undoable | None = source_named(name, role)
    if name == JudgedMerges.name:
        found = JudgedMerges()
    return found if found is not None and role.includes(found.acts) else None


def decided(source: Undoable, item: UUID, now: datetime) -> Done | None:
    """Return the decision about an item, or its snooze; None without one."""
    found = source.find_decision(item, now)
    row = None if found or source.has_own_snooze else find_put_off(source.name, item, now)
    if row is None:
        return found
    return Done(f"Snoozed until {local_time(row.until)}.", "It waits again.", row.by)


def toast_of(request: HttpRequest, item: str, sources: Sequence[Source]) -> dict[str, Any] | None:
    """Return what was decided about the item that an address names, for the toast."""
    named = named_item(item)
    source = next((s for s in sources if named and s.name == named[0]), None)
    if named is None or source is None:
        return None
    done = decided(source, named[1], timezone.now())
    if done is None:
        return None
    kept = {name: value for name, value in request.GET.items() if name not in {"item", "done"}}
    back = urlencode(kept | {"item": f"{source.name}:{named[1]}"})
    return {
        "kind": source.name,
        "url": reverse("console:inbox-undo", args=[source.name, named[1]]),
        "words": done.words,
        "undo": done.undo if has_role(request, source.acts) else "",
        "back": f"{reverse('console:inbox')}?{back}",
    }


def undo_of_last(request: HttpRequest, place: str, filters: Mapping[str, str]) -> LastUndo:
    """Return how a page undoes the last decision of this visit that is the person's and holds.

    Of one that is not undone here it says so, and offers the one before it besides.
    `place` is the page: `inbox`, `triage`, `gate`, or `conflict` for the page of one card.
    """
    now = timezone.now()
    actor = staff_of(request).actor
    kept = last_kept(request, now)
    told = None
    for last in kept:
        source = undoable_named(last.source, actor.role)
        done = decided(source, last.item, now) if source else None
        if source is None or done is None or done.by not in {"", actor.label}:
            continue  # undone since, or decided by somebody else
        if done.undo:
            sent = _sent_to(source, last.item, place, filters)
            return replace(sent, why_not=told.why_not, where=told.where) if told else sent
        told = told or _not_here(done)
    return told or LastUndo(why_not=GONE if kept else NOTHING)


def _not_here(done: Done) -> LastUndo:
    """Say of a decision that it is not undone here, and where it is."""
    if done.memory is None:
        return LastUndo(why_not=f"{done.words} {ELSEWHERE}")
    where = reverse("console:memory", args=[done.memory])
    return LastUndo(why_not=f"{done.words} {ON_ITS_PAGE}", where=where)


def _sent_to(source: Undoable, item: UUID, place: str, filters: Mapping[str, str]) -> LastUndo:
    """Return where undoing is sent from a page, and where that leads to."""
    kind = source.name
    if kind == JudgedMerges.name or (place, kind) == ("gate", "suggestions"):
        return LastUndo(reverse("console:gate-undo", args=[kind, item]))
    if kind != "conflicts" or place not in {"triage", "conflict"}:
        kept = filters if place == "inbox" else {}
        url = reverse("console:inbox-undo", args=[kind, item])
        return LastUndo(url, address_of(kept, f"{kind}:{item}"))
    url, back = reverse("console:conflict-undo", args=[item]), reverse("console:triage")
    if place == "conflict":
        return LastUndo(url, reverse("console:conflict", args=[item]))
    return LastUndo(url, f"{back}?{urlencode({**filters, 'card': str(item)})}")
