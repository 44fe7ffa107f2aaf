"""What was done to many cards last, kept in the session, so that the list offers to undo it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID, uuid4

from django.http import HttpRequest

from conflicts.models import Conflict
from conflicts.services.verdicts.bulk import AT_ONCE
from conflicts.services.verdicts.bulk_undo import ChangedCard
from engram.kernel.last_decision import forget_last
from engram.kernel.literals import MAX_BIGINT, row_id, whole_number
from engram.kernel.pages import staff_of

SLOT: Final = "conflicts_done"


def keep_done(
    request: HttpRequest, verb: str, words: str, cards: Sequence[Conflict], assigned: str
) -> str:
    """Keep what was done to `cards`, given as they were before; no text of theirs is kept.

    Return its name for the address of the list.
    """
    # A verdict and a snooze raise the version by one; an assignment leaves it.
    step = 0 if verb == "assign" else 1
    name = uuid4().hex
    forget_last(request)
    request.session[SLOT] = {
        "name": name,
        "workspace": str(staff_of(request).workspace.pk),
        "undoes": verb,
        "words": words,
        "assigned": assigned,
        "cards": [
            f"{one.pk}:{one.version + step}:{one.assignee.get_username() if one.assignee else ''}"
            for one in cards
        ],
    }
    return name


def done_in(request: HttpRequest) -> dict[str, Any] | None:
    """Return what was done last, if it was in this workspace and the address names it."""
    kept: dict[str, Any] | None = request.session.get(SLOT)
    if not kept or kept.get("name") != request.GET.get("done"):
        return None
    return kept if kept["workspace"] == str(staff_of(request).workspace.pk) else None


def read_changed(request: HttpRequest) -> dict[UUID, ChangedCard]:
    """Return the cards that a form of undoing names; malformed entries are ignored."""
    found = {}
    for part in request.POST.getlist("changed")[:AT_ONCE]:
        pk, _, rest = part.partition(":")
        version, _, before = rest.partition(":")
        card_id = row_id(pk)
        try:
            number = whole_number(version, least=0, most=MAX_BIGINT)
        except ValueError:
            continue
        if card_id is not None:
            found[card_id] = ChangedCard(number, before.replace("\0", ""))
    return found
