"""The rows of a committed draft, and the memories that it names."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from engram.kernel.actors import Actor
from engram.kernel.history import event
from engram.kernel.ids import next_id
from engram.kernel.models import Event
from engram.kernel.refusals import InvalidError, StaleError
from memories.core.content import content_hash
from memories.models import Memory, Observation
from memories.services.causes import ALREADY_SUPERSEDED
from memories.services.commit.draft import Draft
from memories.services.gate.report import GateReport
from memories.services.locks import lock


def lock_replaced(draft: Draft) -> Memory | None:
    """Return the memory that a draft supersedes, locked; refuse an unknown or superseded one."""
    if draft.supersedes is None:
        return None
    found = [m for m in lock([draft.supersedes]) if m.forgotten_at is None]
    if not found:
        raise InvalidError("supersedes", "There is no such memory.")
    if found[0].superseded_at is not None:
        raise StaleError(
            "supersedes: that memory was superseded already; name its successor.",
            [found[0].superseded_by_id] if found[0].superseded_by_id else [],
            cause=ALREADY_SUPERSEDED,
        )
    return found[0]


def known_sources(draft: Draft) -> list[UUID]:
    """Return the ids of a draft's sources; refuse unknown ones."""
    if not draft.derived_from:
        return []
    known = set(
        Memory.objects.filter(pk__in=draft.derived_from, forgotten_at=None).values_list(
            "pk", flat=True
        )
    )
    missing = [str(i) for i in draft.derived_from if i not in known]
    if missing:
        raise InvalidError("derived_from", f"There is no memory {missing[0]}.")
    return sorted(known)


def new_memory(
    draft: Draft, digest: str, replaced: Memory | None, *, actor: Actor, now: datetime
) -> Memory:
    """Return the row of a new memory, not saved; it continues the lineage of the replaced one."""
    memory_id = next_id()
    return Memory(
        id=memory_id,
        lineage=replaced.lineage if replaced else memory_id,
        content=draft.content,
        content_hash=digest,
        scope=draft.scope,
        project=draft.project,
        kind=draft.kind,
        provenance=draft.provenance,
        confidence=draft.stated_confidence,
        importance=draft.importance,
        is_pinned=draft.is_pinned,
        metadata=dict(draft.metadata),
        source=draft.source,
        agent=draft.agent,
        session_key=draft.session_key,
        key_id=actor.key_id,
        observed_at=draft.observed_at or now,
        expires_at=draft.expires_at,
        created_at=now,
        updated_at=now,
    )


def observation_of(
    memory: Memory,
    draft: Draft,
    outcome: str,
    report: GateReport | None,
    *,
    actor: Actor,
    now: datetime,
) -> tuple[Observation, Event]:
    """Return the rows of the observation of a draft and of its event, not saved."""
    observation = Observation(
        memory=memory,
        content=draft.content,
        content_hash=content_hash(draft.content),
        fields=draft.other_fields,
        outcome=outcome,
        provenance=draft.provenance,
        confidence=draft.stated_confidence,
        agent=draft.agent,
        session_key=draft.session_key,
        key_id=actor.key_id,
        observed_at=draft.observed_at or now,
        created_at=now,
        gate=report.as_record() | {"triggered": report.is_triggered} if report else {},
    )
    committed = event(
        "memory.committed",
        of=("memory", memory.id),
        actor=actor,
        now=now,
        session_key=draft.session_key,
        data={
            "outcome": outcome,
            "observation": str(observation.id),
            "scope": draft.scope,
            "agent": draft.agent,
        },
    )
    return observation, committed
