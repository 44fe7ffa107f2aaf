"""Finding a card of the current workspace."""

from __future__ import annotations

from uuid import UUID

from conflicts.models import Conflict
from engram.kernel.refusals import MissingError


def locked_conflict(conflict_id: UUID) -> Conflict:
    """Return the card, locked until the transaction ends."""
    conflict = Conflict.objects.select_for_update().filter(pk=conflict_id).first()
    if conflict is None:
        raise MissingError("There is no such conflict.")
    return conflict
