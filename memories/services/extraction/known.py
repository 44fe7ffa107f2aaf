"""Find the facts that a live memory says already."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

import numpy as np

from memories.core.claims import compare
from memories.core.text import terms
from memories.models import Memory
from memories.services.index.nearest import nearest

NEAREST: Final = 3
NEAR_FROM: Final = 0.6  # cosine


def find_known(
    facts: Sequence[str],
    vectors: Sequence[np.ndarray | None],
    model: str,
    *,
    project: str,
    now: datetime,
) -> dict[int, UUID]:
    """Return the facts that one of their nearest memories says, or says more exactly: by position.

    The values are the memories. `vectors` are the windows (n, dim) of each fact; without them a
    fact counts as new.
    """
    recallable = Memory.objects.recallable(now).filter(project=project).order_by()
    near: dict[int, list[UUID]] = {}
    for position, windows in enumerate(vectors):
        if windows is not None and len(windows):
            cosines = nearest(recallable, windows[0], model, NEAREST)
            near[position] = [pk for pk, cosine in cosines.items() if cosine >= NEAR_FROM]
    memories = Memory.objects.in_bulk([pk for ids in near.values() for pk in ids])
    return {
        position: pk
        for position, ids in near.items()
        for pk in reversed(ids)  # the nearest of those that say it
        if pk in memories and _says(memories[pk].content, facts[position])
    }


def _says(known: str, fact: str) -> bool:
    """Return whether a memory says a fact: by the rules, or in all of its words.

    Where the rules see a difference ("only one side says not"), the words do not count.
    """
    found = compare(known, fact)
    if found.relation in {"same", "refines"}:
        return found.relation == "same" or found.more_specific == "a"
    is_open = found.relation == "different" and found.reasons == ("no rule decides",)
    return is_open and not terms(fact) - terms(known)
