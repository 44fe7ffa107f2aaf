"""Record the pairs that the answer to a commit asks its writer about, each only once."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import connection

from engram.kernel.actors import Actor
from engram.kernel.ids import next_ids
from engram.kernel.tenancy import current_workspace_id
from memories.models import Ask, Memory
from memories.services.disputes import have_card
from memories.services.gate.suggestions import wordings_of

# A memory that was erased since is left out; the others cannot be erased before the end of the
# transaction. In the order of the keys, so that two callers cannot wait for each other.
_INSERT = """
    WITH held AS MATERIALIZED (
        SELECT id FROM memories_memory
        WHERE workspace_id = %(workspace)s AND id = ANY(%(memories)s::uuid[] || %(others)s::uuid[])
        ORDER BY id FOR KEY SHARE
    )
    INSERT INTO memories_ask (
        id, workspace_id, memory_id, other_id, wordings, cosine, actor_kind, actor_id, created_at
    )
    SELECT id, %(workspace)s, memory, other, wordings, cosine, %(kind)s, %(actor)s, %(now)s
    FROM unnest(
        %(ids)s::uuid[], %(memories)s::uuid[], %(others)s::uuid[], %(wordings)s::text[],
        %(cosines)s::float8[]
    ) AS asked (id, memory, other, wordings, cosine)
    WHERE memory IN (SELECT id FROM held) AND other IN (SELECT id FROM held)
    ORDER BY wordings
    ON CONFLICT (workspace_id, wordings) DO NOTHING
    RETURNING memory_id, other_id
"""


@dataclass(frozen=True, slots=True)
class AskedPair:
    """A new statement and a memory on the same subject."""

    memory: Memory
    other: Memory
    cosine: float


def count_asks(memories: int, *, key: UUID | None, excluding: Collection[UUID]) -> int:
    """Return how many pairs were asked about for the newest memories of a writer.

    `memories` is of how many (0 and more), `key` the API key that wrote them (None: people), and
    `excluding` are new ones that do not count. Answered and expired asks do.
    """
    own = Memory.objects.filter(key=key).exclude(pk__in=excluding).order_by("-created_at")
    return Ask.objects.filter(memory__in=own.values("pk")[:memories]).order_by().count()


def record_asks(
    pairs: Sequence[AskedPair], *, actor: Actor, now: datetime
) -> set[tuple[UUID, UUID]]:
    """Store asks in one statement; return the ids of the pairs to ask about.

    Not those that were asked about before, nor those for which the detective has opened a card
    since their commit.
    """
    if not pairs:
        return set()
    ids = next_ids(len(pairs))
    parameters = {
        "workspace": current_workspace_id(),
        "kind": actor.kind,
        "actor": actor.id,
        "now": now,
        "ids": ids,
        "memories": [pair.memory.id for pair in pairs],
        "others": [pair.other.id for pair in pairs],
        "wordings": [wordings_of(p.memory.content_hash, p.other.content_hash) for p in pairs],
        "cosines": [pair.cosine for pair in pairs],
    }
    with connection.cursor() as cursor:
        cursor.execute(_INSERT, parameters)
        new = {(memory, other) for memory, other in cursor.fetchall()}
    if not new:
        return new
    stored = Ask.objects.filter(have_card("memory", "other"), pk__in=ids)
    return new.difference(stored.order_by().values_list("memory_id", "other_id"))
