"""Add the answers of a repeated statement to its memory."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from engram.kernel.actors import Actor
from engram.kernel.history import record
from memories.core.answers import Answer, unite
from memories.models import Memory, Observation
from memories.services.lifecycle.answers import answers_of, write_answers
from memories.services.lifecycle.fields import keep_revision
from memories.services.locks import lock
from memories.services.review.ask import lapse_reviews
from memories.services.review.trust import may_change

REPEATED = "repeat"  # the reason of such a revision


def add_missing_answers(
    memory_id: UUID, answers: Sequence[Answer], *, sent: Observation, actor: Actor, now: datetime
) -> Memory | None:
    """Add those answers whose question the memory does not answer; return the changed memory.

    Nothing changes if the caller may not change the memory alone: then the answers are kept with
    the observation only.
    """
    memory = next(iter(lock([memory_id])), None)
    if memory is None or not memory.is_live:
        return None
    own = answers_of(memory)
    united = unite(own, answers)
    if united == own or not may_change(memory, provenance=sent.provenance, actor=actor):
        return None
    keep_revision(memory, REPEATED, actor=actor, now=now)
    write_answers(memory, united)
    memory.revision += 1
    memory.updated_at = now
    memory.save(update_fields=["revision", "updated_at"])
    data = {"revision": memory.revision, "fields": ["answers"], "observation": str(sent.id)}
    record("memory.revised", of=("memory", memory.id), actor=actor, now=now, data=data)
    lapse_reviews([memory.id], now=now)
    return memory
