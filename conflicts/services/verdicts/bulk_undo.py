"""Undo an action on many cards: each by itself, and only if nobody changed it since."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from conflicts.models import Conflict
from conflicts.services.cards import discuss
from conflicts.services.cards.snooze import wake
from conflicts.services.verdicts.bulk import BulkPlan, change_each
from conflicts.services.verdicts.undo import undo
from engram.kernel.actors import Actor
from engram.kernel.causes import CHANGED_MEANWHILE
from engram.kernel.models import Workspace
from engram.kernel.refusals import StaleError


@dataclass(frozen=True, slots=True)
class ChangedCard:
    """A card as an action left it; `before` is whom it was assigned to, "" for nobody."""

    version: int
    before: str = ""


def undo_all(
    workspace: Workspace,
    verb: str,
    changed: Mapping[UUID, ChangedCard],
    assigned: str,
    *,
    actor: Actor,
    now: datetime,
) -> BulkPlan:
    """Undo `verb` on cards; `assigned` is whom they were assigned to by it.

    Cards were changed in the order of their ids. Two that share a memory can only be undone in the
    opposite order.
    """

    def take_back(card: Conflict) -> None:
        left = changed[card.pk]
        _refuse_changed(card, verb, left, assigned)
        if verb == "assign":
            discuss.assign(workspace, card.pk, username=left.before or None, actor=actor, now=now)
        else:
            (wake if verb == "snooze" else undo)(workspace, card.pk, actor=actor, now=now)

    return change_each(workspace, sorted(changed, reverse=True), take_back)


def _refuse_changed(card: Conflict, verb: str, left: ChangedCard, assigned: str) -> None:
    holder = card.assignee.get_username() if card.assignee else ""
    if card.version != left.version or (verb == "assign" and holder != assigned):
        raise StaleError("It was changed meanwhile.", cause=CHANGED_MEANWHILE)
